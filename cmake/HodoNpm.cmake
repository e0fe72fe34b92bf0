# SPDX-License-Identifier: MIT
#
# hodo_npm(MODULES SOURCE BINARY) - has npm install what SOURCE/package-lock.json lists into
# BINARY/node_modules, again whenever that file changes. Sets MODULES to that folder, or to "" where npm or
# what it needs from the network is missing, and MODULES_WHY to why. npm's own cache serves further build
# trees without the network.
find_program(HODO_NPM npm)
find_program(HODO_NODE NAMES node nodejs)
mark_as_advanced(HODO_NPM HODO_NODE)

function(hodo_npm modules source binary)
  set(${modules} "" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source}/package-lock.json)
  if(NOT HODO_NPM OR NOT HODO_NODE)
    set(${modules}_WHY "npm is missing (Debian's nodejs and npm)" PARENT_SCOPE)
    return()
  endif()
  file(SHA256 ${source}/package-lock.json wanted)
  set(stamp ${binary}/node_modules/.hodo-lock)
  set(have "")
  if(EXISTS ${stamp})
    file(READ ${stamp} have)
  endif()
  if(NOT have STREQUAL wanted)
    file(MAKE_DIRECTORY ${binary})
    configure_file(${source}/package.json ${binary}/package.json COPYONLY)
    configure_file(${source}/package-lock.json ${binary}/package-lock.json COPYONLY)
    execute_process(
      COMMAND ${HODO_NPM} ci --ignore-scripts --prefer-offline --no-audit --no-fund --fetch-retries=3
        --fetch-timeout=60000 --fetch-retry-mintimeout=2000 --fetch-retry-maxtimeout=10000
      WORKING_DIRECTORY ${binary} OUTPUT_FILE ${binary}/npm.log ERROR_FILE ${binary}/npm.log
      RESULT_VARIABLE failed TIMEOUT 400
    )
    if(failed)
      file(REMOVE_RECURSE ${binary}/node_modules)
      set(${modules}_WHY "npm cannot get its libraries: ${binary}/npm.log says why" PARENT_SCOPE)
      return()
    endif()
    file(WRITE ${stamp} ${wanted})
  endif()
  set(${modules} ${binary}/node_modules PARENT_SCOPE)
endfunction()

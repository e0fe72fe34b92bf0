# SPDX-License-Identifier: MIT
#
# hodo-preload, a folder beside libhodo: the paths by which LD_PRELOAD names the libraries where there are
# 32-bit programs (src/record/join/launch.c). glibc's loader expands $LIB: the name for 64-bit programs holds
# libhodo, those for 32-bit ones an empty library. Other loaders take $LIB literally, and a shell that
# evaluates the text may expand it to nothing: libhodo is there too.
function(hodo_preload_folder folder)
  file(REMOVE_RECURSE ${folder})
  file(MAKE_DIRECTORY ${folder})
  execute_process(
    COMMAND ${CMAKE_C_COMPILER} -m32 -shared -nostdlib -Wl,--build-id=none -Wl,-s -o ${folder}/empty32.so -x c /dev/null
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
  if(failed)
    message(STATUS "Left out: hodo-preload, without which the loader of 32-bit programs reports that it ignores libhodo:"
      " ${CMAKE_C_COMPILER} -m32 makes no library")
    file(REMOVE_RECURSE ${folder})
    return()
  endif()
  set(own lib64)
  execute_process(COMMAND /lib64/ld-linux-x86-64.so.2 --list-diagnostics
    RESULT_VARIABLE failed OUTPUT_VARIABLE loader ERROR_QUIET)
  if(NOT failed AND loader MATCHES "dl_dst_lib=\"([^\"]+)\"")
    set(own ${CMAKE_MATCH_1})
  endif()
  foreach(below . "\$LIB" ${own} lib lib32 lib/i386-linux-gnu)
    file(RELATIVE_PATH up ${folder}/${below} ${folder})
    file(MAKE_DIRECTORY "${folder}/${below}")
    foreach(name libhodo.so.${PROJECT_VERSION} libhodo-func.so.${PROJECT_VERSION})
      if(EXISTS "${folder}/${below}/${name}" OR IS_SYMLINK "${folder}/${below}/${name}")
        continue() # the 64-bit one, which some systems call lib
      elseif(below MATCHES "^lib" AND NOT below STREQUAL own)
        file(CREATE_LINK ${up}empty32.so "${folder}/${below}/${name}" SYMBOLIC)
      else()
        file(CREATE_LINK ${up}../${name} "${folder}/${below}/${name}" SYMBOLIC)
      endif()
    endforeach()
  endforeach()
endfunction()

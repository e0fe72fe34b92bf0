# SPDX-License-Identifier: MIT
#
# What `cmake --install` installs: the command, the libraries, headers, manual
# pages, the Python module, and the two ways to be found: pkg-config and
# find_package(Hodo).
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hodo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h"
)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set_target_properties(hodo_headers PROPERTIES EXPORT_NAME trace)
set_target_properties(hodo_sdt PROPERTIES EXPORT_NAME sdt)
set(exported hodo_headers hodo_sdt)
foreach(target hodo hodo_needed hodo_func hodo_static hodo_functions hodo_read)
  if(TARGET ${target})
    list(APPEND exported ${target})
  endif()
endforeach()
if(TARGET hodo_read)
  set_target_properties(hodo_read PROPERTIES EXPORT_NAME read)
endif()
if(TARGET hodo_needed)
  set_target_properties(hodo_needed PROPERTIES EXPORT_NAME needed)
endif()
if(TARGET hodo_functions)
  set_target_properties(hodo_functions PROPERTIES EXPORT_NAME functions)
endif()
if(TARGET hodo_static)
  # Nothing refers to an archive whose constructor does the work: these options link it in, and function
  # tracing.
  target_link_options(hodo_static INTERFACE LINKER:-u,hodo_library_start LINKER:-u,hodo_extension)
endif()
# The same names where Hodoscope is part of another project.
foreach(target ${exported})
  get_target_property(name ${target} EXPORT_NAME)
  if(NOT name)
    set(name ${target})
  endif()
  add_library(Hodo::${name} ALIAS ${target})
endforeach()
install(TARGETS ${exported} EXPORT HodoTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
)
if(EXISTS ${PROJECT_BINARY_DIR}/src/user/hodo-preload)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/src/user/hodo-preload DESTINATION ${CMAKE_INSTALL_LIBDIR}
    USE_SOURCE_PERMISSIONS)
endif()
if(TARGET hodo_cli)
  install(TARGETS hodo_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Hodo)
install(EXPORT HodoTargets NAMESPACE Hodo:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/HodoConfig.cmake.in HodoConfig.cmake
  INSTALL_DESTINATION ${package_dir}
)
write_basic_package_version_file(HodoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HodoConfig.cmake ${PROJECT_BINARY_DIR}/HodoConfigVersion.cmake
  DESTINATION ${package_dir}
)

# Relative to the .pc file, so that an installed tree can be moved, but absolute below /usr: pkg-config then
# leaves out the -I and -L of the system's folders, which would otherwise be searched before others.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(pc_prefix /usr)
else()
  file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
foreach(module hodo hodo-functions hodo-read hodo-sdt)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in ${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# The Python module, which loads libhodo-read from the prefix that it lies in. Debian's Python looks here below /usr.
set(HODO_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python module goes, below the prefix")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/hodo DESTINATION ${HODO_PYTHON_DIR}
  FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)

set(completions ${PROJECT_SOURCE_DIR}/completions)
install(FILES ${completions}/hodo.bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions RENAME hodo)
install(FILES ${completions}/_hodo DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
install(FILES ${completions}/hodo.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)

foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

# SPDX-License-Identifier: MIT
#
# What is loaded into traced programs stays free of sanitizers and counters
# (see HodoOptions.cmake). Where libhodo links the core's archive, it gets a
# plain copy of it; the recorder and the tests keep the checked one.

set(injected)
foreach(target hodo hodo_static)
  if(TARGET ${target})
    list(APPEND injected ${target})
  endif()
endforeach()

if(injected AND (hodo_sanitizers OR HODO_COVERAGE))
  set_target_properties(${injected} PROPERTIES HODO_PLAIN ON)
  if(TARGET hodo_core)
    get_target_property(dir hodo_core SOURCE_DIR)
    get_target_property(sources hodo_core SOURCES)
    list(TRANSFORM sources PREPEND ${dir}/ REGEX "^[^/$]")
    add_library(hodo_core_plain STATIC ${sources})
    foreach(prop COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES INTERFACE_INCLUDE_DIRECTORIES
        INTERFACE_LINK_LIBRARIES INTERFACE_COMPILE_DEFINITIONS)
      get_target_property(value hodo_core ${prop})
      if(value)
        set_property(TARGET hodo_core_plain PROPERTY ${prop} ${value})
      endif()
    endforeach()
    set_target_properties(hodo_core_plain PROPERTIES HODO_PLAIN ON)
    foreach(target IN LISTS injected)
      get_target_property(libs ${target} LINK_LIBRARIES)
      if(libs)
        list(TRANSFORM libs REPLACE "hodo_core([^_a-z]|$)" "hodo_core_plain\\1")
        set_target_properties(${target} PROPERTIES LINK_LIBRARIES "${libs}")
      endif()
    endforeach()
  endif()
endif()

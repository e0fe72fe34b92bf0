# SPDX-License-Identifier: MIT
#
# What is loaded into traced programs stays free of sanitizers and counters
# (see HodoOptions.cmake). It compiles the core's sources itself, so that the recorder and the tests keep an
# instrumented hodo_core.
foreach(target hodo hodo_func hodo_static)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES HODO_PLAIN ON)
  endif()
endforeach()

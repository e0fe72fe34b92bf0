# SPDX-License-Identifier: MIT
#
# How suites say what their tests are. All tests go through hodo_test(), which gives each its labels.
# Tests that `scripts/test` leaves to `scripts/test --all`: label, then what the names match. This is the one place.
set(hodo_labels
  kernel "^kernel\\."                                  # a virtual machine
  server "^(servers|real)\\."                          # programs of others, installed or built
  browser "^view_|^docs\\.pictures$"                   # chromium, npm
  bench "^bench\\."
  model "^model\\."                                    # spin
  torture "^torture\\.|^flight\\.(kill|damage)|^recover\\.|^func\\.torture|^live\\.cycle|^attach_cli_cycles$"
  root "^house\\.bare_root"
  long "^(context\\.attach|limits\\.(parts|full)|kmod_generate|attach\\.inject\\.(many|again|killed.*|recorded|exec_meanwhile))$"
  long "^(sites\\.matrix|review\\.functions\\.(call|unwind))$"
)

# What each test has in its environment: the command, the library, the sources, and what holds a recording against
# babeltrace2.
set(hodo_test_environment
  HODO=$<TARGET_FILE:hodo_cli>
  LIBHODO=$<TARGET_FILE:hodo>
  SOURCE=${PROJECT_SOURCE_DIR}
  COMPARE=${PROJECT_SOURCE_DIR}/tests/read/compare_bt2.py
)

# hodo_test(NAME name COMMAND command... | PYTHON script [argument]...
#   [CASES case... [LOWER]] [ENVIRONMENT NAME=VALUE...] [TIMEOUT seconds] [COST n] [RESOURCE_LOCK name]
#   [FIXTURES_SETUP name] [FIXTURES_REQUIRED name])
#
# A test; 77: it is skipped. The script is one of the suite's folder. With CASES, one test each: the case is the last
# argument, and ends the test's name, with LOWER in small letters.
function(hodo_test)
  set(properties TIMEOUT COST RESOURCE_LOCK FIXTURES_SETUP FIXTURES_REQUIRED)
  cmake_parse_arguments(PARSE_ARGV 0 arg "LOWER" "NAME;${properties}" "COMMAND;PYTHON;CASES;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME)
    message(FATAL_ERROR "hodo_test(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_PYTHON)
    list(TRANSFORM arg_PYTHON PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ AT 0)
    set(arg_COMMAND ${Python3_EXECUTABLE} -B ${arg_PYTHON})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set(cases "${arg_CASES}")
  if(NOT cases)
    set(cases " ") # one without a name
  endif()
  foreach(case IN LISTS cases)
    string(STRIP "${case}" case)
    set(name ${arg_NAME}${case})
    if(arg_LOWER)
      string(TOLOWER ${case} name)
      set(name ${arg_NAME}${name})
    endif()
    add_test(NAME ${name} COMMAND ${arg_COMMAND} ${case})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
      ENVIRONMENT "${hodo_test_environment};${arg_ENVIRONMENT}")
    foreach(property IN LISTS properties)
      if(arg_${property})
        set_tests_properties(${name} PROPERTIES ${property} ${arg_${property}})
      endif()
    endforeach()
    set(labels ${hodo_labels})
    while(labels)
      list(POP_FRONT labels label names)
      if(name MATCHES "${names}")
        set_property(TEST ${name} APPEND PROPERTY LABELS ${label})
        if(NOT arg_COST)
          set_tests_properties(${name} PROPERTIES COST 50) # they begin first
        endif()
      endif()
    endwhile()
  endforeach()
endfunction()

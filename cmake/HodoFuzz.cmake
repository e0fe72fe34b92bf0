# SPDX-License-Identifier: MIT
#
# hodo_add_fuzzer(NAME SOURCES src... LIBRARIES target... CORPUS dir...)
#
# A fuzzer defines LLVMFuzzerTestOneInput(). With HODO_FUZZ it is linked with
# libFuzzer: run it by hand, `NAME corpus-copy dir...`. Without, it is linked
# with a driver that gives it each file below the CORPUS directories and
# variations of them, in a fixed order: the test NAME.
function(hodo_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;CORPUS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hodo_add_fuzzer(${name}): SOURCES missing, or unknown arguments")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  if(HODO_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/house/fuzz_replay.c)
  endif()
  if(arg_CORPUS)
    list(TRANSFORM arg_CORPUS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
    if(HODO_FUZZ)
      hodo_test(NAME ${name} COMMAND ${name} -runs=0 ${arg_CORPUS})
    else()
      hodo_test(NAME ${name} COMMAND ${name} ${arg_CORPUS})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS fuzz)
  endif()
endfunction()

# SPDX-License-Identifier: MIT
#
# What is in which folder; each family's folders are its suites:
#
#   unit/MODULE      the inside of a module of src, mostly in C
#   verb/VERB        what a verb of hodo does; record_WHAT: options of hodo record; all: what the verbs have in common;
#                    golden: what each verb prints when something is wrong
#   program/HAZARD   what makes programs hard to record: they fork, load, jump, are patched, run as another user …
#   api/WHAT         what programs include or import: the macros, C++ types, <sys/sdt.h>, control.h, Python
#   world/WHAT       other people's programs: servers, a browser, a kernel in a virtual machine
#   docs             the documentation, the manual and the examples say what is true
#   house            rules about this tree, and what it installs
#   fuzz, model      fuzzers with their corpus; Spin models
#   bench            the benchmark runs; it judges no figures, except for instructions of kernel events
#   lib              what tests share: hodo_test.py, unit.h, recordings/ written by hand
#
# How suites declare what they build and which tests they have. A test's name begins with its folder:
#
#   hodo_program(life life.c PLAIN)                             # a program to record, or a helper
#   hodo_test(PYTHON life.py CASES fork PROGRAMS LIFE=life)     # program.processes.fork
#   hodo_unit_test(map test_map.c LIBS hodo_base)               # unit.base.map, see lib/unit.h
#   hodo_fuzzer(ring LIBS record_test)                          # fuzz.ring: fuzz/ring.c, fuzz/corpus/ring
#
# All tests go through hodo_test(), which gives each of them its labels.

# Tests that `scripts/test` leaves to `scripts/test --all`: a label, then a pattern for names. No other list says so.
# `newest` is left out there, too: hodo.ko for a second kernel takes as long as half of all other tests.
set(hodo_labels
  newest "^world\\.kernel\\.newest$"
  kernel "^world\\.kernel\\.|^bench\\.kernel_cost$"      # a virtual machine
  server "^world\\.(servers|programs)\\.|^verb\\.send\\.ssh\\.|^verb\\.export\\.clickhouse$" # installed or built
  browser "^world\\.browser\\.|^docs\\.pictures$"       # chromium, npm
  bench "^bench\\."
  model "^model\\."                                    # spin
  torture "^program\\.(torture|short_lived)\\.|^verb\\.recover\\.|^verb\\.record_flight\\.(kill|damage)"
  torture "^unit\\.user\\.spans$|^program\\.functions\\.torture|^program\\.listening\\.cycle|^verb\\.attach\\.cycles$"
  root "^house\\.(bare_root|packages)"
  long "^(verb\\.(record_context\\.attach|record_limits\\.(parts|full))|unit\\.kmod\\.generate_events|api\\.trace\\.matrix)$"
  long "^unit\\.attach\\.inject\\.(many|again|killed.*|recorded|exec_meanwhile)$|^program\\.tracers\\.(call|unwind)$"
)

# What each test has in its environment: the command, the library, the sources, the program that compares a recording
# with babeltrace2, and lib/hodo_test.py; and no cache, which would be the user's. An invariant TSC
# is the clock, even if a virtual machine is configured not to use it: other clocks have tests of their own.
file(STRINGS /proc/cpuinfo hodo_invariant_tsc REGEX "^flags.* constant_tsc .*nonstop_tsc" LIMIT_COUNT 1)
set(hodo_test_environment
  HODO=$<TARGET_FILE:hodo_cli>
  LIBHODO=$<TARGET_FILE:hodo>
  SOURCE=${PROJECT_SOURCE_DIR}
  COMPARE=${PROJECT_SOURCE_DIR}/tests/lib/compare_bt2.py
  PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/lib
  HODO_CACHE=
)
if(hodo_invariant_tsc)
  list(APPEND hodo_test_environment HODO_CLOCK=tsc)
endif()

# hodo_suite(variable): the folder of the suite with dots, unit.base.
function(hodo_suite variable)
  file(RELATIVE_PATH suite ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE / . suite ${suite})
  set(${variable} ${suite} PARENT_SCOPE)
endfunction()

# hodo_test([NAME name] COMMAND command... | PYTHON script [argument]... | SHELL script [argument]...
#   [CASES case... [LOWER]] [SITE] [PROGRAMS NAME=target...] [ENVIRONMENT NAME=VALUE...] [TIMEOUT seconds] [COST n]
#   [RESOURCE_LOCK name] [FIXTURES_SETUP name] [FIXTURES_REQUIRED name])
#
# The test FOLDER.NAME; exit status 77 means skipped. The script is in the suite's folder. CASES make one test each:
# the case is the last argument and ends the test's name, in small letters with LOWER. PROGRAMS put targets' files in
# the environment.
# Python starts without what the machine's site-packages do at each start, which can be most of a test's time, unless
# the script needs libraries from there (SITE).
function(hodo_test)
  set(properties TIMEOUT COST RESOURCE_LOCK FIXTURES_SETUP FIXTURES_REQUIRED)
  cmake_parse_arguments(PARSE_ARGV 0 arg "LOWER;SITE" "NAME;${properties}"
    "COMMAND;PYTHON;SHELL;CASES;PROGRAMS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT (arg_NAME OR arg_CASES))
    message(FATAL_ERROR "hodo_test(${arg_NAME}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(runs PYTHON SHELL)
    if(arg_${runs})
      set(with_PYTHON ${Python3_EXECUTABLE} -B)
      if(NOT arg_SITE)
        list(APPEND with_PYTHON -S)
      endif()
      set(with_SHELL bash)
      list(TRANSFORM arg_${runs} PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ AT 0)
      set(arg_COMMAND ${with_${runs}} ${arg_${runs}})
    endif()
  endforeach()
  list(TRANSFORM arg_PROGRAMS REPLACE "^([A-Z_]+)=(.+)$" "\\1=$<TARGET_FILE:\\2>")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 3000) # so that no test hangs for ever, even on the busiest machine
  endif()
  hodo_suite(suite)
  set(cases "${arg_CASES}")
  if(NOT cases)
    set(cases " ") # one without a name
  endif()
  foreach(case IN LISTS cases)
    string(STRIP "${case}" case)
    set(name ${suite}.${arg_NAME}${case})
    if(arg_LOWER)
      string(TOLOWER ${case} name)
      set(name ${suite}.${arg_NAME}${name})
    endif()
    add_test(NAME ${name} COMMAND ${arg_COMMAND} ${case})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
      ENVIRONMENT "${hodo_test_environment};${arg_PROGRAMS};${arg_ENVIRONMENT}")
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

# Unless the whole build uses a sanitizer, targets marked SANITIZED are also built with these, as NAME_san.
set(hodo_test_sanitizers)
if(NOT HODO_SANITIZE AND NOT HODO_FUZZ)
  set(hodo_test_sanitizers -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all)
endif()

# hodo_program(name [STATIC | SHARED | MODULE | OBJECT] source... [LIBS library...] [INCLUDES folder...]
#   [DEFINES name...] [OPTIONS option...] [LINK_OPTIONS option...] [OUTPUT name] [FOLDER folder] [PLAIN] [SANITIZED])
#
# A program or a library. Users of a STATIC or OBJECT library are compiled with its options, too. PLAIN: without
# sanitizers, like libhodo; for programs that tests record, and for what is loaded into them: they run under
# limits and in sandboxes in which a sanitizer's run-time library does not work.
function(hodo_program name)
  set(several LIBS INCLUDES DEFINES OPTIONS LINK_OPTIONS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;MODULE;OBJECT;PLAIN;SANITIZED" "OUTPUT;FOLDER" "${several}")
  set(visible PRIVATE)
  if(arg_STATIC OR arg_OBJECT)
    set(visible PUBLIC)
  endif()
  foreach(kind STATIC SHARED MODULE OBJECT)
    if(arg_${kind})
      add_library(${name} ${kind} ${arg_UNPARSED_ARGUMENTS})
    endif()
  endforeach()
  if(NOT TARGET ${name})
    add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  endif()
  target_link_libraries(${name} ${visible} hodo_headers Threads::Threads ${arg_LIBS})
  target_include_directories(${name} ${visible} ${arg_INCLUDES})
  target_compile_definitions(${name} ${visible} ${arg_DEFINES})
  target_compile_options(${name} ${visible} ${arg_OPTIONS})
  target_link_options(${name} ${visible} ${arg_LINK_OPTIONS})
  if(arg_PLAIN)
    set_target_properties(${name} PROPERTIES HODO_PLAIN ON)
  endif()
  if(arg_OUTPUT)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
  endif()
  if(arg_FOLDER)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${arg_FOLDER})
  endif()
  if(arg_SANITIZED AND hodo_test_sanitizers)
    list(REMOVE_ITEM ARGN SANITIZED)
    foreach(library IN LISTS arg_LIBS)
      if(TARGET ${library}_san)
        list(TRANSFORM ARGN REPLACE "^${library}$" ${library}_san)
      endif()
    endforeach()
    hodo_program(${name}_san ${ARGN} OPTIONS ${hodo_test_sanitizers} LINK_OPTIONS ${hodo_test_sanitizers})
  endif()
endfunction()

# hodo_unit_test(test source... [LIBS library...] [what else hodo_program() takes])
#
# A test that is a program of lib/unit.h: the target test_MODULE_TEST. SANITIZED makes two tests, TEST and TEST_san; the
# second is linked with the sanitized variants of its libraries that are SANITIZED.
function(hodo_unit_test test)
  hodo_suite(suite)
  string(REGEX REPLACE "^.*\\." "" suite ${suite})
  set(target test_${suite}_${test})
  hodo_program(${target} ${ARGN} LIBS hodo_unit)
  hodo_test(NAME ${test} COMMAND ${target})
  if(TARGET ${target}_san)
    hodo_test(NAME ${test}_san COMMAND ${target}_san)
  endif()
endfunction()

# hodo_fuzzer(name [source...] [LIBS library...] [CORPUS folder...])
#
# A fuzzer (lib/fuzz.h), the target fuzz_NAME of NAME.c. With HODO_FUZZ it is linked with libFuzzer: run it by hand,
# `fuzz_NAME corpus-copy dir...`. Without it, a driver is linked that gives it each file below the CORPUS folders
# (corpus/NAME) and variations of them, in a fixed order: the test fuzz.NAME.
function(hodo_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;CORPUS")
  set(target fuzz_${name})
  if(NOT arg_CORPUS)
    set(arg_CORPUS corpus/${name})
  endif()
  hodo_program(${target} ${name}.c ${arg_UNPARSED_ARGUMENTS} LIBS hodo_test_folder ${arg_LIBS})
  list(TRANSFORM arg_CORPUS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  if(HODO_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    hodo_test(NAME ${name} COMMAND ${target} -runs=0 ${arg_CORPUS})
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/lib/fuzz_replay.c)
    hodo_test(NAME ${name} COMMAND ${target} ${arg_CORPUS})
  endif()
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endfunction()

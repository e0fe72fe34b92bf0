# SPDX-License-Identifier: MIT
#
# What can be chosen when configuring, and the compiler options that follow.
#
# libhodo is loaded into other people's programs, so it is always built without sanitizers: a sanitizer's
# run-time library would have to be loaded first, in programs that are not built for it. HODO_PLAIN on a
# target says so (HodoInjected.cmake sets it); everything else takes the sanitizer.

# The tests and the benchmark are Hodoscope's own: a project that includes Hodoscope never builds them, and
# its BUILD_TESTING refers to its own tests.
set(HODO_TESTING OFF)
if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_TESTING "Build the tests and the benchmark" OFF)
  set(HODO_TESTING ${BUILD_TESTING})
else()
  # Excluded, a folder has neither its targets in the project's "all" nor its files in the project's installation;
  # what the project's targets are linked with is built all the same.
  option(HODO_INSTALL "Build all of Hodoscope, and install it with the project that includes it" OFF)
  if(NOT HODO_INSTALL)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY EXCLUDE_FROM_ALL ON)
  endif()
endif()

set(HODO_SANITIZE "" CACHE STRING "Sanitizers for all but libhodo: address, undefined, or both with a comma")
option(HODO_WERROR "Warnings are errors" OFF)
option(HODO_COVERAGE "Count executed lines (gcov)" OFF)
option(HODO_TSAN_TWIN "Test the ring's C twin under ThreadSanitizer" OFF)
option(HODO_FUZZ "Build the fuzzers on libFuzzer (needs clang) instead of replaying their corpus" OFF)

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
# So that options meant for gcc only need no check of the compiler each time.
add_compile_options($<$<COMPILE_LANG_AND_ID:C,Clang>:-Wno-unknown-warning-option>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-unknown-warning-option>)
if(HODO_WERROR)
  add_compile_options(-Werror)
endif()

set(plain $<BOOL:$<TARGET_PROPERTY:HODO_PLAIN>>)
set(hodo_sanitizers ${HODO_SANITIZE})
if(HODO_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "HODO_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
  endif()
  string(JOIN "," hodo_sanitizers ${HODO_SANITIZE} fuzzer-no-link)
endif()
if(hodo_sanitizers)
  add_compile_options(
    $<$<NOT:${plain}>:-fsanitize=${hodo_sanitizers}>
    $<$<NOT:${plain}>:-fno-sanitize-recover=all>
    $<$<NOT:${plain}>:-fno-omit-frame-pointer>
  )
  add_link_options($<$<NOT:${plain}>:-fsanitize=${hodo_sanitizers}>)
endif()
if(HODO_COVERAGE)
  # Atomic: threads and signal handlers count too.
  add_compile_options($<$<NOT:${plain}>:--coverage> $<$<NOT:${plain}>:-fprofile-update=atomic>)
  add_link_options($<$<NOT:${plain}>:--coverage>)
endif()

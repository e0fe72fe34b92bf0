# SPDX-License-Identifier: MIT
#
# What the build uses from the system. If something that hodo requires is missing, the configuration ends with
# one line that lists all of it; what only examples, tests or the benchmark need is left out, with one line
# each. Both name Debian's packages.
find_package(PkgConfig QUIET)
find_package(Threads REQUIRED)
set(missing "")

# hodo_need(PREFIX MODULE PACKAGE) - the target PkgConfig::PREFIX is pkg-config's MODULE, which PACKAGE installs.
macro(hodo_need prefix module package)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  endif()
  if(NOT ${prefix}_FOUND)
    list(APPEND missing ${package})
  endif()
endmacro()

if(NOT PKG_CONFIG_FOUND)
  list(APPEND missing pkg-config)
endif()
hodo_need(LIBBPF libbpf libbpf-dev)
# Of these two only the headers: the libraries are loaded when a server is asked.
hodo_need(LIBCURL libcurl libcurl4-openssl-dev)
hodo_need(LIBDEBUGINFOD libdebuginfod libdebuginfod-dev)
hodo_need(LIBELF libelf libelf-dev)
hodo_need(LIBDW libdw libdw-dev)
hodo_need(NCURSESW ncursesw libncurses-dev)
hodo_need(PROTOBUF_C libprotobuf-c libprotobuf-c-dev)
hodo_need(ZLIB zlib zlib1g-dev)
hodo_need(ZSTD libzstd libzstd-dev)
find_path(LIBIBERTY_INCLUDE libiberty/demangle.h)
find_library(LIBIBERTY iberty)
if(NOT LIBIBERTY OR NOT LIBIBERTY_INCLUDE)
  list(APPEND missing libiberty-dev)
endif()
# Debian's package of Zydis has no file for pkg-config.
find_path(ZYDIS_INCLUDE Zydis/Zydis.h)
find_library(ZYDIS Zydis)
if(NOT ZYDIS OR NOT ZYDIS_INCLUDE)
  list(APPEND missing libzydis-dev)
endif()
find_program(HODO_PROTOC_C protoc-c)
if(NOT HODO_PROTOC_C)
  list(APPEND missing protobuf-c-compiler)
endif()
mark_as_advanced(LIBIBERTY_INCLUDE LIBIBERTY ZYDIS_INCLUDE ZYDIS HODO_PROTOC_C)
if(missing)
  string(REPLACE ";" " " missing "${missing}")
  message(FATAL_ERROR "  Missing: install Debian's ${missing}, or what they hold (scripts/deps build does it)")
endif()

# hodo_left_out(WHAT MISSING PACKAGE) - says that WHAT is left out because MISSING, from PACKAGE, is missing.
function(hodo_left_out what missing package)
  message(STATUS "Left out: ${what}: ${missing} is missing (Debian's ${package})")
endfunction()

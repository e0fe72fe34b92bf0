# SPDX-License-Identifier: MIT
#
# HODO_DEMANGLER: libiberty's demangler of C++ as an object file for traced programs (src/func/names/mangled.c).
# What it uses of libc is renamed: malloc() and the like become functions of mangled.c, memcpy() and the like
# those of src/user/libc/libc_string.c. The remaining references are only needed to print a whole name, which
# nobody does; musl has no __sprintf_chk(). None of its names can clash with the program's, not even in
# libhodo.a.
set(HODO_DEMANGLER ${PROJECT_BINARY_DIR}/demangler.o)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${LIBIBERTY})
set(renamed "")
foreach(function malloc realloc free)
  list(APPEND renamed --redefine-sym ${function}=hodo_demangler_${function})
endforeach()
foreach(function memcpy memmove memset memcmp strlen strcmp strncmp)
  list(APPEND renamed --redefine-sym ${function}=hodo_${function})
endforeach()
list(APPEND renamed --redefine-sym __sprintf_chk=hodo_demangler_sprintf)
execute_process(
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -Wl,-u,cplus_demangle_v3_components -o ${HODO_DEMANGLER} ${LIBIBERTY}
  COMMAND_ERROR_IS_FATAL ANY)
# GNU's objcopy matches names after renaming them, LLVM's before.
execute_process(
  COMMAND ${CMAKE_OBJCOPY} --redefine-sym cplus_demangle_v3_components=hodo_demangler_components
    --redefine-sym cplus_demangle_print_callback=hodo_demangler_print ${renamed}
    --keep-global-symbol cplus_demangle_v3_components --keep-global-symbol cplus_demangle_print_callback
    --keep-global-symbol hodo_demangler_components --keep-global-symbol hodo_demangler_print ${HODO_DEMANGLER}
  COMMAND_ERROR_IS_FATAL ANY)

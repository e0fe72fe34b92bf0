# SPDX-License-Identifier: MIT
#
# HODO_DEMANGLER: libiberty's demangler of C++ as an object file for traced programs (src/func/mangled.c). All of libc
# that it refers to is given other names: malloc() and the like become functions of mangled.c, memcpy() and the like
# those of src/user/libc_string.c. What is left is what printing the whole of a name would need, which nobody calls;
# musl has no __sprintf_chk(). No name of it can meet one of the program's, in libhodo.a either.
set(HODO_DEMANGLER ${CMAKE_BINARY_DIR}/demangler.o)
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
# GNU's objcopy looks at the names after it has changed them, LLVM's before.
execute_process(
  COMMAND ${CMAKE_OBJCOPY} --redefine-sym cplus_demangle_v3_components=hodo_demangler_components
    --redefine-sym cplus_demangle_print_callback=hodo_demangler_print ${renamed}
    --keep-global-symbol cplus_demangle_v3_components --keep-global-symbol cplus_demangle_print_callback
    --keep-global-symbol hodo_demangler_components --keep-global-symbol hodo_demangler_print ${HODO_DEMANGLER}
  COMMAND_ERROR_IS_FATAL ANY)

# SPDX-License-Identifier: MIT
#
# hodo_protobuf(TARGET FILE.proto...) - adds the code that protoc-c generates from the schemas to the target:
# "FILE.pb-c.h".
function(hodo_protobuf target)
  foreach(schema IN LISTS ARGN)
    get_filename_component(name ${schema} NAME_WE)
    get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR}/${schema} DIRECTORY)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/${name}.pb-c)
    add_custom_command(OUTPUT ${made}.c ${made}.h
      COMMAND ${HODO_PROTOC_C} --c_out=${CMAKE_CURRENT_BINARY_DIR} --proto_path=${folder}
        ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
      DEPENDS ${schema}
      VERBATIM
    )
    target_sources(${target} PRIVATE ${made}.c ${made}.h)
    # Generated code: its warnings do not matter.
    set_source_files_properties(${made}.c PROPERTIES COMPILE_OPTIONS -w)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${target} PRIVATE PkgConfig::PROTOBUF_C)
endfunction()

# SPDX-License-Identifier: MIT
#
# Bringing libhodo into running processes: each scene is a test. Other architectures refuse.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  return()
endif()
enable_language(ASM)

add_executable(attach_inject inject.c)
target_link_libraries(attach_inject PRIVATE hodo_attach)
set_target_properties(attach_inject PROPERTIES OUTPUT_NAME inject)

add_executable(attach_emitter emitter.c)
target_link_libraries(attach_emitter PRIVATE hodo_headers pthread)
set_target_properties(attach_emitter PROPERTIES OUTPUT_NAME emitter HODO_PLAIN ON)

# Plain: what they do is stopped at any instruction.
add_executable(attach_target target.c registers.S)
add_executable(attach_target_static target.c registers.S)
foreach(target attach_target attach_target_static)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_link_libraries(${target} PRIVATE pthread)
  set_target_properties(${target} PROPERTIES HODO_PLAIN ON)
endforeach()
target_compile_definitions(attach_target_static PRIVATE TARGET_STATIC)
target_link_options(attach_target_static PRIVATE -static)
# … and one that has libhodo in it.
add_executable(attach_target_with target.c registers.S)
target_compile_definitions(attach_target_with PRIVATE _GNU_SOURCE TARGET_STATIC)
target_link_options(attach_target_with PRIVATE -static)
target_link_libraries(attach_target_with PRIVATE -Wl,--whole-archive hodo_static -Wl,--no-whole-archive pthread)
set_target_properties(attach_target_with PROPERTIES HODO_PLAIN ON POSITION_INDEPENDENT_CODE OFF
  LINK_SEARCH_START_STATIC ON)
target_link_libraries(attach_target PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(attach_target_static PROPERTIES POSITION_INDEPENDENT_CODE OFF LINK_SEARCH_START_STATIC ON)

set(inject_env "INJECT=$<TARGET_FILE:attach_inject>" "TARGET=$<TARGET_FILE:attach_target>"
  "LIBRARY=$<TARGET_FILE:hodo>" "EMITTER=$<TARGET_FILE:attach_emitter>"
  "TARGET_STATIC=$<TARGET_FILE:attach_target_static>" "TARGET_WITH=$<TARGET_FILE:attach_target_with>")
# By hand: inject.py many 1000, killed 200, again 3000, pause 300.
set(count_many 100)
set(count_killed 24)
set(count_again 120)
set(count_recorded 40)
foreach(scene
    poll poll_timeout select epoll epoll_timeout epoll_pwait read recv_timeout semop sigtimedwait futex handler altstack
    busy registers setuid threads signals nanosleep malloc dlopen eintr debian wrappers static
    refuse_seccomp refuse_static refuse_stopped refuse_handler_in_malloc refuse_loader_held refuse_others refuse_user
    refuse_traced
    refuse_file exec_meanwhile recorded again killed killed_everywhere many)
  hodo_test(NAME attach.inject.${scene} PYTHON inject.py ${scene} ${count_${scene}}
    TIMEOUT 900
    ENVIRONMENT ${inject_env})
endforeach()

# SPDX-License-Identifier: MIT
#
# Bringing libhodo into running processes: each scene is a test. Other architectures cannot attach, and refuse.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  return()
endif()
enable_language(ASM)

hodo_program(attach_inject inject.c OUTPUT inject LIBS hodo_attach)
hodo_program(attach_emitter emitter.c OUTPUT emitter PLAIN)
# PLAIN, since a target may be stopped at any instruction. The last one contains libhodo.
hodo_program(attach_target target.c registers.S PLAIN LIBS ${CMAKE_DL_LIBS})
hodo_program(attach_target_static target.c registers.S PLAIN DEFINES TARGET_STATIC LINK_OPTIONS -static)
hodo_program(attach_target_with target.c registers.S PLAIN DEFINES TARGET_STATIC LINK_OPTIONS -static
  LIBS -Wl,--whole-archive hodo_static -Wl,--no-whole-archive)
set_target_properties(attach_target_static attach_target_with PROPERTIES
  POSITION_INDEPENDENT_CODE OFF LINK_SEARCH_START_STATIC ON)

# To run by hand: inject.py many 1000, killed 200, again 3000, pause 300.
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
  hodo_test(NAME attach.inject.${scene} PYTHON inject.py ${scene} ${count_${scene}} TIMEOUT 900
    PROGRAMS INJECT=attach_inject TARGET=attach_target LIBRARY=hodo EMITTER=attach_emitter
      TARGET_STATIC=attach_target_static TARGET_WITH=attach_target_with)
endforeach()

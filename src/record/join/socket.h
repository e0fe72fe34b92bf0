/* SPDX-License-Identifier: MIT */
/*
 * socket.h - the sockets between recorders and processes. Every message is one datagram (SOCK_SEQPACKET), and at most
 * one descriptor comes with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Connects to the listener at path, or listens there. The socket, or a negative errno, such as -ENAMETOOLONG.
 */
int socket_connect(const char *path);
int socket_listen(const char *path);
/* At an abstract address: prefix and len bytes of name. */
int socket_listen_abstract(const char *prefix, const char *name, size_t len);
/* Whether nobody listens there any more. */
bool socket_is_stale(const char *path);

/*
 * Receives a message without waiting. Its length; 0: the other end has closed; or a negative errno:
 * -EMSGSIZE: longer than size; -EMFILE: could not take a descriptor that came; -EPROTO: more than one came.
 * passed: the descriptor, or -1, also on failure; any others are closed.
 */
ssize_t socket_receive(int fd, void *message, size_t size, int *passed);
/* Sends it without waiting; passed: a descriptor, or -1. 0 or a negative errno. */
int socket_send(int fd, const void *message, size_t size, int passed);

/* A pidfd of the process at the other end, or a negative errno: -ENOPROTOOPT: the kernel cannot tell. */
int socket_peer(int fd);

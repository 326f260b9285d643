/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor of another process is, from /proc (proc(5)) and, of a socket, by a copy of it
 * (pidfd_getfd(2)):
 *
 *   /srv/note.log, pipe:[4711]       as /proc/PID/fd has it
 *   tcp 10.0.0.1:80 from :40000      connected to it, or (connect) about to be
 *   tcp 127.0.0.1:80 listening from :80
 *   udp [fe80::1]:53 from :40000
 *   unix /run/x.sock                 likewise; "unix" without a name
 *   unix /run/x.sock listening
 *   unix /run/x.sock accepted
 *
 *   anon_inode:[eventpoll] accepted
 *
 * An epoll descriptor is what it waits for, where that is one peer. Connections that the process
 * accepted from others, or signals, make it a server's, if it is connected to nobody itself.
 * Private to record/.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct sockaddr_storage;

/* `handle`: a pidfd of the process, opened once it is needed; -1: not yet. `peer` is that of a
 * socket that has none yet; NULL: none is known. Of a kind that is not known, or before Linux 5.6,
 * `text` is as /proc has it; empty: there is no such descriptor. */
void lode_waited_descriptor_text(pid_t pid, int *handle, int number,
	const struct sockaddr_storage *peer, char *text, size_t size);

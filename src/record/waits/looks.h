/* SPDX-License-Identifier: MIT */
/*
 * Looks at threads and processes from outside, by what the kernel tells of them: what a thread
 * waits for, what the descriptor is that it waits at, by which command a process was started.
 * Private to record/.
 */
#pragma once

#include "record/waits/script_looks.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct LodeCommandLooks LodeCommandLooks;

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
 */

struct sockaddr_storage;

/* `handle`: a pidfd of the process, opened once it is needed; -1: not yet. `peer` is that of a
 * socket that has none yet; NULL: none is known. Of a kind that is not known, or before Linux 5.6,
 * `text` is as /proc has it; empty: there is no such descriptor. */
void lode_waited_descriptor_text(pid_t pid, int *handle, int number,
	const struct sockaddr_storage *peer, char *text, size_t size);

/*
 * one look at a thread: what it waits for, from proc(5), as a sample of
 * the event "waiting" (sources/perf_data/wait_look.h).
 *
 *   schedstat ─▶ has it run since the last look? no: it waits as it did
 *   syscall   ─▶ running, or: the call, its arguments, stack pointer, address
 *                 ├─ futex       ─▶ words around it, and where the holder is
 *                 ├─ descriptor  ─▶ what it is
 *                 └─ new place   ─▶ the top of its stack
 *
 * The thread is never stopped; whether it ran meanwhile is seen by its schedstat.
 */

/* A process that is looked at. */
typedef struct {
	pid_t pid;
	int handle;               /* pidfd, once a socket was asked for; -1 */
	unsigned listed;          /* the last listing of processes that had it */
	GHashTable *places;       /* set of uint64_t: hashes of the places whose stack was taken */
	LodeScriptLooks *scripts; /* owned; NULL: frames of interpreters are not looked at */
} LodeLookedProcess;

LodeLookedProcess *lode_looked_process_new(pid_t pid);
void lode_looked_process_free(LodeLookedProcess *self);

typedef struct {
	LodeLookedProcess *process; /* borrowed */
	pid_t tid;
	int calls, runs;           /* descriptors of syscall and schedstat; -1: not kept open */
	uint64_t n_runs, delay_ns; /* at the last look */
	uint64_t looked_ns;        /* when that was, or the thread became known */
	bool was_waiting, is_seen;
	unsigned listed; /* the last listing that had it */
} LodeLookedThread;

LodeLookedThread *lode_looked_thread_new(
	LodeLookedProcess *process, pid_t tid, bool keeps_open, uint64_t now_ns);
void lode_looked_thread_free(LodeLookedThread *self);

typedef enum {
	LODE_LOOK_GONE,    /* the thread has ended */
	LODE_LOOK_SAME,    /* it waits as at the last look; nothing was written */
	LODE_LOOK_RUNNING, /* or it waits for a processor; likewise */
	LODE_LOOK_DONE,
	LODE_LOOK_REFUSED, /* the system forbids it: only the kernel's function is known */
} LodeLookOutcome;

typedef struct {
	uint16_t stack_bytes;   /* of a place that is new, at most */
	uint64_t n_stack_bytes; /* that may still be written */
	GByteArray *records;    /* is appended to */
	bool tells_running;     /* a record for one that runs, too */
} LodeLookOutput;

LodeLookOutcome lode_looked_thread_look(LodeLookedThread *self, LodeLookOutput *out);

/* Whether it runs: LODE_LOOK_RUNNING, _GONE, or _SAME for one that waits, of which nothing is read.
 */
LodeLookOutcome lode_looked_thread_peek(const LodeLookedThread *self);

/* The attribute of these samples. */
struct perf_event_attr;
void lode_look_attribute(struct perf_event_attr *out_attr, uint16_t stack_bytes);

/*
 * With which words processes were started, from /proc (proc(5)): the command, its directory, where
 * it reads from and writes to. Each is read once, and once more where it may have executed another
 * program since; records of kind LODE_SCRIPT_COMMAND (sources/perf_data/script_look.h) are
 * appended.
 *
 * A process that ends before anybody looks stays unknown.
 */

LodeCommandLooks *lode_command_looks_new(void);
void lode_command_looks_free(LodeCommandLooks *self);

/* Of the processes that a thread has started, and of what these have started if they are not known
 * yet; whether one is new. */
bool lode_command_looks_take_children(
	LodeCommandLooks *self, pid_t pid, pid_t tid, GByteArray *records);

/* Of one process, which is in the listing of that number. */
void lode_command_looks_take(
	LodeCommandLooks *self, pid_t pid, unsigned listed, GByteArray *records);

/* Forgets those that are not in that listing, and were known before it. */
void lode_command_looks_forget(LodeCommandLooks *self, unsigned listed);

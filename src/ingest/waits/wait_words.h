/* SPDX-License-Identifier: MIT */
/*
 * What the words in a look at a thread that waits stand for: system calls, functions of the kernel,
 * what a descriptor is, functions of the program. Tables, so that a new one is a new row.
 * Private to ingest/.
 */
#pragma once

#include "model/waits.h"

/* How a system call's wait is told. */
typedef enum {
	LODE_WAIT_CALL_PLAIN,      /* by the call alone */
	LODE_WAIT_CALL_DESCRIPTOR, /* by what its descriptor is; of a file by the call */
	LODE_WAIT_CALL_FUTEX,
	LODE_WAIT_CALL_EPOLL,     /* by what is known of its descriptors */
	LODE_WAIT_CALL_POLL,      /* may have nothing to wait for but the time */
	LODE_WAIT_CALL_FILE_LOCK, /* fcntl, which has other uses */
	LODE_WAIT_CALL_AGAIN,     /* a call that goes on after a stop: by the kernel's function */
} LodeWaitCallKind;

typedef struct {
	const char *name;
	LodeWaitCallKind kind;
	LodeWaitReason reason;
	int n_argument;   /* of a poll: the argument that is 0 where it has no descriptors */
	bool has_timeout; /* its wait can end by the time, which the program gave */
} LodeWaitCall;

/* Never NULL: of a call that is not listed, or NULL, it is LODE_WAIT_OTHER. */
const LodeWaitCall *lode_wait_call_find(const char *name);

/* Whether a system call waits for a signal, as of a child's end. */
bool lode_wait_is_for_signal(const char *call);

/* Whether a wait of this reason, in this system call (NULL: none), is for a child's end or output
 * where a child has the other end of the pipe, or was there: all but writes to a full pipe. */
bool lode_wait_may_be_for_child(LodeWaitReason reason, const char *call);

/* By the function of the kernel that a thread sleeps in (wchan of proc(5)); the names differ by
 * version. LODE_N_WAIT_REASONS: not known. `out_is_futex`: the reason is not told by it alone. */
LodeWaitReason lode_wait_reason_of_kernel(const char *function, bool *out_is_futex);

/* By what a descriptor is, as /proc/PID/fd names it, or lode in its place ("tcp 127.0.0.1:80");
 * LODE_N_WAIT_REASONS: a file, by what is done with it, or not known. `out_name` is the shorter
 * name where there is one; else NULL. */
LodeWaitReason lode_wait_reason_of_target(const char *target, const char **out_name);

/* What a function says of a wait in a futex below it. */
typedef struct {
	LodeWaitReason reason;
	const char *object; /* that is only waited for there; NULL: not told */
	const char *kind;   /* what it is where nothing names it, "a semaphore"; NULL */
	bool is_sure;       /* against what the words around the futex look like */
	/* A function that waits for a condition gets its mutex back before it returns: this
	 * argument of it points at that. 0: none does. */
	unsigned mutex_argument;
} LodeWaitFunction;

/* A function by its name, demangled; NULL: it says nothing. */
const LodeWaitFunction *lode_wait_function_find(const char *name);

/* What the variable at a futex is for, by its name as linked: "malloc's arena" of main_arena. Waits
 * in it are for a lock, also by a condition with a timeout. NULL: its own name says it best. */
const char *lode_wait_variable_words(const char *variable);

/* Whether a thread of this name is the kernel's, in a process of a user: a worker of io_uring. */
bool lode_wait_is_of_kernel(const char *thread_name);

/* The run-time of a process that has a thread of this name, a number; 0: none is known by it. */
unsigned lode_wait_run_time_find(const char *thread_name);

/*
 * Whether a thread of this name is the run-time's own there: it waits for work that the run-time
 * has, and no program waits for it. `is_first`: it is the process's first thread, which in some
 * only starts the program's.
 */
bool lode_wait_run_time_has(unsigned run_time, const char *thread_name, bool is_first);

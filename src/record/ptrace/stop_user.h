/* SPDX-License-Identifier: MIT */
/* Private to record/: who has a use for the stops of threads that are traced already. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct user_regs_struct;

/* The first stop of a thread after its user has left it. */
typedef enum {
	LODE_LATE_STOP_OWN,     /* the user's: its signal is not passed on */
	LODE_LATE_STOP_BEFORE,  /* another one, and the user's comes next */
	LODE_LATE_STOP_ANOTHER, /* another one, and the user's does not come any more */
} LodeLateStop;

typedef struct {
	/* The thread is stopped in its own code, at a random time. False: it is not any more; the
	 * stop that comes next, which is not taken, is to be shown to take_late(). */
	bool (*in_stop)(
		void *user_data, pid_t pid, pid_t tid, const struct user_regs_struct *registers);
	/* `signal`: of the stop; 0: it is none of a signal. */
	LodeLateStop (*take_late)(void *user_data, pid_t tid, int signal);
	void *user_data;
} LodeStopUser;

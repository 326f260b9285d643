/* SPDX-License-Identifier: MIT */
/*
 * Where threads waited, and for what, by looks at them (docs/use/waiting.md):
 *
 *   waits of one thread ── reason, object      lock, "ledger_lock"
 *                       ├─ stack               where: a place with its callers, in LodeStacks
 *                       ├─ holder              where the thread was that had the lock
 *                       └─ time, number        lengths are exact; to which row is by looks
 *
 * The critical path is the chain of work and waits that the program's end waited for, from its end
 * back to its start: what is not on it takes no time by the clock.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* The events of a profile, in ns: time that threads waited, and that with the time that they ran.
 */
#define LODE_WAITING_EVENT "waiting"
#define LODE_CLOCK_EVENT "clock"

/* The object of waits for the lock that the thread of CPython has that runs Python code. */
#define LODE_WAIT_GIL "CPython's GIL"

/* The object of waits for a processor that another program had, or a quota kept back. */
#define LODE_WAIT_OTHERS "other programs"

typedef enum {
	LODE_WAIT_LOCK,
	LODE_WAIT_CONDITION,
	LODE_WAIT_JOIN,  /* another thread's end */
	LODE_WAIT_CHILD, /* another process's end */
	LODE_WAIT_SLEEP,
	LODE_WAIT_POLL, /* poll, select, epoll */
	LODE_WAIT_READ,
	LODE_WAIT_WRITE,
	LODE_WAIT_SYNC, /* fsync and the like */
	LODE_WAIT_PIPE,
	LODE_WAIT_SOCKET,
	LODE_WAIT_PAGE, /* memory that is read from a file, or from swap */
	LODE_WAIT_PROCESSOR,
	LODE_WAIT_STOPPED, /* by a signal, or a debugger */
	LODE_WAIT_OTHER,   /* a system call of another kind */
	LODE_WAIT_UNSEEN,  /* nobody looked at */
	LODE_N_WAIT_REASONS,
} LodeWaitReason;

/* The waits of one thread that are alike in all that is told of them. Strings are the profile's. */
typedef struct {
	LodeWaitReason reason;
	char *call;        /* the system call, "fsync"; NULL: none */
	char *object;      /* what was waited for: "ledger_lock", a file, "gzip"; NULL: not known */
	char *thread_name; /* NULL: unknown */
	uint32_t pid, tid;
	uint32_t stack;        /* of LodeStacks; LODE_NONE: not known */
	uint32_t holder_stack; /* where its holder was most; LODE_NONE: not known */
	char *holder_call; /* the system call that the holder was in; NULL: it ran, or no holder */
	double holder_share; /* of the looks that know the holder: in which it was there; 0: none */
	uint32_t cause;      /* of LodeWaits.causes; LODE_NONE: none is computed */
	double waiting_ns;
	double path_ns; /* of the critical path: time charged to these waits themselves */
	double count, longest_ns;
	double looks; /* that it is known by; 0: it is known exactly */
	bool is_idle; /* waits for work: no cause of anything */
} LodeWait;

/* A stretch in which a thread ran, or waited once; or the sum of one kind in a stretch of many
 * short ones. */
typedef struct {
	uint32_t pid, tid;
	uint64_t begin_ns, end_ns; /* by the recording's clock */
	uint8_t kind;              /* LodeWaitReason, or LODE_SLICE_RUNNING */
	uint32_t wait;             /* of LodeWaits.rows; LODE_NONE: none, or not known */
	double time_ns; /* of it in this kind; less than its length where it has others */
	double path_ns; /* of that, on the critical path */
} LodeWaitSlice;

enum {
	LODE_SLICE_RUNNING = LODE_N_WAIT_REASONS,
	LODE_N_SLICE_KINDS,
	/* So many are kept at most, of the threads that ran longest: 1 MB in a file. */
	LODE_MAX_WAIT_SLICES = 1 << 14,
	LODE_MAX_SLICED_THREADS = 64,
};

/* Rows whose waiting goes away together: those for one lock, or at one line. */
typedef struct {
	double high_ns; /* the pieces of the critical path that were reached through these waits */
	double low_ns;  /* by which the program is shorter in a replay without them */
} LodeWaitCause;

/* All processes that ran one program at their end. */
typedef struct {
	char *name; /* NULL: unknown */
	double processes;
	double running_ns; /* of their threads */
	double lives_ns;   /* from begin to end, of each process */
	double lived_ns;   /* of the clock: at least one was there; lives ÷ this were at once */
	double path_ns;    /* of the critical path: they ran */
	double alone_ns;   /* no other thread of the recording ran */
} LodeWaitProgram;

/* A process that executed a program, or the first. Strings are the profile's; NULL: not known. */
typedef struct {
	uint32_t pid;
	uint32_t parent; /* of LodeWaits.processes: the last that executed a program, of those that
	                    led to it; LODE_NONE: not known */
	char *name;
	char *command;             /* with its arguments, as a shell reads them */
	char *directory;           /* the current one */
	char *input, *output;      /* descriptors 0 and 1: "/dev/null", "pipe:[81]" */
	uint32_t environment;      /* a hash; 0: not known */
	bool is_cut;               /* the command was longer */
	uint64_t begin_ns, end_ns; /* by the recording's clock */
	double running_ns;         /* of its threads */
} LodeWaitProcess;

/* Where in a script a process was started. Strings are the profile's. */
typedef struct {
	uint32_t process; /* of LodeWaits.processes */
	char *function;   /* of a shell's script; of a Makefile the target; NULL: none */
	char *file;
	uint32_t line;
} LodeWaitStart;

enum { LODE_MAX_WAIT_PROCESSES = 1 << 14 }; /* the first so many are kept */

typedef struct LodeWaits {
	GArray *rows;     /* LodeWait, by waiting_ns, falling */
	GArray *causes;   /* LodeWaitCause */
	GArray *slices;   /* LodeWaitSlice, by thread and begin; empty: not known, as of a part */
	GArray *programs; /* LodeWaitProgram, by running_ns, falling; empty: not known, as of a part
	                   */
	GArray *processes; /* LodeWaitProcess, by begin_ns; empty: not known, as of a part */
	GArray *starts;    /* LodeWaitStart, by process; of those that are known */
	double clock_ns;   /* from the program's begin to its end, or as long as it was recorded */
	double running_ns, waiting_ns; /* of all threads */
	double seen_ns;                /* of the waiting: its reason is known */
	double refused_ns;             /* of the waiting: the system refused to say what for, but
	                                  for its function */
	bool has_path;          /* the program's end was seen, and its critical path computed */
	double path_running_ns; /* of the path: a thread ran */
	double path_sure; /* share of the path's waits whose end is known to be somebody's doing */
	double path_threads; /* that ran on average along the path */
} LodeWaits;

/* Those of a profile; NULL: nobody looked at threads that wait. */
LodeWaits *lode_waits_of(const LodeProfile *profile);

/* Empty; never NULL. */
LodeWaits *lode_waits_new(void);
void lode_waits_free(LodeWaits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWaits, lode_waits_free)

/* Whether two programs at least have a hundredth of the processors' time; false where that is not
 * known, as of a part, or NULL. */
bool lode_waits_have_programs(const LodeWaits *self);

/* Whether there were several processes, of one program or more; likewise. */
bool lode_waits_have_processes(const LodeWaits *self);

/* Whether the processor time of a program's processes is partly that of others like them: they were
 * so many, and so short, that switches were recorded for a part of the time. False where that is
 * not known, as of a part. */
bool lode_wait_program_is_estimated(const LodeWaits *self, const LodeWaitProgram *program);

/* "lock", "condition" …, as in JSON; and back: LODE_N_WAIT_REASONS: no such word. */
const char *lode_wait_reason_to_text(LodeWaitReason reason);
LodeWaitReason lode_wait_reason_from_text(const char *text);

/* The same of a slice's kind, with "running"; back: −1: no such word. */
const char *lode_wait_slice_kind_to_text(uint32_t kind);
int lode_wait_slice_kind_from_text(const char *text);

/* SPDX-License-Identifier: MIT */
/*
 * The waits of a profile (model/waits.h) as a user sees them: those of all threads for the same
 * thing at the same line together.
 *
 *   row  lock ledger_lock  worker 1  fputs ◀ post ledger.c:31 ◀ main   holder: seal ledger.c:12
 *   row  lock ledger_lock  worker 2  fputs ◀ post ledger.c:31 ◀ main   holder: post ledger.c:33
 *     └─▶ group  lock ledger_lock at post (ledger.c:31), 2 threads, mostly held in seal
 *
 * The line is the user's own: of the frames around the wait the innermost that has a name and is
 * not in a system library or a run-time environment; where there is none, as around an event loop,
 * the wait has no place. Waits for a processor, and stops, are one group, with the line that has
 * most of them. Waits at one line for several files, children or the like are one, with the object
 * that has most of them; those for children that sleep are apart.
 */
#pragma once

#include "model/lines/own_lines.h"
#include "model/waits.h"

typedef struct LodeProfile LodeProfile;

/* The program by which scripts sleep. */
#define LODE_SLEEP_PROGRAM "sleep"

/* Texts are borrowed from the profile; NULL or 0: not known. */
typedef struct {
	const char *function, *file;
	const char *code, *image; /* the function that it is in the code of, by inlining another */
	uint32_t line;
} LodeWaitPlace;

typedef struct {
	LodeWaitReason reason;
	const char *call; /* the system call; NULL: none */
	char *object;     /* owned: "/srv/note.log and 2 more"; NULL: not known */
	guint n_objects;
	LodeWaitPlace place;
	LodeWaitPlace holder;    /* where the holder was most of the time */
	const char *holder_call; /* NULL: it ran, or no holder is known */
	double holder_share;     /* of the waiting whose holder is known; 0: none */
	bool is_holder_inferred; /* from stacks: no look says so (lock_holders.c) */
	GArray *rows;            /* uint32_t: of LodeWaits.rows */
	GPtrArray *thread_names; /* const char *, sorted, no two equal */
	GHashTable *threads;     /* pid << 32 | tid, as uint64_t * → its waiting, as double * */
	double waiting_ns, path_ns, count, longest_ns;
	double most_ns; /* of waiting_ns, that of the thread that waited longest */
	double looks;   /* 0: it is known exactly */
	uint32_t cause; /* of LodeWaits.causes; LODE_NONE: none is computed */
	bool is_idle;
} LodeWaitGroup;

/* Infers the holders of locks that do not tell them. (lock_holders.c) */
void lode_wait_groups_find_holders(GArray *groups, const LodeProfile *profile);

/* Whether waits at one line are for the same only if their objects are: several files, or children,
 * are one program's work at that line, two locks are not. */
static inline bool lode_wait_is_of_object(LodeWaitReason reason)
{
	return reason == LODE_WAIT_LOCK || reason == LODE_WAIT_CONDITION;
}

/* GArray of LodeWaitGroup, the longest waiting first; empty where the profile has no waits. The
 * caller unrefs it. */
GArray *lode_wait_groups_new(const LodeProfile *profile, const LodeOwnLines *own);

static inline const LodeWaitGroup *lode_wait_group_at(const GArray *groups, guint index)
{
	return &g_array_index(groups, LodeWaitGroup, index);
}

/* The group of each of LodeWaits.rows; LODE_NONE: none. The caller frees it. */
uint32_t *lode_wait_groups_of_rows(const GArray *groups, guint n_rows);

/* The user's place of a stack; function NULL: none. */
LodeWaitPlace lode_wait_place_of(
	const LodeProfile *profile, const LodeOwnLines *own, uint32_t stack);

/* How many threads ran, or waited for nothing but a processor, on average: along the critical path
 * where there is one, else all the time. */
double lode_waits_threads(const LodeProfile *profile);

/* Whether so few of them did that work is not divided. */
bool lode_waits_are_serial(const LodeProfile *profile);

/*
 * Whether waiting is for want of something, and not how parallel programs are built: threads that
 * wait at a join or a condition while as many others run as wait there do so for work that has been
 * divided. Nor does idle waiting count, nor what nobody looked at; waiting for a processor counts
 * where the program itself has more threads that could run than it has processors.
 */
bool lode_wait_group_counts(const LodeProfile *profile, const LodeWaitGroup *group);

/* "waiting for log_lock", "in fsync (note.log)", "asleep". The caller frees it. */
char *lode_wait_group_text(const LodeWaitGroup *self);

/* A file without its folders, borrowed from `object`; other objects as they are. */
const char *lode_wait_object_text(const char *object);

/* The word of its reason: "lock", and "other:eventfd_read" with its call. The caller frees it. */
char *lode_wait_group_reason(const LodeWaitGroup *self);

/*
 * The processes that waits for children are for, by the times of their programs: the same of many
 * short ones, of a few one after the other, and of several at once is three things to a user.
 *
 *   sh     ━╮ · · ╭━╮ · · ╭━╮ · · ╭━     waits of one thread
 *   sed     ╰━━━━━╯ ╰━━━━━╯ ╰━━━━━╯      3 processes, 1 at once
 */

/* So many processes are many; one that lives no longer was mostly started and ended. */
enum { LODE_MANY_CHILDREN = 20 };
#define LODE_SHORT_LIFE_NS 20e6

typedef enum {
	LODE_CHILDREN_UNKNOWN, /* no program is known, as of a part */
	LODE_CHILDREN_FEW,     /* what they do themselves says more */
	LODE_CHILDREN_SHORT,   /* many, which take no longer than it takes to start one */
	LODE_CHILDREN_SERIAL,  /* several, one after the other */
	LODE_CHILDREN_NARROW,  /* at once, but fewer than there are processors */
} LodeChildrenKind;

typedef struct {
	LodeChildrenKind kind;
	char *text;       /* owned: "sed ×400 and 2 more" programs; NULL: unknown */
	bool are_copies;  /* of the programs that wait */
	const char *name; /* of the program with most processes; the profile's */
	double processes; /* of all programs */
	double life_ns;   /* of each, on average */
	double running_ns;
	double at_once; /* on average, while there was a wait for them */
	/* So long all of them take at least, as many at once as there are processors: these, and
	 * other programs that had them, stay as they are. 0: unknown. */
	double least_ns;
} LodeChildren;

/* Of groups (LodeWaitGroup *) of waits for children that go away together, which waited so long.
 * `left_out`: by how much each of LodeWaits.processes is not counted; NULL: all are. */
void lode_children_init(LodeChildren *self, const LodeProfile *profile, const GPtrArray *groups,
	double waiting_ns, const double *left_out);
void lode_children_clear(LodeChildren *self);

/* The processes (by pid) whose shells mostly waited for the command sleep, as those of a program
 * that sleeps by system(3): waits for these shells are pauses. The caller unrefs the set. */
GHashTable *lode_pids_that_pause(const LodeWaits *waits);
/* The many short processes of one that started them, by the times of all processes: they are known
 * also where no wait for them was seen, as of a shell that reads what they write. */
typedef struct {
	uint32_t parent;       /* of LodeWaits.processes */
	LodeChildren children; /* SHORT; least_ns is not known */
	double lived_ns;       /* of the clock: at least one was there */
} LodeStarted;

/* GArray of LodeStarted that were there for so long at least, the longest first; the caller unrefs
 * it. `left_out` as above. */
GArray *lode_started_new(const LodeProfile *profile, double least_ns, const double *left_out);

/*
 * Commands that one process has others execute again and again: the same program with the same
 * arguments, environment, directory and input, whose output it reads.
 *
 *   make ━╮       ╭━╮       ╭━╮            $(shell ./survey.sh tiles.txt), three times
 *         ╰━━━━━━━╯ ╰━━━━━━━╯ ╰━━━━━━━     two of them are not needed
 *
 * Those that are repeated for a purpose are left out: what waits, or whose answer changes (sleep,
 * date, pgrep), and all of a process that sleeps between them, as it looks whether something has
 * changed. Of the shortest processes the command is not seen: they are the same as often as those
 * of the program that started the same programs, and whose command is known.
 */
typedef struct {
	uint32_t first;   /* of LodeWaits.processes */
	guint same;       /* that are seen to be the same */
	double processes; /* that are the same, with those not seen */
	bool is_exact;    /* of those not seen, each is the same, or is not */
	double needed_ns; /* of the clock, by one */
	double high_ns;   /* without all but one */
} LodeRepeatedCommand;

/* All those of one parent. */
typedef struct {
	uint32_t parent;        /* of LodeWaits.processes */
	GArray *commands;       /* LodeRepeatedCommand, that with most time first */
	double processes;       /* of all commands */
	guint started;          /* all that the parent had execute something */
	double low_ns, high_ns; /* of the clock, with one of each; low: of those seen */
	double at_once;         /* of those seen, on average */
} LodeRepeats;

/* GArray of LodeRepeats that may take so long at least, the longest first; the caller unrefs it,
 * and frees the weights: how probably each process is one of theirs, or was started by one. */
GArray *lode_repeats_new(const LodeProfile *profile, double least_ns, double **out_weights);

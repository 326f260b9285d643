/* SPDX-License-Identifier: MIT */
/*
 * Bundles of waits: those that one change of the program removes together, with what that saves of
 * the time by the clock. Private to analyses/diagnoses/.
 *
 *   lock ledger_lock at post (ledger.c:31) ━┓
 *   lock ledger_lock at seal (ledger.c:12) ━┻▶ bundle  lock ledger_lock  14–31 % of the clock
 *   child cc1 of gcc, child as of gcc ━━━━━━━▶ bundle  children of gcc
 */
#pragma once

#include "analyses/diagnoses/diagnoses.h"
#include "analyses/diagnoses/rules/cause_rules.h"
#include "analyses/waits/wait_groups.h"

/* From so many looks on it is known what is waited for. */
enum { LODE_WAIT_FEW_LOOKS = 10 };

enum { LODE_WAIT_NAMED_OBJECTS = 3 };

/* The part of the time from which on something is what mostly happens. */
#define LODE_WAIT_MOSTLY 0.5

typedef struct {
	const LodeWaitGroup *first; /* with most time */
	GPtrArray *groups;          /* const LodeWaitGroup * */
	GHashTable *threads;        /* as of groups */
	double waiting_ns, path_ns, count, longest_ns, looks;
	double most_ns;        /* as of groups */
	uint32_t cause;        /* likewise */
	double on_path;        /* of the critical path, what is reached through them */
	double low, high;      /* what is saved, of the clock; low NAN: not known */
	LodeChildren children; /* of waits for such */
} LodeWaitBundle;

/* What waits are diagnosed from. All but the bundles is borrowed. */
typedef struct {
	const LodeProfile *profile;
	const LodeWaits *waits; /* the profile's */
	const LodeOwnLines *own;
	const LodeCauseRules *rules;
	uint32_t event;        /* that weighs samples; LODE_NONE: there are none */
	GPtrArray *bundles;    /* LodeWaitBundle */
	const double *repeats; /* how probably each process is one that need not be */
	GHashTable *foreign;   /* set of names of programs that their user does not build */
} LodeWaitDiagnosing;

/* A place where others run, and its share of their time; 0: not known. */
typedef struct {
	LodeWaitPlace place;
	double share;
} LodeWaitRuns;

/* The event that stacks' samples of its time are of; LODE_NONE: there is none. */
uint32_t lode_wait_sampled_event(const LodeWaitDiagnosing *self);

/* Of LodeWaitBundle; empty. The caller unrefs it. */
GPtrArray *lode_wait_bundles_new(void);

/* Fills the bundles, with what they save. Those that do not count (wait_groups.h) are left out. */
void lode_wait_bundles_gather(LodeWaitDiagnosing *self, const GArray *groups);

static inline const LodeWaitBundle *lode_wait_bundle_at(const LodeWaitDiagnosing *self, guint i)
{
	return g_ptr_array_index(self->bundles, i);
}

static inline const LodeWaitProcess *lode_wait_process_at(
	const LodeWaitDiagnosing *self, uint32_t index)
{
	return &g_array_index(self->waits->processes, LodeWaitProcess, index);
}

static inline double lode_wait_bundle_mean(const LodeWaitBundle *self)
{
	return self->count > 0 ? self->waiting_ns / self->count : 0;
}

/* Whether enough was seen of it. */
bool lode_wait_bundle_is_known(const LodeWaitBundle *self);

/* Whether threads wait for what one of the program does. */
bool lode_wait_bundle_is_serial(const LodeWaitBundle *self);

/* Whether those that wait for a lock wait for what its holder waits for: without the lock they
 * would do so side by side, which takes no processor; and whether the holder sleeps. */
bool lode_wait_bundle_is_held_in_waits(const LodeWaitBundle *self);
bool lode_wait_bundle_is_held_in_sleep(const LodeWaitBundle *self);

/* Whether it is for CPython's global lock, which no place in the program takes. */
bool lode_wait_bundle_is_for_gil(const LodeWaitBundle *self);

/* A sleep, or a wait for an answer, under a lock is what waits for the lock wait for. */
bool lode_wait_bundle_is_under_lock(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Whether a program waits that its user does not build; and whether that is for a part of it, such
 * as a process that it starts of itself or one at the other end of a pair of sockets, which its
 * user did not ask for. */
bool lode_wait_bundle_is_foreign(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);
bool lode_wait_bundle_is_inner(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Whether its waits are for the same only if their objects are, and these are known. */
bool lode_wait_group_is_of_object(const LodeWaitGroup *group);

/* Whether it is for other threads, or processes. */
bool lode_wait_is_for_threads(LodeWaitReason reason);

/* The program that waits for children, where that is in code that its user does not build: then it,
 * and not the place in it, says who starts them. NULL: the place does. */
const char *lode_wait_foreign_parent(const LodeWaitGroup *group);

/* A script's pause: it waits for a process that does nothing else; and that process's own wait. */
bool lode_wait_is_for_sleep(const LodeWaitGroup *group);
bool lode_wait_is_of_sleep(const LodeWaitGroup *group);

/* The thread that is waited for, where looks know it, else those that do not wait: where it runs
 * most. (running_meanwhile.c) */
LodeWaitRuns lode_wait_find_running(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* The user's code that runs between the waits of an event loop, and so asks for what it waits for;
 * its function NULL: not known. (loop_places.c) */
LodeWaitPlace lode_wait_loop_place(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Where the user's code waits as long for the thread of a library that waits for answers; its
 * function NULL: nowhere. (loop_places.c) */
LodeWaitPlace lode_wait_asking_place(const LodeWaitBundle *bundle, const GArray *groups);

/* What threads that do not wait here wait for most, if it is this share of the waiting here; NULL:
 * nothing. (running_meanwhile.c) */
const LodeWaitGroup *lode_wait_find_other(
	const GArray *groups, const LodeWaitBundle *bundle, double least);

/* Whether a thread waits for others that wait themselves, most of the time: what these wait for is
 * the cause, as far as it is known. (running_meanwhile.c) */
bool lode_wait_bundle_is_for_waiting(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle, const GArray *groups);

/* Whether the sleep is itself what others wait for: it is no look at what these do. Its times
 * differ, a pool's thread sleeps, or a thread waits as long for something else, and is woken less
 * often. (sleeps.c) */
bool lode_wait_sleep_is_work(const LodeWaitBundle *bundle, const GArray *groups);

/* Whether a pool's thread waits that has no other beside it, so that its tasks follow each other.
 * (sleeps.c) */
bool lode_wait_is_of_only_thread(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Who started most of the processes that sleep; NULL: not known. `out_all`: how many there are.
 * (sleeps.c) */
const char *lode_wait_sleep_starter(const LodeWaitDiagnosing *self, guint *out_all);

/* "sleep ×4, started by poll.sh". The caller frees it. (sleeps.c) */
char *lode_wait_sleep_text(const LodeWaitDiagnosing *self);

/* Where processes that sleep are waited for in code of the user's own, else where they wait.
 * (sleeps.c) */
const LodeWaitPlace *lode_wait_sleep_place(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Of waits for processes that sleep, and these processes' own, one is told: the latter, unless few
 * of them were seen. A parent that mostly waits for something else may be woken by a sleep's end.
 * (sleeps.c) */
bool lode_wait_sleep_is_told_by_other(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Adds the diagnosis of commands that one process has executed again and again, and takes what it
 * saves from that process's waits for children. (repeat_diagnoses.c) */
void lode_wait_repeats_add(
	const LodeWaitDiagnosing *self, LodeDiagnoses *out, const LodeRepeats *repeats);

/* Adds the words of who starts children, of a script its interpreter, and of which program most of
 * them are. `parent`: NULL: not known. (started_diagnoses.c) */
void lode_wait_add_words_of_children(const LodeWaitDiagnosing *self, const LodeChildren *children,
	const LodeWaitProcess *parent, LodeCauseWords *words);

/* The process that a wait for children is of; NULL: not known. (started_diagnoses.c) */
const LodeWaitProcess *lode_wait_find_parent(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle);

/* Adds the diagnoses of many short processes that no wait for them tells as much of, with this
 * share of the clock at least. The names of those who start them; the caller unrefs it.
 * (started_diagnoses.c) */
GPtrArray *lode_wait_started_add(const LodeWaitDiagnosing *self, LodeDiagnoses *out, double least);

/* Whether waits for children are told of by these; and waits at a pipe by what is told of
 * processes, and saves at least half as much: as of a loop of a shell whose output is read.
 * (started_diagnoses.c) */
bool lode_wait_is_told_by_started(const LodeWaitBundle *bundle, const GPtrArray *told);
bool lode_wait_is_told_by_writer(const LodeWaitBundle *bundle, const LodeDiagnoses *told);

/* Where in a script most of the time of some processes was started, and which part of it; without
 * those that need not be: of those that `parent` starts and whose program is `name`, each NULL:
 * any. function and file NULL: not known. (script_places.c) */
LodeWaitRuns lode_wait_find_start(
	const LodeWaitDiagnosing *self, const char *parent, const char *name);

/* The same of one process. (script_places.c) */
LodeWaitPlace lode_wait_start_of(const LodeWaitDiagnosing *self, uint32_t process);

/* Says how long children live, and how many at a time. `parent`: who starts them; NULL: a place
 * says so. (wait_diagnoses.c) */
void lode_wait_add_children(const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis,
	const LodeChildren *children, const char *parent);

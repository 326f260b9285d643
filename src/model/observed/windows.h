/* SPDX-License-Identifier: MIT */
/*
 * Windows of a program's run that were executed step by step, summed up: which ways its flow took,
 * and facts of each instruction. Steps say how often one way was taken compared with another way
 * of the same branch; they have no absolute scale (docs/use/windows.md).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

enum {
	LODE_OBSERVED_STEPS = 30, /* from so many outcomes on, the edges from an instruction count
	                             as observed, also those that were rarely or never taken */
};

/* Two instructions that were executed one after the other in a window, after its first steps, or at
 * a breakpoint: by a jump, a call, a return, or one after the other in memory. Sorted by (source,
 * target). */
typedef struct {
	uint32_t source, target; /* instructions of the profile */
	uint32_t steps;          /* how often */
	uint32_t windows;        /* in how many windows, and rounds of breakpoints */
} LodeObservedEdge;

/* Executions as a load, by the stores of the 100 steps before them. */
typedef struct {
	uint32_t stored;      /* one store wrote all the bytes that are loaded, the last to any */
	uint32_t part_stored; /* the last store to any of the bytes wrote a part of them */
	uint32_t store_steps; /* steps from such a store to the load, the fewest; 0: none */
	uint32_t
		conflicting; /* to a line that was used before in the window, when since then as
	                        many other lines of its set were used as that has ways, but fewer
	                        in all than half of the first level: it had room, the set had not */
} LodeObservedLoads;

/* Executions as a call, compared with the call before from the same place in the same window, if
 * what their callees read of their arguments is known. */
typedef struct {
	uint32_t compared;
	uint32_t same_arguments;   /* of them: what the callee reads was equal */
	uint32_t compared_results; /* of these: both returned in the window */
	uint32_t same_results;     /* of these: rax was equal, too */
} LodeObservedCalls;

/* An instruction that was executed in windows. Sorted by instruction. */
typedef struct {
	uint32_t instruction;
	uint32_t steps; /* executions, also among the first steps of a window */
	/* For a branch with several ways: outcomes that were judged, and those of them that the
	 * history of outcomes did not foretell. */
	uint32_t outcomes, unforetold;
	uint32_t denormals; /* executions with a denormal operand */
	/* For the first operand in memory, where there is one: */
	uint32_t accesses;     /* whose address is known */
	uint32_t repeated;     /* at the address of the access before, in the same window */
	uint32_t strided;      /* at least so many differ by `stride` from the one before */
	int64_t stride;        /* bytes: the most frequent difference that is not 0; 0: none */
	uint32_t lines, pages; /* distinct, of 64 and 4096 bytes; above 64 estimated, ± 13 % */
	uint64_t line_bytes;   /* a bit for each byte of a line that was accessed in any line */
	uint32_t split;        /* across a boundary of 64 bytes */
	LodeObservedLoads loads;
	/* Further facts, of which most instructions have none; their words are those of
	 * lode_window_fact_to_text(). */
	uint32_t underflows;  /* executions with a result that was rounded to a denormal number or
	                         to 0, and not flushed to 0 */
	uint32_t split_pages; /* of `split`: across a boundary of 4096 bytes */
	LodeObservedCalls calls;
	uint32_t page_changes; /* accesses to another page of 4096 bytes than the one before */
	/* Lines that it came to, and left for another one, in the same window: how many times,
	 * and how many of their bytes any instruction accessed in that window, added up. */
	uint32_t line_visits, line_used_bytes;
	/* For a loop's head: iterations that were seen to end, and of them those that left the
	 * loop. */
	uint32_t loop_rounds, loop_exits;
	/* For movs, stos and lods with a repeat prefix: executions whose number of rounds is known,
	 * and the rounds of all of them, of one at most LODE_MOST_STRING_ROUNDS. A window that
	 * begins in the midst of one counts twice the rounds that are left. */
	uint32_t string_runs, string_rounds;
	/* Hits of breakpoints from outside, which are no steps. */
	uint32_t hits;
	/* Accesses without an earlier one of the same instruction in their window; accesses at
	 * hits, or so early in their window that earlier stores and uses are not known. */
	uint32_t first_accesses, early_accesses;
} LodeObservedInstruction;

enum { LODE_MOST_STRING_ROUNDS = 1 << 16 };

typedef enum {
	LODE_WINDOW_FACT_UNDERFLOWS,
	LODE_WINDOW_FACT_SPLIT_PAGES,
	LODE_WINDOW_FACT_COMPARED_CALLS,
	LODE_WINDOW_FACT_SAME_ARGUMENTS,
	LODE_WINDOW_FACT_COMPARED_RESULTS,
	LODE_WINDOW_FACT_SAME_RESULTS,
	LODE_WINDOW_FACT_PAGE_CHANGES,
	LODE_WINDOW_FACT_LINE_VISITS,
	LODE_WINDOW_FACT_LINE_USED_BYTES,
	LODE_WINDOW_FACT_LOOP_ROUNDS,
	LODE_WINDOW_FACT_LOOP_EXITS,
	LODE_WINDOW_FACT_STRING_RUNS,
	LODE_WINDOW_FACT_STRING_ROUNDS,
	LODE_WINDOW_FACT_HITS,
	LODE_WINDOW_FACT_FIRST_ACCESSES,
	LODE_WINDOW_FACT_EARLY_ACCESSES,
	LODE_N_WINDOW_FACTS,
} LodeWindowFact;

/* The field of a further fact. */
uint32_t *lode_window_fact(LodeObservedInstruction *facts, LodeWindowFact fact);

/* Those that `repeated`, `strided` and `page_changes` are of. */
static inline uint32_t lode_window_compared_accesses(const LodeObservedInstruction *facts)
{
	return facts->accesses - MIN(facts->first_accesses, facts->accesses);
}

/* Those that `stored`, `part_stored` and `conflicting` are of. */
static inline uint32_t lode_window_judged_accesses(const LodeObservedInstruction *facts)
{
	return facts->accesses - MIN(facts->early_accesses, facts->accesses);
}

/* "underflows", "split_pages" …, as the fields are called, and back; −1: unknown. */
const char *lode_window_fact_to_text(LodeWindowFact fact);
int lode_window_fact_from_text(const char *text);

/* A process that was to be stepped. Strings are the profile's. */
typedef struct {
	uint32_t pid;
	char *name;     /* of the program; NULL: unknown */
	char *obstacle; /* why it has no windows, or none from some time on: a text of
	                   lode_window_obstacle_text(); NULL: nothing */
	uint64_t n_windows, n_steps;
} LodeSteppedProcess;

typedef struct LodeWindows {
	GArray *edges;        /* LodeObservedEdge */
	GArray *instructions; /* LodeObservedInstruction */
	GArray *processes;    /* LodeSteppedProcess */
	uint64_t n_windows, n_steps;
	uint64_t n_unresolved; /* steps in no code of the profile */
	uint64_t n_dropped;    /* samples that were taken in windows or shortly after */
	double dropped_weight; /* of them, of the event that weighs */
	double user_seconds, system_seconds; /* that windows took from the program */
} LodeWindows;

/* Those of a profile; NULL: none were recorded. */
LodeWindows *lode_windows_of(const LodeProfile *profile);

/* Empty; never NULL. */
LodeWindows *lode_windows_new(void);
void lode_windows_free(LodeWindows *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindows, lode_windows_free)

/* The edge between two instructions, or NULL. */
const LodeObservedEdge *lode_windows_find_edge(
	const LodeWindows *self, uint32_t source, uint32_t target);

/* The hits of breakpoints, of all instructions. */
uint64_t lode_windows_hits(const LodeWindows *self);

/* Steps from an instruction, by all edges. */
uint64_t lode_windows_outcomes(const LodeWindows *self, uint32_t source);

/*
 * Whether an instruction went the same way all the time, or nearly, in each window, though windows
 * may differ: such a jump or call is foretold. That holds as soon as three windows or more had
 * three outcomes each, ten of them after another one in the window, which is long before histories
 * can be judged: each of the ten is as the one before by chance in half of the cases at most.
 * False: it changes, or too little was seen.
 */
bool lode_windows_stays(const LodeWindows *self, uint32_t source);

/* The facts of an instruction, or NULL. */
const LodeObservedInstruction *lode_windows_find(const LodeWindows *self, uint32_t instruction);

/* Whether history foretells the outcomes of a branch, indirect jump or call, or return. */
typedef enum {
	LODE_FORETOLD_UNKNOWN, /* fewer than LODE_JUDGED_OUTCOMES were judged */
	LODE_FORETOLD_ALL,     /* 99.5 % of them: mispredictions are ruled out */
	LODE_FORETOLD_MOST,
	LODE_FORETOLD_HARD, /* 5 % were not: a hint only, as processors have longer histories */
} LodeForetold;

/* `facts` may be NULL. */
LodeForetold lode_window_foretold(const LodeObservedInstruction *facts);

/*
 * How many iterations a loop has from entry to exit on average. Each iteration that windows saw end
 * may have been the last, also where they did not see the loop begin: iterations ÷ exits. Where no
 * exit was seen in n iterations, the chance to leave is 3 ÷ n at most, at 95 % (the rule of three:
 * J. A. Hanley, A. Lippman-Hand, JAMA 249, 1983).
 */
typedef struct {
	double mean;  /* NAN: none ended, or fewer than LODE_OBSERVED_STEPS iterations were seen */
	double error; /* standard error of the mean, as if exits were independent; NAN likewise */
	double least; /* NAN: the mean is known, or too few iterations were seen */
} LodeObservedRounds;

/* `facts` of the loop's head; may be NULL. */
LodeObservedRounds lode_window_rounds(const LodeObservedInstruction *facts);

/* Fewer judged outcomes say nothing of the whole program. */
enum { LODE_JUDGED_OUTCOMES = 600 };
typedef struct {           /* sums of the instructions' facts */
	uint64_t outcomes; /* that were judged, of branches with at least LODE_OBSERVED_STEPS */
	/* Outcomes of these branches that were not foretold, for 1,000 executed instructions; for
	 * each branch the share of its judged outcomes holds for all its executions. NAN: fewer
	 * than LODE_JUDGED_OUTCOMES were judged. */
	double unforetold_per_thousand;
	/* Likewise: steps out of instructions that went several ways, which were not judged. */
	double unjudged_per_thousand;
	uint64_t denormals;  /* executions with a denormal operand */
	uint64_t underflows; /* and with a result rounded to such a number or to 0 */
} LodeWindowSums;

LodeWindowSums lode_windows_sums(const LodeWindows *self);

/* A LodeWindowObstacle (sources/windows/window_log_format.h) in words: "handles or ignores SIGTRAP
 * itself". NULL for none. Static. */
enum { LODE_N_OBSTACLE_TEXTS = 11 }; /* as LODE_N_WINDOW_OBSTACLES; a test compares them */
const char *lode_window_obstacle_text(uint32_t obstacle);

/* SPDX-License-Identifier: MIT */
/*
 * The sampled code with what rules ask for beside the attributes: where control comes from, the
 * innermost loop of each instruction, and facts that need more than the instruction itself.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/diagnosis_context.h"
#include "images/cores/instruction_class.h"
#include "model/kinds.h"
#include "model/observed/loops.h"

/* Facts of an instruction; rules have them as attributes. */
enum {
	/* One of a branch, the compare that it is fused with, and the first instructions of its
	 * ways, of which both were taken: its outcomes are hard to foretell, as counted or
	 * observed; or nothing is known of them, and both ways wait. */
	LODE_CODE_FORK_HARD,
	LODE_CODE_FORK_OPEN,
	/* Likewise, of an indirect jump or call, and the first instructions of its targets. */
	LODE_CODE_TARGET_HARD,
	LODE_CODE_TARGET_OPEN,
	/* Most of its accesses cross a border of cache lines (windows). */
	LODE_CODE_SPLIT,
	/* Its accesses use most bytes of a line, in one line or another (windows): what it leaves
	 * unused of one line it uses of others. */
	LODE_CODE_DENSE,
	/* Each round of its loop goes to another line, and other walks use the bytes between
	 * (samples of addresses, windows). */
	LODE_CODE_ACROSS,
	/* In the innermost loop around an access that has conflict:pitch. */
	LODE_CODE_CROWDED,
	/* In a function that uses the divider for square roots alone. */
	LODE_CODE_ROOTS,
	/* Part of a small function that loops call, or of these calls (small_calls.h). */
	LODE_CODE_SMALL,
	/* Between a load and a store of one word in a loop, at an address that the data give,
	 * mostly the one that was stored to just before (windows). */
	LODE_CODE_STORED,
	/* Adds 1 to a number in an object, or subtracts it; these lie on many pages (samples). */
	LODE_CODE_COUNTER,
	/* In a loop that handles one bit at a time. */
	LODE_CODE_BITS,
	/* A repeated string instruction like others of its function or program, which have more
	 * than 256 bytes each time (windows). */
	LODE_CODE_BLOCK,
	/* A load whose address is that in a variable of the program (at a fixed address, where the
	 * function stores nothing), perhaps with a sum of arguments: it waits for no other load. */
	LODE_CODE_GLOBAL,
	/* A load or store of a block that copies a structure by vector registers, without a change.
	 */
	LODE_CODE_COPY,
	/* In a loop that takes as long as its work for one unit, and much longer than all else. */
	LODE_CODE_PORT,
	/* An atomic operation on the count of references to an object (std::shared_ptr, Arc), by
	 * the functions that are inlined there. */
	LODE_CODE_REFERENCES,
	/* In a loop that takes as long as its recurrence of loads, between which it computes
	 * sums alone: it follows pointers, or distances between nodes. */
	LODE_CODE_CHASE,
	/* In a loop that searches elements one after the other, with many rounds each time. */
	LODE_CODE_SEARCH,
	/* In a loop that only goes from node to node. */
	LODE_CODE_NODES,
	/* In a loop that looks at the same memory until another thread changes it. */
	LODE_CODE_SPIN,
	/* In a loop whose iterations take as long as its recurrence of this kind, or as its work
	 * for this unit. Where the time of an iteration is not known: no other bound is near. */
	LODE_CODE_LIMIT_STEP,
	LODE_CODE_LIMIT_UNIT = LODE_CODE_LIMIT_STEP + LODE_N_STEPS_OF,
	/* In a loop that takes far longer than its bounds, and moves about as many bytes in that
	 * time as memory can: mostly loaded ones, or mostly stored ones. */
	LODE_CODE_LIMIT_READING = LODE_CODE_LIMIT_UNIT + LODE_N_UNITS,
	LODE_CODE_LIMIT_WRITING,
	LODE_N_CODE_FACTS,
};

/* "fork:hard", "limit:fp", "busy:divider"; the caller frees it. */
char *lode_code_fact_name(unsigned fact);

/* A way of control to an instruction, within its function or by a call. */
typedef struct {
	uint32_t source;
	LodeEdgeKind kind;
	double count;
} LodeCodeWay;

/* A call in a loop of a small function (small_calls.h). */
typedef struct {
	uint32_t instruction, function;
} LodeSmallCall;

/* Bytes that an iteration moves from and to memory (code/code_shapes.h); −1: not known. */
typedef struct {
	double loaded, stored;
} LodeLoopBytes;

typedef struct {
	const LodeDiagnosisContext *context;
	double *weights;      /* of each instruction */
	uint32_t *way_starts; /* [instructions + 1]: ranges of `ways` */
	LodeCodeWay *ways;    /* by target */
	uint32_t *loops;      /* of profile->loops, the innermost of each instruction; LODE_NONE */
	uint64_t *facts;      /* bits */
	double *loop_weights; /* of each loop, with those inside */
	LodeLoopBytes *loop_bytes; /* of each loop */
	GArray *small_calls;       /* LodeSmallCall */
	uint16_t *set_marks;       /* private */
} LodeCostedCode;

/* Never NULL; borrows the context. */
LodeCostedCode *lode_costed_code_new(const LodeDiagnosisContext *context);
void lode_costed_code_free(LodeCostedCode *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCostedCode, lode_costed_code_free)

/* The time of an iteration in cycles; NAN: not known. */
double lode_costed_code_cycles(const LodeCostedCode *self, const LodeLoop *loop);

/* How many rounds a loop has from entry to exit on average. */
typedef struct {
	double mean;   /* or the least that it can be; NAN: not known */
	double error;  /* of the mean, by what windows saw; NAN: counted, or not known */
	bool is_least; /* windows saw no exit */
} LodeLoopRounds;

/* Of the profile's loop of this number, by counted executions, else by windows. */
LodeLoopRounds lode_costed_code_rounds(const LodeCostedCode *self, uint32_t loop);

/* Loops in functions of one kind. */
typedef struct {
	double weight, rounds; /* rounds: their mean by weight */
	bool is_least;         /* it is that at least */
} LodeLongLoops;

/* Those of so many rounds or more in functions that `matches`, inlined ones too, which do not
 * compare one key with another. */
LodeLongLoops lode_costed_code_long_loops(const LodeCostedCode *self, double least_rounds,
	bool (*matches)(const char *function, const void *data), const void *data);

/* Borrowed from the code; `loop` is one of the profile's. */
const LodeLoopBytes *lode_costed_code_loop_bytes(const LodeCostedCode *self, const LodeLoop *loop);

/* Whether a function is of a library that no one changes for a program's sake, or of a run-time
 * that is linked into programs: nothing but its system calls concerns the one who wrote the
 * program. */
bool lode_costed_code_is_run_time(const LodeDiagnosisContext *context, uint32_t function);

/* Cycles of a loop's longest recurrence but one; 0 where both are of one kind, and so of one cause,
 * as of two sums or remainders that are kept side by side. */
double lode_other_recurrence(const LodeLoop *loop);

/*
 * Sets LODE_CODE_SMALL of the instructions of functions of at most 64 bytes without calls and loops
 * of their own that loops of the program's own code call through a pointer, by a stub or in another
 * image, or that load (not from the stack) and have a twentieth of the time; of their stubs; and of
 * these calls. Small functions that only compute and are called directly are what somebody wants to
 * have apart: else the compiler would have inlined them. Not of services and run-times, nor of a
 * load that has most of the time of all this: it waits for data.
 */
void lode_small_calls_mark(LodeCostedCode *self);

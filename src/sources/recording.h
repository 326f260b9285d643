/* SPDX-License-Identifier: MIT */
/*
 * The common form of all recordings: the instructions that executed, with event values by object
 * and address, and the jumps and calls between them. Addresses are as the recording tool wrote
 * them; joining them with binaries is ingest's work.
 */
#pragma once

#include "machine/machine_figures.h"
#include "model/kinds.h"

#include <glib.h>
#include <stdint.h>

typedef struct {
	char *path;     /* "???" for what valgrind could not name */
	uint32_t image; /* of the import's code images; LODE_NONE: only its path is known */
	uint32_t pid;   /* whose run-time addresses it has, where "???"; else 0 */
} LodeRecordedObject;

/* One executed instruction. Sorted by (object, address), each once. */
typedef struct {
	uint64_t address; /* as written: file virtual address, or run-time address in "???" */
	uint32_t object;
	uint32_t function;    /* index into names; LODE_NONE for none */
	uint32_t file;        /* index into names */
	uint32_t line;        /* 0: unknown */
	uint32_t first_value; /* values of the first events from here in `values`… */
	uint32_t n_values;    /* …so many; the others are 0 */
} LodeRecordedInstruction;

/*
 * Jumps with equal ends are merged. Sorted by (object, source, target object, target).
 *
 * In a trace it is any two instructions that one thread executed one after the other and that are
 * not adjacent in a block: a jump, a call, a return, or a transfer by the kernel. An object of
 * LODE_NONE: a thread began at the target, or ended at the source.
 */
typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t target_function; /* index into names; LODE_NONE */
	bool is_conditional;
	double taken;    /* times it went to target */
	double executed; /* times the jump instruction ran, where conditional; else = taken */
} LodeRecordedJump;

/* In that order; for g_array_sort() and qsort(). */
int lode_recorded_jump_compare(const void *a, const void *b);

typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t target_function; /* index into names */
	double count;
} LodeRecordedCall;

enum { LODE_RECORDED_SUM_MAX_PARTS = 48 }; /* 16 caches, three kinds of access */

/* An event that is the sum of columns, under the name that it has whatever recorded it. */
typedef struct {
	char *name, *description;
	double cycles; /* what one costs in the estimate of time */
	uint32_t columns[LODE_RECORDED_SUM_MAX_PARTS];
	uint32_t n_columns;
	bool is_attribute; /* gives ev:NAME to the instructions where it happens */
} LodeRecordedSum;

/* Code that ran from its first to its last instruction without a taken branch, by branch stacks. */
typedef struct {
	uint64_t first, last; /* addresses of these instructions */
	uint32_t object;
	double count;
} LodeRecordedRange;

/*
 * Two instructions that a thread executed one after the other, also where they are adjacent: step
 * by step (sources/windows/), at breakpoints, or by the registers of samples. Sorted by (object,
 * source, target object, target), each once.
 */
typedef struct {
	uint64_t source, target;
	uint32_t object, target_object;
	uint32_t steps;   /* how often, after the first steps of windows */
	uint32_t windows; /* in how many */
	uint32_t hits; /* of the steps: at breakpoints and samples, which say nothing of how often
	                  one source is executed compared with another */
} LodeRecordedStep;

/* Where, how and for how long the programs ran. */
typedef struct {
	char *creator;         /* "callgrind-3.19.0"; of the first file */
	const char *host;      /* where it was recorded; NULL: unknown */
	const char *processor; /* likewise, as perf writes it: "GenuineIntel,6,143,8" */
	uint32_t pid;          /* of the first process that was sampled; 0: unknown */
	GPtrArray *commands;   /* char *: command lines of the programs, no two equal */
	/* Processor time that they took, as far as it is known. */
	double user_seconds, system_seconds;
	double system_error;    /* standard error of system_seconds; 0: not known */
	double wall_seconds;    /* of one program; 0: not known */
	LodeMachineSpeed speed; /* likewise, while it ran */
	double cycles_per_ns;   /* of the processor's clock; 0: not known */
	/* The part of the sampled time that the timer's interrupts took, and its error; 0 both: not
	 * known. */
	double sampling_share, sampling_error;
	LodeMemoryRates rates;        /* of the machine */
	LodeCoreFigures core_figures; /* likewise */
	GHashTable *known_commands;   /* private: the same as `commands` */
} LodeRecordedPrograms;

/*
 * Columns are exact events first, then sampled ones. Where executions were not counted, the column
 * "Ir" is 0 until they are inferred.
 */
typedef struct {
	GStringChunk *strings;
	LodeFrequency frequency;
	LodeRecordedPrograms programs;
	bool is_kernel_sampled;  /* samples of the event that weighs are of the kernel's code too */
	bool has_faults_aside;   /* page faults are sampled, but are not what it was recorded for */
	GPtrArray *events;       /* char *: columns of `values`; the union over all files */
	GPtrArray *descriptions; /* char *, of the columns; NULL where there is none, or shorter */
	GArray *sums;            /* LodeRecordedSum, of exact columns; empty: callgrind's */
	bool is_trace;           /* all changes of control are in `jumps`, and no calls apart */
	uint32_t n_sampled;      /* the last so many columns are sampled */
	GArray *late_columns;    /* uint32_t: sampled columns, ascending, whose samples have the
	                            address of what came after the instruction that waited */
	GArray *totals;  /* double × events, summed from the files' own summary/totals lines */
	GArray *objects; /* LodeRecordedObject */
	GArray *image_objects; /* uint32_t × code images: their objects; LODE_NONE */
	GArray *pids;          /* uint32_t: the processes, each once */
	GPtrArray *names;      /* char *: functions and files, no two equal */
	/* Rows from here on are samples to be joined with the counted ones before; LODE_NONE: none.
	 */
	uint32_t first_sample_row;
	double *values;
	size_t values_room; /* private: bytes, when values are mapped; 0: from g_malloc() */
	GArray *instructions;
	GArray *jumps;
	GArray *calls;
	GArray *ranges;         /* LodeRecordedRange, by (object, first, last); of branch stacks */
	GArray *steps;          /* LodeRecordedStep */
	GArray *unresolved;     /* LodeUnresolved: what came to no instruction */
	GArray *thread_times;   /* LodeThreadTime; names are borrowed */
	double n_samples;       /* of the column that weighs by default, also the unresolved */
	double n_equal_samples; /* lode_profile_equal_samples(); 0: not known */
	uint64_t bytes_read;
} LodeRecording;

/* Empty, exact; never NULL. */
LodeRecording *lode_recording_new(void);
void lode_recording_free(LodeRecording *self);

/* The column that weighs by default: the first sampled event that has samples,
 * but for waiting, else 0. */
uint32_t lode_recording_weight_column(const LodeRecording *self);

/* Adds a program's command line if it is new; `command` is copied. */
void lode_recording_add_command(LodeRecording *self, const char *command, size_t size);

/* The command lines of all programs: "./a 1, ./b"; of many, some. NULL: none is known. The caller
 * frees it. */
char *lode_recording_program(const LodeRecording *self);

/* Whether a column is in late_columns. */
bool lode_recording_is_late(const LodeRecording *self, uint32_t column);

/* Reasons: what is whole of the recording, the example, is there. */
#define LODE_CUT_SHORT "recording that is cut short"
#define LODE_CUT_DESCRIPTION "part of the recording's description that is missing or damaged"

/* Adds to the samples and the weight of a reason; keeps the first `example`, which may be NULL. */
void lode_recording_add_unresolved(LodeRecording *self, const char *reason, const char *example,
	double samples, double weight);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRecording, lode_recording_free)

/*
 * Adds the samples of another recording to this one, whose executions were counted: columns, rows,
 * objects and the unresolved part. Jumps and ranges of the samples are left out, since counts are
 * better. Strings stay in `samples`, which must live as long.
 */
void lode_recording_add_samples(LodeRecording *self, const LodeRecording *samples);

/* SPDX-License-Identifier: MIT */
/*
 * Executions that were not counted, worked out for one function from its samples and branches.
 * Private to ingest/join/.
 *
 *   samples, ranges, jumps ──▶ measured counts of blocks and edges ──inference──▶ counts that
 *   conserve flow ──▶ rows, jumps and calls as a counting tool would have recorded them
 */
#pragma once

#include "ingest/join/function_code.h"

/* A range, a branch or a step in terms of images. */
typedef struct {
	uint32_t image, target_image; /* of a branch */
	uint64_t first, last;         /* a branch: source, target */
	double count;
	double n_windows; /* of steps: in how many windows */
	double n_hits;    /* likewise: of the count, at breakpoints and samples */
} LodeInferredSpan;

/* The known data of one function; borrowed. Sorted by address; all lie in it or begin in it. */
typedef struct {
	uint32_t image;
	const LodeBinaryFunction *function;
	const LodeJoinSite *sites;
	uint32_t n_sites;
	const LodeInferredSpan *ranges; /* that begin in it */
	uint32_t n_ranges;
	const LodeInferredSpan *branches; /* that leave from it */
	uint32_t n_branches;
	const LodeInferredSpan *entries; /* that lead into it, also from itself; by target */
	uint32_t n_entries;
	const LodeInferredSpan *steps; /* observed step by step, from an instruction of it */
	uint32_t n_steps;
	const LodeInferredSpan *arrivals; /* the same that lead into it; by target */
	uint32_t n_arrivals;
	uint32_t n_called; /* samples in what it called */
} LodeInferredEvidence;

/* From so many on a function with a loop is in the result with all of its code, if it is not too
 * long for them. */
enum { LODE_INFERRED_CALLED = 64 };

/* One instruction of the result. */
typedef struct {
	uint64_t address;
	uint32_t row; /* of the samples' recording; LODE_NONE: no sample */
	double count;
} LodeInferredRow;

typedef struct {
	GArray *rows;              /* LodeInferredRow, by address */
	GArray *jumps;             /* LodeInferredSpan */
	GArray *calls;             /* LodeInferredSpan */
	LodeJoinFunctionCode code; /* of the rows' instructions, where no branch was recorded: those
	                              that were inferred add nothing that decoding did not know */
	bool has_failed;           /* too large to be inferred: rows have the measured counts */
	bool is_relative;          /* not sampled: counts are for one entry of the function */
} LodeInferredFunction;

typedef struct {
	const LodeRecording *recording;
	uint32_t weight_column;
	double unit;         /* of counts, when they are inferred: fine enough for averages */
	double sample;       /* average weight of a sample */
	double branch_scale; /* executions by branch stacks for one unit of weight; 0: no stacks */
	const uint8_t *code; /* of the current function; borrowed */
	size_t code_size;
	LodeInstructionDecoder decoder;
	LodeControlFlow flow;
	GArray *hints, *leaders; /* LodeFlowHint, uint64_t */
	GArray *blocks, *edges;  /* LodeInferenceBlock, LodeInferenceEdge */
	GArray *covered;         /* double: of each instruction, executions by ranges */
	GArray *begun;           /* double: ranges that begin there */
	GArray *is_seen;         /* bool: of each instruction: it was executed step by step */
	double *block_counts, *edge_counts;
	size_t blocks_room, edges_room;
} LodeInferenceScratch;

void lode_inference_scratch_init(LodeInferenceScratch *self, const LodeRecording *recording);
void lode_inference_scratch_clear(LodeInferenceScratch *self);

/* Appends to the arrays of `out`. `code` are the function's bytes. */
void lode_join_infer_function(LodeInferenceScratch *self, const LodeInferredEvidence *evidence,
	const uint8_t *code, size_t size, LodeInferredFunction *out);

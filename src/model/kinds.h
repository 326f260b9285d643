/* SPDX-License-Identifier: MIT */
/* The kinds of what a profile holds, and the words for them. */
#pragma once

#include <stdbool.h>

/* Where execution counts come from; every view says so. */
typedef enum {
	LODE_FREQUENCY_EXACT,    /* counted, each execution (callgrind) */
	LODE_FREQUENCY_SAMPLED,  /* from branch stacks */
	LODE_FREQUENCY_INFERRED, /* completed on the control flow graph */
	LODE_FREQUENCY_GIVEN,    /* taken from a flow file as they stood */
} LodeFrequency;

typedef enum {
	LODE_EVENT_COUNT,    /* the execution count itself: LodeInstruction.count, not in costs */
	LODE_EVENT_RECORDED, /* counted; its values are in costs */
	LODE_EVENT_SAMPLED,  /* estimated from samples, by their periods; likewise in costs */
	LODE_EVENT_DERIVED,  /* Σ factor·other event; never in costs */
} LodeEventKind;

typedef enum {
	LODE_IMAGE_FILE, /* an ELF file */
	LODE_IMAGE_JIT,  /* code made at run time, by a jitdump or perf map: an address is one in
	                    that file, not in memory */
	LODE_IMAGE_UNRESOLVED, /* addresses without a file (code made at run time, an unknown
	                          object) */
	LODE_IMAGE_GRAPHS,     /* the graphs of a flow file */
	LODE_IMAGE_KERNEL,     /* the kernel's code: one instruction stands for each function */
	LODE_IMAGE_PYTHON,     /* from here on scripts: their functions, and a line as an address */
	LODE_IMAGE_PERL,
	LODE_IMAGE_RUBY,
	LODE_IMAGE_JAVA, /* of methods that waited; those that run are in LODE_IMAGE_JIT */
} LodeImageKind;

/* Whether an image is a script: the word for its kind is its language. */
static inline bool lode_image_kind_is_script(LodeImageKind kind)
{
	return kind >= LODE_IMAGE_PYTHON && kind <= LODE_IMAGE_JAVA;
}

typedef enum {
	LODE_FUNCTION_SYMBOL,   /* bounds and name from a symbol table */
	LODE_FUNCTION_UNWIND,   /* bounds from .eh_frame, name made from the address */
	LODE_FUNCTION_RECORDED, /* as the recording tool named it; bounds are what executed */
	LODE_FUNCTION_GIVEN,    /* a graph of a flow file */
} LodeFunctionSource;

typedef enum {
	LODE_EDGE_FALL_THROUGH, /* also: to the instruction after a call, when the call returns */
	LODE_EDGE_TAKEN,        /* conditional branch, taken */
	LODE_EDGE_JUMP,         /* unconditional, direct or indirect */
	LODE_EDGE_CALL,         /* to a callee's entry; never part of a function's own graph */
	LODE_EDGE_RETURN,       /* back from a callee; likewise */
	LODE_EDGE_REPEAT,       /* an instruction with a repeat prefix, to itself */
	LODE_EDGE_GIVEN,        /* of a flow file */
} LodeEdgeKind;

/* Whether values of such an event are in LodeCode.costs. */
static inline bool lode_event_kind_has_costs(LodeEventKind kind)
{
	return kind == LODE_EVENT_RECORDED || kind == LODE_EVENT_SAMPLED;
}

/* The names of enum values as they stand in the store, in JSON and on the screen ("exact", "taken",
 * "symbol"…), and back; the way back gives −1 for an unknown word. */
const char *lode_frequency_to_text(LodeFrequency value);
int lode_frequency_from_text(const char *text);
const char *lode_event_kind_to_text(LodeEventKind value);
int lode_event_kind_from_text(const char *text);
const char *lode_image_kind_to_text(LodeImageKind value);
int lode_image_kind_from_text(const char *text);
const char *lode_function_source_to_text(LodeFunctionSource value);
int lode_function_source_from_text(const char *text);
const char *lode_edge_kind_to_text(LodeEdgeKind value);
int lode_edge_kind_from_text(const char *text);

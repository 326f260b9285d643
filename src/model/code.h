/* SPDX-License-Identifier: MIT */
/*
 * The code that a profile is of and what it cost, as plain arrays that refer to each other by
 * index.
 *
 *   image ─┬─ function ─┬─ block ─── instruction ─┬─ costs (event, value)
 *          │            │                         ├─ attribute set ── attributes
 *          │            └─ edge (source → target) ├─ location (file:line, inlined function)
 *                                                 └─ inlining (call, outer inlining)
 *
 * Instructions are sorted by function and, inside one, by address; what never executed is not here
 * (its bytes are in LodeFunction.code).
 *
 * In a profile made from a flow file a function is a graph, an instruction a vertex, and names
 * stand in place of addresses.
 *
 * Who needs no more of a profile than this includes this header alone.
 */
#pragma once

#include "model/index.h"
#include "model/kinds.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* The event that has the weight of time by the clock: of each sample, its weight ÷ the threads of
 * the recording that ran then. */
#define LODE_LATENCY_EVENT "latency"

/* The description of a timer's event ends so where its user should know how it was sampled; what
 * comes before is a sentence: "perf events are refused here (…): sampled by ptrace, 240 a second".
 */
#define LODE_SAMPLING_END "; in nanoseconds of processor time"

/* Begins the names of the events of time in the kernel at the user instruction that entered it, by
 * what entered, and of their attributes: "kernel:page-fault", "kernel:syscall:write",
 * "kernel:interrupt". The same time is at the kernel's functions, by the event that was sampled. */
#define LODE_KERNEL_EVENTS "kernel:"

typedef struct {
	uint32_t event; /* of any kind but derived */
	double factor;
} LodeEventTerm;

typedef struct LodeEvent {
	char *name;        /* "cycles", "l1d-miss", "D1mr" */
	char *description; /* "first-level data cache read misses"; NULL where nothing is known */
	LodeEventKind kind;
	bool is_attribute; /* gives ev:NAME to the instructions where it happens */
	GArray *terms;     /* of LodeEventTerm; NULL unless derived */
	double total;      /* over the whole recording, also what could not be resolved */
} LodeEvent;

typedef struct LodeImage {
	char *path;     /* as recorded; never NULL */
	char *build_id; /* hex; NULL where there is none */
	LodeImageKind kind;
} LodeImage;

typedef struct LodeFunction {
	uint32_t image;
	LodeFunctionSource source;
	char *name;       /* demangled, for people */
	char *symbol;     /* as linked; NULL when it equals name */
	uint64_t address; /* virtual address in the image's file; 0 in graphs */
	uint64_t size;    /* bytes; 0 in graphs */
	double calls;     /* times entered, as far as the recording knows */
	GBytes *code; /* the function's bytes, so that a profile can be read alone; may be NULL */
	uint32_t first_instruction, n_instructions;
	uint32_t first_block, n_blocks;
} LodeFunction;

typedef struct LodeBlock {
	uint32_t function;
	uint64_t address, end; /* [address, end) in the image */
	double count;          /* executions of its first instruction; 0 when never executed */
	uint8_t loop_depth;    /* of natural loops; 0 = in none */
	bool is_loop_head;
} LodeBlock;

typedef struct LodeInstruction {
	uint64_t address;  /* in the image; the vertex's number in a graph */
	double count;      /* executions */
	double next_count; /* of the edge to the instruction after this one in the array;
	                      −1 without such an edge. Saves a row for most edges. */
	uint32_t function;
	uint32_t block; /* LODE_NONE where no blocks are known */
	uint32_t attribute_set;
	uint32_t location; /* LODE_NONE when unknown */
	uint32_t size;     /* bytes; 0 when unknown */
	char *name;        /* the vertex's id in a flow file, else NULL */
} LodeInstruction;

/* Every edge that is not a next_count. Sorted by (source, target, kind). */
typedef struct LodeEdge {
	uint32_t source, target; /* instructions */
	LodeEdgeKind kind;
	double count;
} LodeEdge;

typedef struct {
	uint32_t event; /* of kind recorded or sampled */
	double value;   /* never 0 */
} LodeCost;

typedef struct LodeLocation {
	char *file;    /* may be NULL */
	uint32_t line; /* from 1; 0 unknown */
	char *inlined; /* the function inlined here (innermost), demangled; NULL: none */
} LodeLocation;

/*
 * Where an inlined function is called. The function that calls it may be inlined too:
 *
 *   instruction   basic_string.h:3587, inlined: operator==
 *     inlining    order.hpp:23, inlined: Cache::find
 *       outer     main.cpp:19, inlined: none, in the function that the instruction is of
 */
typedef struct {
	uint32_t location; /* of the call, with the function that has it */
	uint32_t outer;    /* an earlier inlining; LODE_NONE: that function is not inlined */
} LodeInlining;

enum { LODE_INLINING_MAX_DEPTH = 256 }; /* inlinings in each other */

typedef struct {
	uint32_t first, n; /* a range of LodeCode.set_members */
} LodeAttributeSet;

typedef struct LodeCode {
	GArray *events;        /* LodeEvent */
	uint32_t weight_event; /* default weight */
	GArray *images;        /* LodeImage */
	GArray *functions;     /* LodeFunction, by (image, address) or as given */
	GArray *blocks;        /* LodeBlock, by (function, address) */
	GArray *instructions;  /* LodeInstruction, by (function, address) */
	GArray *edges;         /* LodeEdge */
	GArray *costs;         /* LodeCost, grouped by instruction, by event inside */
	GArray *cost_starts;   /* uint32_t × (instructions + 1): range of costs of instruction i */
	GArray *locations;     /* LodeLocation, no two equal */
	GArray *inlinings;     /* LodeInlining, no two equal */
	GArray *inlining_of;   /* uint32_t of each instruction, LODE_NONE: not inlined; empty: not
	                          known of any */
	GPtrArray *attributes; /* char *: "namespace:value", no two equal */
	GArray *attribute_sets; /* LodeAttributeSet, no two equal */
	GArray *set_members;    /* uint32_t attribute ids, ascending inside a set */

	GHashTable *attribute_ids;     /* private: name → id + 1 */
	GHashTable *attribute_set_ids; /* private */
	GHashTable *location_ids;      /* private */
	GHashTable *inlining_ids;      /* private: (location, outer) → id + 1 */
} LodeCode;

/* Empty arrays. */
void lode_code_init(LodeCode *self);
void lode_code_clear(LodeCode *self);

/* That of a profile, which begins with it. */
static inline const LodeCode *lode_code_of(const LodeProfile *profile)
{
	return (const LodeCode *)(const void *)profile;
}

/* The id of an attribute, added when new. `name` is "namespace:value". */
uint32_t lode_profile_attribute(LodeProfile *self, const char *name);

/* The id of an attribute that the profile has; LODE_NONE: it has none of this name. */
uint32_t lode_profile_find_attribute(const LodeProfile *self, const char *name);

/* The id of the set of these attributes, in any order, repeats allowed; added when new. */
uint32_t lode_profile_attribute_set(LodeProfile *self, const uint32_t *attributes, size_t n);

/* The ids of a set's attributes, ascending, and how many; valid until a set is added. */
static inline const uint32_t *lode_profile_set_members(
	const LodeProfile *self, uint32_t set, uint32_t *out_n)
{
	const LodeAttributeSet *range = &LODE_AT(
		lode_code_of(self)->attribute_sets, LodeAttributeSet, set);

	*out_n = range->n;
	return (const uint32_t *)(const void *)lode_code_of(self)->set_members->data + range->first;
}

static inline const char *lode_profile_attribute_name(const LodeProfile *self, uint32_t attribute)
{
	return (const char *)g_ptr_array_index(lode_code_of(self)->attributes, attribute);
}

/* Whether a set has the attribute of this name. */
bool lode_profile_set_has(const LodeProfile *self, uint32_t set, const char *name);

/* What comes after `prefix` in the first attribute of a set that begins with it; NULL: none does.
 */
const char *lode_profile_set_value(const LodeProfile *self, uint32_t set, const char *prefix);

/* A bit for the attributes that a glob matches. */
typedef struct {
	const char *glob;
	uint16_t mark;
} LodeAttributeMark;

/* The marks of the attributes of each set, by its id; the caller frees them. */
uint16_t *lode_profile_mark_sets(const LodeProfile *self, const LodeAttributeMark *marks, size_t n);

/* The id of a source location, added when new; `file` and `inlined` may be NULL. */
uint32_t lode_profile_location(
	LodeProfile *self, const char *file, uint32_t line, const char *inlined);

/* The id of an inlining, added when new. */
uint32_t lode_profile_inlining(LodeProfile *self, uint32_t location, uint32_t outer);

/* Says where the innermost function inlined at an instruction is called, of those that are there
 * now. */
void lode_profile_set_inlining(LodeProfile *self, uint32_t instruction, uint32_t inlining);

/* That of an instruction; LODE_NONE: nothing is inlined there, or it is not known. */
static inline uint32_t lode_profile_inlining_of(const LodeProfile *self, uint32_t instruction)
{
	return instruction < lode_code_of(self)->inlining_of->len
	               ? LODE_AT(lode_code_of(self)->inlining_of, uint32_t, instruction)
	               : LODE_NONE;
}

/* Adds an event and gives its id. `terms` may be NULL; it is copied. The total is 0. */
uint32_t lode_profile_add_event(LodeProfile *self, const char *name, const char *description,
	LodeEventKind kind, const LodeEventTerm *terms, size_t n_terms);

/* A row by its index, which must be below the array's length; valid until the array grows. */
static inline LodeImage *lode_profile_image(const LodeProfile *self, size_t image)
{
	return &LODE_AT(lode_code_of(self)->images, LodeImage, image);
}

static inline LodeFunction *lode_profile_function(const LodeProfile *self, size_t function)
{
	return &LODE_AT(lode_code_of(self)->functions, LodeFunction, function);
}

static inline LodeBlock *lode_profile_block(const LodeProfile *self, size_t block)
{
	return &LODE_AT(lode_code_of(self)->blocks, LodeBlock, block);
}

static inline LodeInstruction *lode_profile_instruction(const LodeProfile *self, size_t instruction)
{
	return &LODE_AT(lode_code_of(self)->instructions, LodeInstruction, instruction);
}

static inline LodeEvent *lode_profile_event(const LodeProfile *self, size_t event)
{
	return &LODE_AT(lode_code_of(self)->events, LodeEvent, event);
}

/* The id of the event with this name, or LODE_NONE. */
uint32_t lode_profile_find_event(const LodeProfile *self, const char *name);

/* The value of any event, also derived and count, on an instruction. */
double lode_profile_event_value(const LodeProfile *self, uint32_t event, uint32_t instruction);

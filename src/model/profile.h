/* SPDX-License-Identifier: MIT */
/*
 * The nouns of a profile, as plain arrays that refer to each other by index.
 *
 *   image ─┬─ function ─┬─ block ─── instruction ─┬─ costs (event, value)
 *          │            │                         ├─ attribute set ── attributes
 *          │            └─ edge (source → target) ├─ location (file:line, inlined function)
 *                                                 └─ inlining (call, outer inlining)
 *
 * Every recording becomes a profile; the store writes and reads it whole and every analysis starts
 * from it. Instructions are sorted by function and, inside one, by address; what never executed is
 * not here (its bytes are in LodeFunction.code).
 *
 * In a profile made from a flow file a function is a graph, an instruction a vertex, and names
 * stand in place of addresses.
 */
#pragma once

#include "machine/machine_figures.h"
#include "model/index.h"
#include "model/kinds.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeMemory LodeMemory;
typedef struct LodeOriginParts LodeOriginParts;
typedef struct LodeStacks LodeStacks;
typedef struct LodeWaits LodeWaits;
typedef struct LodeWindows LodeWindows;

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
	uint32_t first, n; /* a range of LodeProfile.set_members */
} LodeAttributeSet;

/* Unresolved executions, weight and samples, by reason; nothing is dropped silently. */
typedef struct LodeUnresolved {
	char *reason;  /* "no image file", "no function bounds", "bytes do not decode" … */
	char *example; /* one instance, for the person; may be NULL */
	double count;  /* executions concerned */
	double weight; /* of the profile's weight event */
	uint64_t places;
	double samples; /* or lost records, branch-stack entries…; 0: no such thing is concerned */
} LodeUnresolved;

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

/* The reason of samples that a counting run has nothing for. */
#define LODE_UNRESOLVED_UNCOUNTED "sampled where the counting run executed nothing"

/* The reason of samples in times without records of switches. */
#define LODE_UNRESOLVED_SWITCHES                                                                   \
	"samples while context switches were too many to be recorded: for latency and the times "  \
	"of threads, others stand for them"

/* The reason for samples in code of a run-time compiler that was not told to write it down. */
#define LODE_UNRESOLVED_UNNAMED "sample in code made at run time that no jitdump or perf map knows"

/* The reason of faults after which a block counts to its end, so many times. */
#define LODE_UNRESOLVED_LEFT_HANDLER                                                               \
	"faults whose handler did not return (siglongjmp): the rest of the block counts as "       \
	"executed"

/* Which file a profile was read from or written to, so that its results go into that one. */
typedef struct LodeProfileFile {
	uint64_t device, inode; /* 0: none */
	char content[17];       /* what the file says identifies its content; "": nothing */
} LodeProfileFile;

typedef struct LodeProfile {
	GStringChunk *strings; /* owns every string below */
	LodeProfileFile file;  /* kept by the store */

	char *program; /* the command line; NULL when unknown */
	char *creator; /* "callgrind-3.19.0", "flow file" … */
	char *core;    /* the family of processors whose bounds the loops have: "Zen 3"; NULL: of a
	                  flow file, or an earlier lode */
	double cycles_per_ns;  /* of the processor when the program had ended; 0: unknown */
	LodeMemoryRates rates; /* of the machine, by one thread; 0: not known */
	/* The description of a part (analyses/parts/), "thread worker: 31 % of the weight", and the
	 * options that choose it; NULL: the whole. Not stored. */
	char *part, *part_options;
	LodeFrequency frequency;
	uint32_t weight_event;  /* default weight */
	double n_samples;       /* of that event, also the unresolved; 0: there were none */
	double n_equal_samples; /* lode_profile_equal_samples(); 0: not known */
	/* Processor time of the sampled programs, in their own code and in the kernel; 0 both:
	 * unknown */
	double user_seconds, system_seconds;
	double system_error;    /* lode_profile_system_error(); 0: not known */
	double n_processors;    /* that the program may use; 0: unknown */
	double wall_seconds;    /* from their start to their end; 0: unknown */
	LodeMachineSpeed speed; /* while they ran; runs 0: unknown, as of several recordings */
	bool is_kernel_sampled; /* the time in the kernel too */
	double total_count;     /* Σ of executions, also the unresolved */
	double inflow_checked;  /* executions of instructions whose inflow was compared… */
	double inflow_equal;    /* …and of those where inflow = executions (flow conservation) */

	GArray *events;        /* LodeEvent */
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
	GArray *attribute_sets;        /* LodeAttributeSet, no two equal */
	GArray *set_members;           /* uint32_t attribute ids, ascending inside a set */
	GArray *unresolved;            /* LodeUnresolved */
	LodeMemory *memory;            /* data addresses; NULL: none were recorded */
	LodeStacks *stacks;            /* of samples; NULL: there are none, or they were not read */
	LodeWindows *windows;          /* executed step by step; NULL: none were recorded */
	GArray *loops;                 /* LodeLoop: natural loops that executed */
	GArray *thread_times;          /* LodeThreadTime; empty: no switches were recorded */
	LodeWaits *waits;              /* NULL: nobody looked at threads that wait */
	GArray *origins;               /* LodeOrigin; empty: of a flow file, or lode 0.1.0 */
	LodeOriginParts *origin_parts; /* what each gave; NULL: nothing was merged, or not read */

	GHashTable *attribute_ids;     /* private: name → id + 1 */
	GHashTable *attribute_set_ids; /* private */
	GHashTable *location_ids;      /* private */
	GHashTable *inlining_ids;      /* private: (location, outer) → id + 1 */
} LodeProfile;

/* An empty profile with no events; never NULL. Free with lode_profile_free(). */
LodeProfile *lode_profile_new(void);
void lode_profile_free(LodeProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProfile, lode_profile_free)

/* The profile's own copy of `text`, one for equal texts; NULL for NULL. Valid while it lives. */
char *lode_profile_intern(LodeProfile *self, const char *text);

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
	const LodeAttributeSet *range = &LODE_AT(self->attribute_sets, LodeAttributeSet, set);

	*out_n = range->n;
	return (const uint32_t *)(const void *)self->set_members->data + range->first;
}

static inline const char *lode_profile_attribute_name(const LodeProfile *self, uint32_t attribute)
{
	return (const char *)g_ptr_array_index(self->attributes, attribute);
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
	return instruction < self->inlining_of->len
	               ? LODE_AT(self->inlining_of, uint32_t, instruction)
	               : LODE_NONE;
}

/* Adds an event and gives its id. `terms` may be NULL; it is copied. The total is 0. */
uint32_t lode_profile_add_event(LodeProfile *self, const char *name, const char *description,
	LodeEventKind kind, const LodeEventTerm *terms, size_t n_terms);

/* A row by its index, which must be below the array's length; valid until the array grows. */
static inline LodeImage *lode_profile_image(const LodeProfile *self, size_t image)
{
	return &LODE_AT(self->images, LodeImage, image);
}

static inline LodeFunction *lode_profile_function(const LodeProfile *self, size_t function)
{
	return &LODE_AT(self->functions, LodeFunction, function);
}

static inline LodeBlock *lode_profile_block(const LodeProfile *self, size_t block)
{
	return &LODE_AT(self->blocks, LodeBlock, block);
}

static inline LodeInstruction *lode_profile_instruction(const LodeProfile *self, size_t instruction)
{
	return &LODE_AT(self->instructions, LodeInstruction, instruction);
}

static inline LodeEvent *lode_profile_event(const LodeProfile *self, size_t event)
{
	return &LODE_AT(self->events, LodeEvent, event);
}

/* The id of the event with this name, or LODE_NONE. */
uint32_t lode_profile_find_event(const LodeProfile *self, const char *name);

/* The value of any event, also derived and count, on an instruction. */
double lode_profile_event_value(const LodeProfile *self, uint32_t event, uint32_t instruction);

/* So many samples of equal weight would say as much as those that there are: (Σw)² / Σw², Kish's
 * effective sample size (Survey Sampling, 1965). Where that is not known, their number. */
double lode_profile_equal_samples(const LodeProfile *self);

/* The standard error of system_seconds, and of user_seconds; of a profile that does not say it,
 * that of a proportion of the kernel's ticks of 4 ms. */
double lode_profile_system_error(const LodeProfile *self);

/* Adds to the count, weight and places (by 1) of a reason; `example` is kept from the first time.
 */
void lode_profile_add_unresolved(
	LodeProfile *self, const char *reason, const char *example, double count, double weight);

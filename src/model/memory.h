/* SPDX-License-Identifier: MIT */
/*
 * The data accesses of a recording: which thread accessed which address, at which instruction, and
 * the object there.
 *
 *   thread ──┐                                  ┌─ type, member   (DWARF at the instruction)
 *   event  ──┤                                  ├─ variable       (by address, or on the stack)
 *   instruction ── sample ── address ── object ─┤
 *                    │ rule or reason           ├─ allocation site
 *                    └ time, CPU, node          └─ mapping        (always answers)
 *
 * A sample whose address could not be found has a reason in place of a rule. It may still have an
 * object, from the operand of the access that it is charged to or from the operand's base, although
 * the element is not known. An instruction with two memory operands (string instructions) gives two
 * rows, which share its weight.
 */
#pragma once

#include "model/address_rule.h"
#include "model/data_type.h"
#include "model/process.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	char *name;  /* "malloc@parse.c:120"; "malloc@libfoo.so+0x1234" where there are no lines */
	char *stack; /* the calls that led there, innermost first, " < " between; NULL */
	uint64_t n;  /* allocations, also those that no sample fell into */
	uint64_t n_bytes;
} LodeAllocationSite;

/* Whether an allocation's site may be at a call, or why not. */
typedef enum {
	LODE_CALL_OF_PROGRAM,
	LODE_CALL_IN_RUNTIME,   /* in the C library or a language's, or in code that is not known */
	LODE_CALL_IN_ALLOCATOR, /* in a function whose name is that of an allocator or a container
	                         */
	LODE_CALL_PASSES_SIZE,  /* in one that passes a size of its caller's on to an allocator */
	LODE_CALL_SKIPPED,      /* the user said so */
	LODE_N_CALL_ROLES,
} LodeCallRole;

enum { LODE_ALLOCATION_MAX_DEPTH = 4096 }; /* calls in a path, those inlined too */

/* A call on the way to an allocation. Paths that begin alike, at the allocator, share calls. */
typedef struct {
	char *function; /* that makes the call; NULL: unknown */
	char *place;    /* in it: "parse.c:120"; "libfoo.so+0x1234" where there are no lines; "?" */
	uint32_t
		inner; /* the call that it makes, an earlier row; LODE_NONE: the allocator itself */
	LodeCallRole role;
} LodeAllocationCall;

/* The allocations by one path of calls. */
typedef struct {
	uint32_t site;
	uint32_t call; /* the outermost that is known; LODE_NONE: none is */
	uint64_t n, n_bytes;
	uint64_t n_at_peak, n_bytes_at_peak; /* live when the heap was largest */
	uint64_t n_at_end, n_bytes_at_end;   /* never freed */
	double lifetime_ns;                  /* of those that were freed, added up */
} LodeAllocationPath;

/* The most bytes that were live at a time, since when. Processes count together. */
typedef struct {
	uint64_t n_bytes, time_ns;
} LodeAllocationPeak;

typedef struct {
	uint32_t path;
} LodeAllocationPathOf;

enum { LODE_ACCESS_MAX_DEPTH = 4096 }; /* calls in a path, those inlined too */

/* A call on the way to an access, or the access itself. Paths that begin alike, at main(), share
 * calls. */
typedef struct {
	char *function; /* that makes the call, or accesses; NULL: unknown */
	char *place;    /* as of LodeAllocationCall */
	uint32_t outer; /* what called the function, a row before it; LODE_NONE: not known */
} LodeAccessCall;

typedef struct {
	uint32_t call; /* the access itself; LODE_NONE: no call is known */
} LodeAccessPathOf;

/* An allocation that a sample fell into. */
typedef struct LodeAllocation {
	uint32_t pid, site;
	uint32_t thread; /* that allocated it; LODE_NONE */
	uint64_t address, size;
	uint64_t begin_ns, end_ns; /* end UINT64_MAX: never freed */
} LodeAllocation;

typedef enum {
	LODE_LAYER_TYPE,
	LODE_LAYER_VARIABLE,
	LODE_LAYER_ALLOCATION,
	LODE_LAYER_MAPPING,
	LODE_N_LAYERS,
} LodeObjectLayer;

/* The names of an access by all layers; the first layer that has one gives the name. No two are
 * equal. */
typedef struct {
	char *name; /* "struct node.next", "int counts[]", "malloc@parse.c:120", "[stack]" */
	LodeObjectLayer layer;
	uint32_t type;   /* LODE_NONE */
	uint32_t member; /* index into members; LODE_NONE */
	uint32_t site;   /* LODE_NONE */
	char *variable;  /* NULL */
	char *mapping;   /* its name */
} LodeDataObject;

typedef struct LodeMemorySample {
	double weight;        /* the sample's period, or a share of it */
	uint64_t time_ns;     /* 0: not recorded */
	uint64_t pc;          /* sampled, run-time */
	uint64_t access_pc;   /* of the instruction that accesses; 0: none */
	uint64_t address;     /* run-time; 0 when there is none */
	uint64_t data_source; /* as in PERF_SAMPLE_DATA_SRC; 0: not recorded */
	uint64_t latency;     /* PERF_SAMPLE_WEIGHT; 0: not recorded */
	uint32_t thread;
	uint32_t event;
	uint32_t instruction;        /* sampled; LODE_NONE: unresolved */
	uint32_t access_instruction; /* of access_pc; LODE_NONE: it is none that a sample hit */
	uint32_t access_function;    /* LODE_NONE */
	uint32_t access_location;    /* source line of access_pc; LODE_NONE */
	uint32_t object, mapping, allocation; /* LODE_NONE */
	uint32_t cpu, node;                   /* UINT32_MAX: not recorded */
	uint32_t size;                        /* bytes accessed; 0: unknown */
	uint8_t rule;                         /* LodeAddressRule */
	uint8_t reason;                       /* LodeAddressReason */
	uint8_t access;                       /* LODE_ACCESS_… bits; 0: unknown */
	uint8_t operand;                      /* 0; 1: the second row of the same sample */
	bool is_unverified;                   /* by backward in a function with indirect jumps */
	bool is_next; /* the address is that of the thread's next access: the one that waited,
	                 access_pc, has overwritten its own */
} LodeMemorySample;

/* The store that took the line of a sample away, a miss due to sharing: its thread, and where it
 * stored. */
typedef struct {
	uint32_t sample;             /* that missed */
	uint32_t thread;             /* that stored, as below */
	uint32_t function, location; /* LODE_NONE */
	uint64_t pc;                 /* run-time; 0: not known */
	uint64_t address;            /* of the stored bytes, in the line */
	uint32_t size;               /* bytes, 1 or more */
	uint64_t n;                  /* of the sample's misses */
} LodeLineStore;

/* The object that a sample without an address lies in, by the base of its operand: from its first
 * byte to its last. */
typedef struct {
	uint32_t sample;
	uint64_t start, size; /* run-time; bytes, 1 or more */
} LodeLostRange;

typedef struct LodeMemory {
	GArray *threads;     /* LodeThread, by (pid, ordinal) */
	GArray *mappings;    /* LodeMemoryMapping, by (pid, begin_ns, start) */
	GArray *sites;       /* LodeAllocationSite */
	GArray *allocations; /* LodeAllocation, by (pid, begin_ns, address) */
	GArray *calls;       /* LodeAllocationCall */
	GArray *paths;       /* LodeAllocationPath */
	GArray *site_peaks;  /* LodeAllocationPeak of each site; none: not known */
	GArray *heap_peak;   /* LodeAllocationPeak of all blocks of the heap, or of all mappings
	                        where there is no block; one or none */
	GArray *allocation_paths; /* LodeAllocationPathOf each of the allocations; none: not known
	                           */
	GArray *types;            /* LodeDataType */
	GArray *members;          /* LodeDataMember, grouped by type */
	GArray *objects;          /* LodeDataObject */
	GArray *samples;          /* LodeMemorySample, in the order of the recording */
	GArray *line_stores;      /* LodeLineStore, by sample; none: not known */
	GArray *lost_ranges;      /* LodeLostRange, by sample */
	GArray *pages;            /* LodeMemoryPages, by (pid, time_ns, start) */
	GArray *access_calls;     /* LodeAccessCall */
	GArray *access_paths;     /* LodeAccessPathOf each of the samples; none: no call chains were
	                             recorded */
	bool has_allocations;     /* allocations were recorded */
	bool is_stall_weighted;   /* timer samples: weights are time, not accesses */
	bool has_fixed_addresses; /* recorded without address-space randomisation */
} LodeMemory;

/* That of a profile; NULL: no data addresses were recorded. */
LodeMemory *lode_memory_of(const LodeProfile *profile);

/* Empty; never NULL. Strings belong to the profile. */
LodeMemory *lode_memory_new(void);
void lode_memory_free(LodeMemory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemory, lode_memory_free)

/* Whether the accesses are out of an address trace: their times are then numbers of references in
 * it, from 1, not nanoseconds. */
bool lode_memory_is_traced(const LodeMemory *self);

/* The name of an object or mapping. NULL: it is LODE_NONE, or has none. */
const char *lode_memory_object_name(const LodeMemory *self, uint32_t object);
const char *lode_memory_mapping_name(const LodeMemory *self, uint32_t mapping);

/* "type", "variable", "allocation", "mapping". */
const char *lode_object_layer_to_text(LodeObjectLayer value);
int lode_object_layer_from_text(const char *text);
/* "program", "runtime", "allocator", "passes-size", "skipped". */
const char *lode_call_role_to_text(LodeCallRole value);
int lode_call_role_from_text(const char *text);

/* The event of the accesses that were executed step by step, in windows: samples of accesses, whose
 * weights are never added to those of samples of time. */
#define LODE_WINDOW_ACCESSES "window-accesses"

/* Whether an event of this name counts page faults: "page-faults", "minor-faults", "major-faults"
 * or "faults", with or without a modifier ("page-faults:u"). */
bool lode_is_page_fault_event(const char *name);

/* SPDX-License-Identifier: MIT */
/*
 * A mining run: the sequences that a miner reported from one profile, with their supports and the
 * parameters they were mined with. Made by analyses/mine, kept by the store, shown by the views.
 *
 * A sequence is a list of elements, an element a set of attributes. It is stored as its items in
 * order, an item being an attribute id of the run and whether it starts a new element:
 *
 *   ⟨kind:load ev:l1d-miss⟩ → ⟨op:add⟩   =   [kind:load|START] [ev:l1d-miss] [op:add|START]
 */
#pragma once

#include "base/text/json_stream.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeFindings LodeFindings;
typedef struct LodeProfile LodeProfile;

#define LODE_ITEM_START UINT32_C(0x80000000) /* the item begins a new element */
#define LODE_ITEM_ATTRIBUTE(item) ((item)&UINT32_C(0x7fffffff))

typedef enum {
	LODE_FLOW_POTENTIAL, /* minimum of the counts on the path */
	LODE_FLOW_EXPECTED,  /* first-order Markov */
	LODE_FLOW_DEFINITE,  /* executions that must have gone that way */
} LodeFlowModel;

typedef enum {
	LODE_GRANULARITY_INSTRUCTION,
	LODE_GRANULARITY_BLOCK,
	LODE_GRANULARITY_FUNCTION,
} LodeGranularity;

/* The parameters of mining; docs/reference/mining.md defines the terms. Strings are borrowed until
 * the run copies them.
 */
typedef struct LodeMiningParameters {
	const char *weight;      /* event name; NULL: the profile's default */
	const char *attributes;  /* comma-separated namespaces; NULL: op,kind,mem,ev,at,loop,obj,
	                            needs,address,chain,user; all in a profile of given graphs */
	const char *exclude;     /* comma-separated globs of attributes to drop; NULL: none */
	const char *images;      /* regular expression on image paths; NULL: all */
	const char *functions;   /* regular expression on function names; NULL: all */
	const char *origins;     /* comma-separated globs of origins of a merged profile, or their
	                            numbers; NULL: all */
	double event_rate;       /* ev: needs at least this many events per execution */
	double min_support;      /* τm */
	double min_differential; /* τd; above 1 = off */
	uint32_t min_functions;  /* M */
	uint32_t gap, window;    /* g, w */
	uint32_t iterations;     /* L, the largest size; in instruction mode the largest length */
	LodeFlowModel flow;
	LodeGranularity granularity;
	bool only_closed, only_maximal;
	bool only_findings;     /* sequences are mined when a view requests them */
	uint32_t top;           /* find τm so that at least this many are reported; 0: off */
	uint64_t max_sequences; /* stop, marked incomplete, beyond this many */
	bool is_instruction_mode;
	bool across_calls;     /* edges of calls and returns are edges of the graph */
	double min_count;      /* instruction mode: reported when count > this */
	uint64_t memory_bytes; /* bound on the working memory; 0: half of RAM or of RLIMIT_AS; not
	                          stored */
	unsigned threads;      /* 0: all processors; not stored, the result does not depend on it */
} LodeMiningParameters;

/* The largest size that can be mined. */
#define LODE_SEQUENCE_MAX_ITEMS 64

typedef struct {
	uint64_t first_item; /* into LodeMiningRun.items */
	uint32_t n_items;    /* its size */
	uint32_t places;     /* distinct first vertices */
	uint32_t functions;  /* graphs with an occurrence */
	double weight;       /* weight support, 0 … 1 */
	double frequency;    /* frequency support, 0 … 1 */
	double executions;
	double count; /* instruction mode: number of occurrences; else 0 */
} LodeSequence;

typedef struct LodeMiningRun {
	char *name;
	LodeMiningParameters parameters; /* strings owned by the run */
	bool is_complete;                /* false: stopped at max_sequences */
	double seconds;                  /* time it took; kept in the store, never compared */
	GPtrArray *attributes;           /* char *: attribute names, by byte order */
	GPtrArray *events;               /* char *: names of the columns of event_supports */
	GArray *items;                   /* uint32_t */
	GArray *sequences;               /* LodeSequence; id of sequence i is i + 1 */
	GArray *event_supports; /* double [sequences × events]: shares of E*, in instruction
	                           mode totals */
	LodeFindings *findings; /* NULL: of a run of instruction sequences, or of one by an
	                           earlier version */
} LodeMiningRun;

/* The parameters' defaults. */
void lode_mining_parameters_init(LodeMiningParameters *self);

/*
 * The default of min_support for a profile that is mined by `weight` (NULL: its own): 1 %, and
 * where that event was sampled the share of ten samples, when it is more. Fewer samples of a
 * sequence are chance.
 */
double lode_mining_default_support(const LodeProfile *profile, const char *weight);

/* An empty run; copies `name` and the parameters' strings. */
LodeMiningRun *lode_mining_run_new(const char *name, const LodeMiningParameters *parameters);
void lode_mining_run_free(LodeMiningRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMiningRun, lode_mining_run_free)

/* max(Sw, Sf), |Sw − Sf| and Sw − Sf. */
double lode_sequence_maximal(const LodeSequence *self);
double lode_sequence_differential(const LodeSequence *self);
double lode_sequence_excess(const LodeSequence *self);

/*
 * Rounds the shares of weight and events to whole units of 1e-8, as the store keeps them, so that a
 * run is the same before it is stored and after it is read. Frequencies stay, as the cost of what
 * is rare is a weight by a small one; and totals of instruction sequences.
 */
#define LODE_SHARE_UNITS 1e8
void lode_mining_run_round(LodeMiningRun *self);

/* The items of sequence `index`; its n_items long, borrowed. */
const uint32_t *lode_mining_run_items(const LodeMiningRun *self, size_t index);

/* Where the element that starts at item `i` ends: the next start, or n. */
static inline uint32_t lode_sequence_element_end(const uint32_t *items, uint32_t n, uint32_t i)
{
	for (i++; i < n && (items[i] & LODE_ITEM_START) == 0; i++)
		;
	return i;
}

/* "⟨load l1d-miss⟩ → ⟨add⟩": attributes without namespace where that leaves no doubt (op kind mem
 * ev), with it otherwise. The caller frees it. */
char *lode_mining_run_sequence_text(const LodeMiningRun *self, size_t index);

/* [["ev:l1d-miss","kind:load"],["op:add"]]: a list of elements, each a list of whole names. */
void lode_mining_run_sequence_json(const LodeMiningRun *self, size_t index, LodeJsonStream *json);

/* The names of enum values in the store and on the command line, and back (−1: unknown word). */
const char *lode_flow_model_to_text(LodeFlowModel value);
int lode_flow_model_from_text(const char *text);
const char *lode_granularity_to_text(LodeGranularity value);
int lode_granularity_from_text(const char *text);

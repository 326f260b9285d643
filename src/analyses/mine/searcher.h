/* SPDX-License-Identifier: MIT */
/*
 * The state of one worker of the miner in the depth-first search.
 *
 *   level 0   every place where a first element can be          ┐ a level: candidates (paths that
 *   level 1   …paths from one pattern of level 0, one element   │ end in a place for the level's
 *   level 2   …                                        longer   ┘ element), grouped by class
 *
 * A *pattern* of a level is a set of its groups: the candidates that match one element. Different
 * elements with the same groups ({add}, {add, load}…) are one pattern: measured once and searched
 * below once. Its *alternatives* are those elements; the sequences of a pattern at depth k are all
 * combinations of the alternatives of the patterns on the way to it. Private to analyses/mine/.
 */
#pragma once

#include "analyses/mine/search_graph.h"
#include "base/progress.h"

#include <stdatomic.h>

/* A growing array for the hot paths: plain memory, counted against the bound. */
typedef struct {
	void *data;
	size_t n, capacity; /* in items of the buffer's own type */
} LodeBuffer;

/*
 * A path in the search without gaps and windows, one vertex an element. Whole in itself, here and
 * below: to walk the paths of a pattern is to walk memory forward. Records of one level have one
 * size, its path_size.
 */
typedef struct {
	double count;
	double ratio;       /* Σ W/n over its vertices */
	bool has_repeat;    /* some vertex is on it twice */
	bool has_back_edge; /* an edge on it goes to the same or an earlier vertex */
	uint32_t vertices[];
} LodePath;

/* A path in the search with gaps or windows. */
typedef struct {
	double count;
	double ratio;       /* Σ W/n over the matched positions */
	uint64_t matched;   /* bit i: position i lies in a window */
	uint32_t hash;      /* of its vertices */
	uint32_t same;      /* the first member of the level with the same vertices */
	uint32_t group;     /* of its last window, until members are listed */
	uint8_t length;     /* in vertices, at most 64 */
	uint8_t n_matched;  /* positions */
	bool has_back_edge; /* an edge on it goes to the same or an earlier vertex */
	bool is_repeated;   /* other members of the level have the same vertices */
	uint32_t vertices[];
} LodeWindowPath;

/* A slot of the table of paths; path LODE_NONE: empty. */
typedef struct {
	uint32_t hash, path;
} LodePathSlot;

/* A path of a pattern, once, with the positions matched in any way. */
typedef struct {
	uint64_t matched;
	uint32_t candidate;
} LodeMatch;

typedef struct {
	double bound_weight, bound_count; /* no support of its candidates is above these */
	uint32_t class_id, first, n;      /* range of the level's members */
	bool is_wanted;                   /* some element that may pass has it */
} LodeGroup;

typedef struct {
	double weight, frequency, executions;
	uint32_t places, functions;
} LodeSupport;

typedef struct {
	uint64_t hash;
	LodeSupport support;
	size_t events;                  /* into the level's event values, when it passes */
	uint32_t first_group, n_groups; /* range of the level's group lists */
	uint32_t first_alternative;     /* linked by next; LODE_NONE ends; by rising size */
	uint32_t last_alternative;
	uint32_t min_size;
	bool passes;
	bool is_end; /* it is known that no element after it can pass */
} LodePattern;

/* An element that matches a pattern's candidates. */
typedef struct {
	uint32_t first_item, size; /* range of the level's items */
	uint32_t pattern, next;
	uint32_t first_group, n_groups; /* groups that have all its items, minimal there or not */
} LodeAlternative;

/* One item that an element may grow by, and the groups for that; ranges of growth_lists. */
typedef struct {
	uint32_t item;
	uint32_t first_holding, n_holding;   /* groups that hold all items of the grown element */
	uint32_t first_matching, n_matching; /* those of them in whose windows it is minimal */
} LodeChild;

typedef struct {
	LodeBuffer candidates; /* LodePath or LodeWindowPath, in the order they were found; both
	                          with their capacity in bytes */
	size_t path_size;      /* of a path with its vertices */
	size_t n_short;        /* candidates that were there before longer windows */
	LodeBuffer members;    /* uint32_t: candidates by group, ascending inside one */
	LodeBuffer groups;     /* LodeGroup */
	LodeBuffer group_lists, items; /* uint32_t */
	LodeBuffer patterns, alternatives;
	LodeBuffer table;  /* uint32_t: patterns by hash, open addressing */
	LodeBuffer events; /* double */
	uint32_t current;  /* the pattern that the search is below */
	bool may_repeat;   /* two ways of extending may give the same path */
	bool is_ordered;   /* the first n_short candidates and the others are each in the order of
	                      their first vertices */
} LodeLevel;

/* Shared by all workers of one run. */
typedef struct {
	const LodeSearchGraph *graph;
	const LodeMiningParameters *parameters;
	const LodeProgress *progress;
	bool uses_windows; /* or gaps: candidates are LodeWindowPath */
	size_t memory_limit;
	atomic_size_t memory_used;
	atomic_int stop; /* a LodeErrorCode + 1 */
	LodeLevel *root; /* level 0, read by all once it is built */
} LodeSearch;

/* Σ counts of a pattern's paths by vertex, and which vertices have any. */
typedef struct {
	double *sums;       /* [n_vertices], 0 where a vertex is not listed */
	uint32_t *vertices; /* [n_vertices + 1] */
	size_t n;
} LodeVertexSums;

/* A reported sequence of a worker: codes, an item's code being item + 1, + n_items at a start. */
/* Of the groups that have an item, [n_items] each. */
typedef struct {
	double *weight, *count; /* bounds */
	uint32_t *groups, *matching;
} LodeItemSums;

typedef struct {
	uint64_t first_code;
	uint32_t n_codes, support;
} LodeFound;

/* Bounds of elements of two items, and which may pass. Items are below 64. */
typedef struct {
	double weight[64][64], count[64][64]; /* by the lesser item */
	uint64_t elements;                    /* lesser items visited */
	uint64_t partners[64];                /* greater items with which they may pass */
} LodePairs;

typedef struct {
	LodeSearch *search;
	LodeVertexSums matched; /* of the paths that match the vertex… */
	LodeVertexSums firsts;  /* …and of those that start there */
	LodeSupport taken;      /* of the blocks that are summed up, not yet divided by totals */
	double *taken_events;   /* [n_events], likewise, of vertices with a value of their own… */
	double *taken_counts;   /* …and the executions of these */
	uint32_t *graph_stamps; /* [n_graphs] */
	uint32_t stamp;
	uint32_t *class_groups; /* [n_classes] class → group + 1 of the level being made, 0: none
	                           yet, LODE_NONE: no element may grow in its windows */
	LodeItemSums items;
	LodePairs *pairs;  /* while longer windows are visited; NULL with more than 64 items */
	LodeLevel *root;   /* level 0: the shared one, or a copy with its own current */
	LodeLevel *levels; /* [iterations]; [0] unused */
	uint32_t below;    /* the pattern of the root that level 1 is below; LODE_NONE: of none */
	LodeBuffer growth_children, growth_lists; /* LodeChild, uint32_t: scratch of patterns.c */
	LodeBuffer path_table; /* LodePathSlot: paths of the level being made, open addressing */
	LodeBuffer path_slots; /* uint32_t: where a path was put last when joining repeated ones */
	LodeBuffer gathered;   /* uint32_t: candidates of a pattern… */
	bool is_in_order;      /* …in the order of their first vertices */
	LodeBuffer merged;     /* uint32_t: scratch of gathering */
	LodeBuffer marks;      /* uint64_t, all 0: a bit for each candidate, for sorting */
	LodeBuffer rejected;   /* uint32_t: classes whose class_groups is LODE_NONE */
	LodeBuffer matches;    /* LodeMatch: the paths of a pattern */
	LodeBuffer supports;   /* LodeSupport of the reported patterns */
	LodeBuffer event_supports; /* double, beside supports */
	LodeBuffer codes;          /* uint32_t */
	LodeBuffer sequences;      /* LodeFound */
	size_t task_start;         /* sequences when the task began, for --max-sequences */
	atomic_size_t n_seen;      /* sequences, for other threads */
} LodeSearcher;

/* Makes room for `n` items of `item_size` bytes; false (and the search stops) beyond the memory
 * bound. */
bool lode_buffer_reserve(LodeSearch *search, LodeBuffer *self, size_t n, size_t item_size);
void lode_buffer_clear(LodeSearch *search, LodeBuffer *self, size_t item_size);

/* An item of the buffer; there is no check of the index. */
#define LODE_BUFFER_AT(buffer, type, index) (((type *)(buffer)->data)[index])

/* Makes room for `more` items after those there are; as lode_buffer_reserve(). */
static inline bool lode_buffer_has_room(
	LodeSearch *search, LodeBuffer *self, size_t more, size_t item_size)
{
	return self->n + more <= self->capacity ||
	       lode_buffer_reserve(search, self, self->n + more, item_size);
}

/* Sets up a search with no root yet; nothing is allocated. All arguments are borrowed. */
void lode_search_init(LodeSearch *self, const LodeSearchGraph *graph,
	const LodeMiningParameters *parameters, const LodeProgress *progress);

LodeSearcher *lode_searcher_new(LodeSearch *search);
void lode_searcher_free(LodeSearcher *self);
static inline LodeLevel *lode_searcher_level(const LodeSearcher *self, uint32_t depth)
{
	return depth == 0 ? self->root : &self->levels[depth];
}
void lode_level_clear(LodeSearch *search, LodeLevel *self);

/*
 * Candidates are first added to the bounds of their class's group (n, bound_weight, bound_count);
 * then it is known which groups have an element that may pass, and the candidates of those alone
 * become members. Without gaps and windows a second walk over the same paths makes them: such a
 * path costs less to find again than to keep.
 */

/* The group of a class in the level being made; a new one when it is the first. NULL: no memory. */
LodeGroup *lode_level_group_of(LodeSearcher *self, LodeLevel *level, uint32_t class_id);

/* Sums the groups' bounds by item, in item_weight and item_count. */
void lode_level_bound_items(LodeSearcher *self, const LodeLevel *level);

/* Marks the groups that have an item that may pass as wanted. */
void lode_level_mark_passing(LodeSearcher *self, LodeLevel *level);

/* Makes room for the candidates, of `size` bytes, and the members of the wanted groups from
 * `first_group` on, after those there are. */
bool lode_level_make_room(LodeSearcher *self, LodeLevel *level, size_t first_group, size_t size);

/* The group of a class when it is wanted, NULL otherwise. */
static inline LodeGroup *lode_level_wanted_group(
	const LodeSearcher *self, const LodeLevel *level, uint32_t class_id)
{
	uint32_t known = self->class_groups[class_id];

	return known != 0 ? &LODE_BUFFER_AT(&level->groups, LodeGroup, known - 1) : NULL;
}

/* Notes that the candidate is in the group, which has room for it. */
static inline void lode_level_add_member(LodeLevel *level, LodeGroup *group, size_t candidate)
{
	LODE_BUFFER_AT(&level->members, uint32_t, group->first + group->n++) = (uint32_t)candidate;
}

/* Makes room for the members of the wanted groups from `first_group` on, after those there are, and
 * ends the making of the groups. */
bool lode_level_list_groups(LodeSearcher *self, LodeLevel *level, size_t first_group);

/* Notes, until lode_level_finish(), that windows of the class are of no use. */
bool lode_searcher_reject(LodeSearcher *self, uint32_t class_id);

/* Ends the making of groups: no class has one under way any more, and none is rejected. */
void lode_level_finish(LodeSearcher *self, const LodeLevel *level, size_t first_group);

/*
 * Gathers the candidates of a pattern of the level into `gathered`: in the order they were found
 * where they are many, so that walking them walks memory forward.
 */
bool lode_level_gather(LodeSearcher *self, const LodeLevel *level, const LodePattern *pattern);

/* Whether sums below these bounds may still pass. */
bool lode_search_may_pass(const LodeSearch *search, double weight, double count);

/* Whether there may be a path below these bounds, and it may pass. */
static inline bool lode_search_may_occur(const LodeSearch *search, double weight, double count)
{
	return count > 0 && lode_search_may_pass(search, weight, count);
}

/* path_extension.c, window_extension.c: fill a level from a pattern of the one above (depth ≥ 1) or
 * from the graph; measure a pattern of a level. */
bool lode_paths_start(LodeSearcher *self, LodeLevel *root);
bool lode_paths_extend(LodeSearcher *self, uint32_t depth);
void lode_paths_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern);
bool lode_windows_start(LodeSearcher **workers, unsigned n_workers, LodeLevel *root);
/* By windows of one vertex, with room for longer ones when `max_size` > 1. */
bool lode_windows_extend(LodeSearcher *self, uint32_t depth, uint32_t max_size);
void lode_windows_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern);

/*
 * Adds windows of several vertices to a level that was made with those of one: first the groups
 * where elements of one item (`elements`, as bits) may grow, and their bounds; once the caller has
 * marked the wanted ones from `first_group` on, the candidates of these, found again. Most windows
 * are in groups of their own or nearly so; what two items may have together in all of them is
 * bounded first, where there is room for all pairs, so that few groups are made.
 */
bool lode_windows_bound_longer(LodeSearcher *self, uint32_t depth, uint64_t elements);
bool lode_windows_fill_longer(LodeSearcher *self, uint32_t depth, size_t first_group);

/*
 * Reads at scattered addresses that are known ahead are prefetched this many items early, so that
 * many reads wait for memory at the same time.
 */
enum { LODE_READ_AHEAD = 16 };

/* Prefetches the memory at the address. gcc treats a function that does nothing else as one without
 * effect, and leaves out its calls, unless it contains something volatile. */
static inline void lode_prefetch(const void *address)
{
	__builtin_prefetch(address);
	__asm__ volatile("");
}

/*
 * Adds one path's count, above 0, to a vertex. The vertex is written to the list whether it is
 * there already or not, since a processor cannot predict which; the list has room for one too many.
 */
static inline void lode_vertex_sums_add(LodeVertexSums *self, uint32_t vertex, double count)
{
	double before = self->sums[vertex];

	self->sums[vertex] = before + count;
	self->vertices[self->n] = vertex;
	self->n += before == 0;
}

/* Adds up, in item_weight and item_count, the bounds of the first items that may follow the
 * candidates of a group of the root. */
bool lode_windows_bound_next(LodeSearcher *self, const LodeGroup *group);

/* root_ends.c: marks the patterns of the root that no element can follow, in a search with gaps or
 * windows. */
void lode_root_mark_ends(LodeLevel *root, LodeSearcher **workers, unsigned n_workers);

/* measure.c: adds `matched` and `firsts` to `taken`, and empties them. The caller calls it for each
 * block when all of its paths are in. */
void lode_sums_take(LodeSearcher *self);

/* The vertex after the block of `vertex`. */
static inline uint32_t lode_searcher_block_end(const LodeSearcher *self, uint32_t vertex)
{
	const LodeSearchGraph *graph = self->search->graph;

	return graph->block_ends[graph->vertices[vertex].graph];
}

/* measure.c: the support of a pattern, whether it passes, and its event supports, for which the
 * level has room at pattern->events. */
void lode_pattern_measure(LodeSearcher *self, uint32_t depth, LodePattern *pattern);

/* The same of all patterns of the root while they are of one item each, in one walk over the
 * vertices, each of which has such a window at all of its executions. `item_patterns`: the pattern
 * of each item, but LODE_NONE where that is another item's too. */
void lode_items_measure(LodeSearcher *self, LodeLevel *root, const uint32_t *item_patterns);

/* patterns.c: finds the elements of a level that pass, of at most `max_size` items, as patterns
 * with alternatives. `workers` (may be NULL) share the measuring of the root. */
bool lode_patterns_find(LodeSearcher *self, uint32_t depth, uint32_t max_size,
	LodeSearcher **workers, unsigned n_workers);

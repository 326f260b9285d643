/* SPDX-License-Identifier: MIT */
/*
 * Comparing all pairs of a million sequences would take hours. For --closed only sequences of the
 * same supports need to be compared: so the sequences are sorted by these first. Among those,
 * nearly all that are not closed lack a single item of another: they are found in a hash table of
 * each sequence without each of its items. The rest is compared, from the largest on, with the
 * closed ones that have its rarest attribute. For --maximal the parts of each sequence are looked
 * up in the tree of all prefixes: there are few ways down that leave out few of its items. Where
 * that takes too long for a sequence, others are compared with it.
 */
#include "analyses/mine/closed.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "base/error.h"
#include "model/index.h"
#include "model/mining_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both elements are sorted. */
static bool is_subset(
	const uint32_t *small, uint32_t n_small, const uint32_t *large, uint32_t n_large)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i < n_small; i++, j++) {
		uint32_t wanted = LODE_ITEM_ATTRIBUTE(small[i]);
		while (j < n_large && LODE_ITEM_ATTRIBUTE(large[j]) < wanted)
			j++;
		if (j == n_large || LODE_ITEM_ATTRIBUTE(large[j]) != wanted)
			return false;
	}
	return true;
}

/* Whether the elements of the first sequence, in order, are contained in distinct elements of the
 * second; `items` as in LodeMiningRun. True for equal ones. */
static bool is_contained(const uint32_t *items, uint32_t n, const uint32_t *in_items, uint32_t in_n)
{
	uint32_t at = 0;

	/* The earliest element that holds it leaves most room for the rest. */
	for (uint32_t i = 0; i < n;) {
		uint32_t end = lode_sequence_element_end(items, n, i);
		bool is_found = false;
		while (at < in_n && !is_found) {
			uint32_t in_end = lode_sequence_element_end(in_items, in_n, at);
			is_found = is_subset(items + i, end - i, in_items + at, in_end - at);
			at = in_end;
		}
		if (!is_found)
			return false;
		i = end;
	}
	return true;
}

/* A bit for each attribute: where one is missing in another's signature, that one cannot contain
 * it, which saves comparing their items. */
static uint64_t signature_of(const uint32_t *items, uint32_t n)
{
	uint64_t signature = 0;

	for (uint32_t i = 0; i < n; i++)
		signature |= LODE_BIT(lode_hash_slot(LODE_ITEM_ATTRIBUTE(items[i]), 6));
	return signature;
}

enum { MAX_LOOK_UPS = 1 << 18 }; /* for one sequence; nearly none needs as many */

typedef struct {
	double weight, frequency;
	uint64_t signature;
	uint32_t index, n_items;
	const uint32_t *items;
} Ranked;

static Ranked rank(const LodeMiningRun *run, uint32_t index)
{
	const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, index);
	const uint32_t *items = lode_mining_run_items(run, index);

	return (Ranked){one->weight, one->frequency, signature_of(items, one->n_items), index,
		one->n_items, items};
}

LODE_ORDER(compare_by_weight, Ranked, LODE_ASCENDING(weight), LODE_ASCENDING(index))

static bool is_proper_super(const Ranked *large, const Ranked *small)
{
	return large->n_items > small->n_items && (small->signature & ~large->signature) == 0 &&
	       is_contained(small->items, small->n_items, large->items, large->n_items);
}

static const double same = 1e-9;

static bool has_same_supports(const Ranked *a, const Ranked *b)
{
	return fabs(a->weight - b->weight) <= same && fabs(a->frequency - b->frequency) <= same;
}

LODE_ORDER(compare_by_frequency, Ranked, LODE_ASCENDING(frequency), compare_by_weight(left, right))

LODE_ORDER(compare_by_size, Ranked, LODE_DESCENDING(n_items), compare_by_weight(left, right))

/*
 * How many from `all` on differ from their neighbours by no more than counts as equal. Two that are
 * equal are always in one run, since those between them are closer still; the ends of a run may
 * differ by more, so each pair is compared again.
 */
static uint32_t weight_run(const Ranked *all, uint32_t n)
{
	uint32_t end = 1;

	while (end < n && all[end].weight - all[end - 1].weight <= same)
		end++;
	return end;
}

static uint32_t frequency_run(const Ranked *all, uint32_t n)
{
	uint32_t end = 1;

	while (end < n && all[end].frequency - all[end - 1].frequency <= same)
		end++;
	return end;
}

/* Whether all supports of a run are equal, not only those of neighbours. */
static bool is_uniform(const Ranked *all, uint32_t n)
{
	double least_weight = all[0].weight, most_weight = all[0].weight;

	for (uint32_t i = 1; i < n; i++) {
		least_weight = MIN(least_weight, all[i].weight);
		most_weight = MAX(most_weight, all[i].weight);
	}
	return most_weight - least_weight <= same &&
	       all[n - 1].frequency - all[0].frequency <= same;
}

/* Between two sequences, whether to go on: comparing one with all others takes milliseconds. */
static bool go_on(const LodeProgress *progress, uint32_t done, uint32_t n, GError **error)
{
	if (done % 1024 == 0)
		lode_progress_report(progress, "comparing sequences", done, n, NULL);
	if (!lode_progress_is_cancelled(progress))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

/* --- sequences by attribute --- */

/* Positions of sequences in an array of them, by the attributes that they have. */
typedef struct {
	GHashTable *lists; /* attribute → GArray of uint32_t */
} Having;

static void having_init(Having *self)
{
	self->lists = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
}

static void having_clear(Having *self)
{
	g_clear_pointer(&self->lists, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Having, having_clear)

/* Once for each of its attributes. */
static void having_add(Having *self, const Ranked *all, uint32_t at)
{
	for (uint32_t i = 0; i < all[at].n_items; i++) {
		void *attribute = GUINT_TO_POINTER(LODE_ITEM_ATTRIBUTE(all[at].items[i]));
		GArray *list = g_hash_table_lookup(self->lists, attribute);
		if (list == NULL) {
			list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_hash_table_insert(self->lists, attribute, list);
		}
		if (list->len == 0 || g_array_index(list, uint32_t, list->len - 1) != at)
			g_array_append_val(list, at);
	}
}

/* The fewest of those added that have one of its attributes; each that contains it is among them.
 * NULL: there is none. */
static const GArray *having_rarest(const Having *self, const Ranked *one)
{
	const GArray *fewest = NULL;

	for (uint32_t i = 0; i < one->n_items; i++) {
		void *attribute = GUINT_TO_POINTER(LODE_ITEM_ATTRIBUTE(one->items[i]));
		const GArray *next = g_hash_table_lookup(self->lists, attribute);
		if (next == NULL)
			return NULL;
		fewest = fewest == NULL || next->len < fewest->len ? next : fewest;
	}
	return fewest;
}

/* --- closed ones --- */

/* Sequences by their items: open addressing, at most half full. */
typedef struct {
	const Ranked *all;
	uint32_t *slots; /* position in `all` + 1; 0: free */
	unsigned bits;
} ItemTable;

static uint64_t item_slot(const ItemTable *self, const uint32_t *items, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 0; i < n; i++)
		hash = lode_hash_append(hash, items[i]);
	return lode_hash_slot(hash, self->bits);
}

static void item_table_fill(ItemTable *self, const Ranked *all, uint32_t n)
{
	self->all = all;
	self->bits = g_bit_storage(2 * (gulong)n);
	self->slots = g_new0(uint32_t, (size_t)1 << self->bits);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t slot = item_slot(self, all[i].items, all[i].n_items);
		while (self->slots[slot] != 0)
			slot = (slot + 1) & (((uint64_t)1 << self->bits) - 1);
		self->slots[slot] = i + 1;
	}
}

/* The sequence without item `without`: an element that loses its first item begins with the next,
 * and an element that had only this one is removed. */
static void leave_out(const Ranked *one, uint32_t without, uint32_t *out_items)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < one->n_items; i++)
		if (i != without)
			out_items[n++] = one->items[i];
	if (without < n && (one->items[without] & LODE_ITEM_START) != 0)
		out_items[without] |= LODE_ITEM_START;
}

/* Marks those of the items that are left of `whole`, which have its supports. */
static void mark_rest(
	const ItemTable *table, const Ranked *whole, const uint32_t *rest, bool *is_shortened)
{
	uint32_t n_rest = whole->n_items - 1;
	uint64_t last_slot = ((uint64_t)1 << table->bits) - 1;

	for (uint64_t slot = item_slot(table, rest, n_rest); table->slots[slot] != 0;
		slot = (slot + 1) & last_slot) {
		const Ranked *found = &table->all[table->slots[slot] - 1];
		if (found->n_items == n_rest &&
			memcmp(found->items, rest, n_rest * sizeof(uint32_t)) == 0 &&
			has_same_supports(whole, found))
			is_shortened[table->slots[slot] - 1] = true;
	}
}

/* Marks those that lack one item of another with the same supports. */
static void mark_shortened(const Ranked *all, uint32_t n, bool *is_shortened)
{
	ItemTable table;
	uint32_t most = 0;

	item_table_fill(&table, all, n);
	for (uint32_t i = 0; i < n; i++)
		most = MAX(most, all[i].n_items);
	g_autofree uint32_t *rest = g_new(uint32_t, most + 1);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t without = 0; all[i].n_items > 1 && without < all[i].n_items;
			without++) {
			leave_out(&all[i], without, rest);
			mark_rest(&table, &all[i], rest, is_shortened);
		}
	}
	g_free(table.slots);
}

/*
 * Marks what is closed among sequences that may have equal supports. Goes from the largest to the
 * smallest: a sequence that is contained in any is contained in a closed one, and closed ones are
 * few: every subset of a set of 16 attributes may have the same supports. Sequences that are not
 * closed must be compared, too, only if supports drift, each time by less than counts as equal.
 */
static bool mark_run(
	Ranked *all, uint32_t n, bool *out_is_closed, const LodeProgress *progress, GError **error)
{
	bool has_drift = !is_uniform(all, n);
	g_autofree bool *is_shortened = NULL;
	g_auto(Having) candidates = {NULL};

	if (n == 1) {
		out_is_closed[all[0].index] = true;
		return true;
	}
	qsort(all, n, sizeof(Ranked), compare_by_size);
	is_shortened = g_new0(bool, n);
	mark_shortened(all, n, is_shortened);
	having_init(&candidates);
	for (uint32_t i = 0; i < n; i++) {
		bool is_closed = !is_shortened[i];
		if (!go_on(progress, i, n, error))
			return false;
		const GArray *larger = is_closed ? having_rarest(&candidates, &all[i]) : NULL;
		for (guint j = 0; larger != NULL && j < larger->len && is_closed; j++) {
			const Ranked *large = &all[g_array_index(larger, uint32_t, j)];
			is_closed = !has_same_supports(large, &all[i]) ||
			            !is_proper_super(large, &all[i]);
		}
		out_is_closed[all[i].index] = is_closed;
		if (is_closed || has_drift)
			having_add(&candidates, all, i);
	}
	return true;
}

bool lode_closed_mark(
	const LodeMiningRun *run, bool *out_is_closed, const LodeProgress *progress, GError **error)
{
	uint32_t n = run->sequences->len;
	g_autofree Ranked *all = g_new(Ranked, n + 1);

	for (uint32_t i = 0; i < n; i++)
		all[i] = rank(run, i);
	qsort(all, n, sizeof(Ranked), compare_by_weight);
	for (uint32_t first = 0, n_alike; first < n; first += n_alike) {
		n_alike = weight_run(all + first, n - first);
		qsort(all + first, n_alike, sizeof(Ranked), compare_by_frequency);
		for (uint32_t at = first, n_run; at < first + n_alike; at += n_run) {
			n_run = frequency_run(all + at, first + n_alike - at);
			if (!mark_run(all + at, n_run, out_is_closed, progress, error))
				return false;
		}
	}
	return true;
}

/* --- sequences by their prefixes --- */

/* A child of a node, by its parent and the item after that; node 0: the slot is free. */
typedef struct {
	uint64_t key;
	uint32_t node;
} ChildSlot;

/* The sequences of a run as a tree: a node for each prefix. Node 0 is the root. */
typedef struct {
	GArray *sequences; /* uint32_t: of a node, LODE_NONE where it is only a prefix */
	ChildSlot *slots;  /* open addressing, at most half full */
	unsigned bits;
} PrefixTree;

static void prefix_tree_clear(PrefixTree *self)
{
	g_clear_pointer(&self->sequences, g_array_unref);
	g_clear_pointer(&self->slots, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PrefixTree, prefix_tree_clear)

/* The slot of a child, or the free one where it would be. */
static ChildSlot *child_slot(const PrefixTree *self, uint64_t key)
{
	uint64_t slot = lode_hash_slot(key ^ key >> 29, self->bits);

	while (self->slots[slot].node != 0 && self->slots[slot].key != key)
		slot = (slot + 1) & (((uint64_t)1 << self->bits) - 1);
	return &self->slots[slot];
}

/* The node of the sequence one item longer; 0: none begins so. */
static uint32_t prefix_tree_child(const PrefixTree *self, uint32_t node, uint32_t item)
{
	return child_slot(self, (uint64_t)node << 32 | item)->node;
}

static void grow_children(PrefixTree *self)
{
	PrefixTree larger = {self->sequences, NULL, self->bits + 1};

	larger.slots = g_new0(ChildSlot, (size_t)1 << larger.bits);
	for (size_t i = 0; i < (size_t)1 << self->bits; i++)
		if (self->slots[i].node != 0)
			*child_slot(&larger, self->slots[i].key) = self->slots[i];
	g_free(self->slots);
	*self = larger;
}

static uint32_t add_child(PrefixTree *self, uint32_t node, uint32_t item)
{
	uint32_t known = prefix_tree_child(self, node, item), none = LODE_NONE;

	if (known != 0)
		return known;
	if ((size_t)self->sequences->len * 2 >= (size_t)1 << self->bits)
		grow_children(self);
	uint64_t key = (uint64_t)node << 32 | item;
	*child_slot(self, key) = (ChildSlot){key, self->sequences->len};
	g_array_append_val(self->sequences, none);
	return self->sequences->len - 1;
}

/* In canonical order a sequence comes after its prefixes, and shares one with that before it. */
static void prefix_tree_fill(PrefixTree *self, const LodeMiningRun *run)
{
	uint32_t path[LODE_SEQUENCE_MAX_ITEMS + 1] = {0}, n_last = 0;
	const uint32_t *last = NULL;
	uint32_t none = LODE_NONE;

	self->bits = 10;
	self->slots = g_new0(ChildSlot, (size_t)1 << self->bits);
	self->sequences = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(self->sequences, none);
	for (uint32_t i = 0; i < run->sequences->len; i++) {
		const uint32_t *items = lode_mining_run_items(run, i);
		uint32_t n = g_array_index(run->sequences, LodeSequence, i).n_items, same_items = 0;
		g_assert(n <= LODE_SEQUENCE_MAX_ITEMS);
		while (same_items < MIN(n, n_last) && items[same_items] == last[same_items])
			same_items++;
		for (uint32_t k = same_items; k < n; k++)
			path[k + 1] = add_child(self, path[k], items[k]);
		g_array_index(self->sequences, uint32_t, path[n]) = i;
		last = items;
		n_last = n;
	}
}

/* --- maximal ones --- */

/* A search for the reported parts of a sequence. */
typedef struct {
	const PrefixTree *tree;
	bool *is_part; /* of each sequence of the run */
	const uint32_t *items;
	uint32_t elements[LODE_SEQUENCE_MAX_ITEMS]; /* the number of an item's element */
	uint32_t n_items;
	int n_left; /* items that may still be looked up */
} PartSearch;

/* A prefix of the items that has a node in the tree, and the element that its last item is in. */
typedef struct {
	uint32_t node, element;
} Kept;

/* Keeps an item too; node 0: no sequence begins so. An item whose element lost those before it
 * begins the element. */
static Kept keep_item(PartSearch *self, Kept kept, uint32_t at)
{
	bool is_start = self->elements[at] != kept.element;
	uint32_t item = LODE_ITEM_ATTRIBUTE(self->items[at]) | (is_start ? LODE_ITEM_START : 0);

	self->n_left--;
	return (Kept){prefix_tree_child(self->tree, kept.node, item), self->elements[at]};
}

/*
 * Marks parts of the sequence that have what is kept, and of the items from `first` on, lack as few
 * as they can: what is contained in a marked part is marked when it is that one's turn. False where
 * there is more to look up than may be.
 */
static bool mark_parts(PartSearch *self, Kept kept, uint32_t first)
{
	Kept path[LODE_SEQUENCE_MAX_ITEMS + 1];
	uint32_t n = self->n_items, end = first;

	if (self->n_left <= 0)
		return false;
	path[first] = kept;
	for (; end < n; end++) {
		path[end + 1] = keep_item(self, path[end], end);
		if (path[end + 1].node == 0)
			break;
	}
	uint32_t whole = end == n ? g_array_index(self->tree->sequences, uint32_t, path[n].node)
	                          : LODE_NONE;
	if (whole != LODE_NONE) {
		self->is_part[whole] = true;
		return true;
	}
	/* The first item left out is at most that which cannot be kept. */
	for (uint32_t without = first; without < n && without <= end; without++)
		if (!mark_parts(self, path[without], without + 1))
			return false;
	return true;
}

/* Marks the parts of a sequence; false as above. */
static bool mark_parts_of(PartSearch *self, const Ranked *one)
{
	Kept kept = {0, LODE_NONE};

	self->items = one->items;
	self->n_items = one->n_items;
	self->n_left = MAX_LOOK_UPS;
	for (uint32_t i = 0, element = 0; i < one->n_items; i++) {
		element += (one->items[i] & LODE_ITEM_START) != 0;
		self->elements[i] = element;
	}
	for (uint32_t without = 0; without < one->n_items; without++) {
		if (!mark_parts(self, kept, without + 1))
			return false;
		kept = keep_item(self, kept, without);
	}
	return true;
}

static bool is_in_none(const GArray *candidates, const Ranked *all, const Ranked *one)
{
	for (guint i = 0; candidates != NULL && i < candidates->len; i++)
		if (is_proper_super(&all[g_array_index(candidates, uint32_t, i)], one))
			return false;
	return true;
}

bool lode_maximal_mark(const LodeMiningRun *run, bool *out_is_maximal, const LodeProgress *progress,
	GError **error)
{
	uint32_t n = run->sequences->len;
	g_autofree Ranked *all = g_new(Ranked, n + 1);
	g_autofree bool *is_part = g_new0(bool, n + 1);
	g_auto(PrefixTree) tree = {0};
	g_auto(Having) compared;
	PartSearch search = {.tree = &tree, .is_part = is_part};

	having_init(&compared);
	for (uint32_t i = 0; i < n; i++)
		all[i] = rank(run, i);
	qsort(all, n, sizeof(Ranked), compare_by_size);
	prefix_tree_fill(&tree, run);
	for (uint32_t i = 0; i < n; i++) {
		if (!go_on(progress, i, n, error))
			return false;
		/* Containment is transitive: the parts of a sequence that is itself a part are
		 * marked by the sequence that contains it. */
		bool is_compared = !is_in_none(having_rarest(&compared, &all[i]), all, &all[i]);
		out_is_maximal[all[i].index] = !is_part[all[i].index] && !is_compared;
		if (!is_compared && !mark_parts_of(&search, &all[i]))
			having_add(&compared, all, i);
	}
	return true;
}

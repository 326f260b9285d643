/* SPDX-License-Identifier: MIT */
/* The contents of a range of addresses, by weight of the samples there. */
#include "analyses/memory/cells/cell_contents.h"

#include "analyses/memory/page_faults.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/memory.h"

#include <stdlib.h>

typedef struct {
	uint64_t cell;
	double weight;
	uint32_t thread, object, mapping;
} Row;

struct LodeCellContents {
	GArray *rows; /* Row by (thread, cell, object, mapping), none equal; also thread LODE_NONE
	               */
};

LODE_ORDER(compare_rows, Row, LODE_ASCENDING(thread), LODE_ASCENDING(cell), LODE_ASCENDING(object),
	LODE_ASCENDING(mapping))

/* Equal weights may stand in any order after sorting, so their sum is the same all the same. */
LODE_ORDER(compare_with_weight, Row, compare_rows(left, right), LODE_ASCENDING(weight))

/* Adds up the rows that are equal but for their weights, which follow each other. */
static void join_equal(GArray *rows)
{
	guint kept = 0;

	for (guint i = 0; i < rows->len; i++) {
		const Row *row = &LODE_AT(rows, Row, i);
		if (kept > 0 && compare_rows(&LODE_AT(rows, Row, kept - 1), row) == 0)
			LODE_AT(rows, Row, kept - 1).weight += row->weight;
		else
			LODE_AT(rows, Row, kept++) = *row;
	}
	g_array_set_size(rows, kept);
}

/* The rows of threads, and those of all threads together, in their order. */
static void add_up(GArray *rows)
{
	guint n = rows->len;

	if (n == 0)
		return;
	qsort(rows->data, n, sizeof(Row), compare_rows);
	g_array_set_size(rows, 2 * n);
	for (guint i = 0; i < n; i++) {
		LODE_AT(rows, Row, n + i) = LODE_AT(rows, Row, i);
		LODE_AT(rows, Row, n + i).thread = LODE_NONE;
	}
	qsort(&LODE_AT(rows, Row, n), n, sizeof(Row), compare_with_weight);
	join_equal(rows);
}

/* Rows found by what they are of, so that there is one for each and not one for each sample. */
typedef struct {
	GArray *rows;
	guint *slots;  /* a row's index + 1; 0: free */
	guint n_slots; /* a power of two */
} RowTable;

static guint find_slot(const RowTable *self, const Row *row)
{
	uint64_t hash = row->cell * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	hash = (hash ^ row->object) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
	hash = (hash ^ row->mapping ^ (uint64_t)row->thread << 32) *
	       G_GUINT64_CONSTANT(0x94d049bb133111eb);
	guint at = (guint)(hash >> 32) & (self->n_slots - 1);
	while (self->slots[at] != 0 &&
		compare_rows(&LODE_AT(self->rows, Row, self->slots[at] - 1), row) != 0)
		at = (at + 1) & (self->n_slots - 1);
	return at;
}

static void make_room(RowTable *self)
{
	if (self->rows->len + 1 < self->n_slots / 2)
		return;
	self->n_slots = MAX(64, 2 * self->n_slots);
	g_free(self->slots);
	self->slots = g_new0(guint, self->n_slots);
	for (guint i = 0; i < self->rows->len; i++)
		self->slots[find_slot(self, &LODE_AT(self->rows, Row, i))] = i + 1;
}

static void add_row(RowTable *self, const Row *row)
{
	make_room(self);
	guint at = find_slot(self, row);
	if (self->slots[at] != 0) {
		LODE_AT(self->rows, Row, self->slots[at] - 1).weight += row->weight;
		return;
	}
	g_array_append_val(self->rows, *row);
	self->slots[at] = self->rows->len;
}

/* Things that have one name are one thing: objects may differ in what is not shown, such as the
 * mapping that an allocation is in. */
typedef struct {
	uint32_t *objects, *mappings; /* of each the first that has its name */
} Names;

static uint32_t first_named(GHashTable *names, const char *name, uint32_t number)
{
	void *found = name != NULL ? g_hash_table_lookup(names, name) : NULL;

	if (name == NULL || found != NULL)
		return name == NULL ? number : GPOINTER_TO_UINT(found) - 1;
	g_hash_table_insert(names, (char *)name, GUINT_TO_POINTER(number + 1));
	return number;
}

static void names_init(Names *self, const LodeMemory *memory)
{
	g_autoptr(GHashTable) objects = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) mappings = g_hash_table_new(g_str_hash, g_str_equal);

	self->objects = g_new(uint32_t, MAX(memory->objects->len, 1));
	self->mappings = g_new(uint32_t, MAX(memory->mappings->len, 1));
	for (guint i = 0; i < memory->objects->len; i++)
		self->objects[i] = first_named(
			objects, LODE_AT(memory->objects, LodeDataObject, i).name, i);
	for (guint i = 0; i < memory->mappings->len; i++)
		self->mappings[i] = first_named(
			mappings, LODE_AT(memory->mappings, LodeMemoryMapping, i).name, i);
}

static void names_clear(Names *self)
{
	g_free(self->objects);
	g_free(self->mappings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Names, names_clear)

LodeCellContents *lode_cell_contents_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples, uint64_t granularity)
{
	LodeCellContents *self = g_new0(LodeCellContents, 1);
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	const LodeMemory *memory = lode_memory_of(profile);
	g_auto(Names) names = {0};

	names_init(&names, memory);
	self->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	RowTable table = {.rows = self->rows};
	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, samples[i]);
		if (sample->rule == LODE_RULE_NONE || are_faults[sample->event])
			continue;
		Row row = {sample->address & ~(granularity - 1), sample->weight, sample->thread,
			sample->is_next ? LODE_NONE : sample->object, sample->mapping};
		if (row.object < memory->objects->len)
			row.object = names.objects[row.object];
		if (row.mapping < memory->mappings->len)
			row.mapping = names.mappings[row.mapping];
		add_row(&table, &row);
	}
	g_free(table.slots);
	add_up(self->rows);
	return self;
}

void lode_cell_contents_free(LodeCellContents *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_free(self);
}

/* The first row of this thread at or after a cell. */
static guint find_row(const LodeCellContents *self, uint32_t thread, uint64_t cell)
{
	const Row wanted = {.cell = cell, .thread = thread};

	return LODE_PARTITION_POINT(
		self->rows->len, i, compare_rows(&LODE_AT(self->rows, Row, i), &wanted) < 0);
}

LODE_ORDER(heaviest_first, LodeContent, LODE_DESCENDING(weight), LODE_ASCENDING(object),
	LODE_ASCENDING(mapping))

/* The object identifies the content, as its samples may be of two mappings; without an object the
 * mapping does. */
static void *content_key(const Row *row)
{
	return row->object != LODE_NONE
	               ? GSIZE_TO_POINTER((gsize)row->object)
	               : GSIZE_TO_POINTER((gsize)row->mapping + (G_GUINT64_CONSTANT(1) << 32));
}

GArray *lode_cell_contents_between(
	const LodeCellContents *self, uint32_t thread, uint64_t first, uint64_t last)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(LodeContent));
	g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL); /* key → index + 1 */

	for (guint i = find_row(self, thread, first); i < self->rows->len; i++) {
		const Row *row = &LODE_AT(self->rows, Row, i);
		if (row->thread != thread || row->cell > last)
			break;
		guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, content_key(row)));
		if (place != 0) {
			LODE_AT(found, LodeContent, place - 1).weight += row->weight;
			continue;
		}
		LodeContent content = {row->object, row->mapping, row->weight};
		g_array_append_val(found, content);
		g_hash_table_insert(places, content_key(row), GUINT_TO_POINTER(found->len));
	}
	g_array_sort(found, heaviest_first);
	return found;
}

LodeContent lode_cell_contents_main(const LodeCellContents *self, uint32_t thread, uint64_t cell)
{
	LodeContent best = {LODE_NONE, LODE_NONE, 0};
	LodeContent current = best;

	for (guint i = find_row(self, thread, cell); i < self->rows->len; i++) {
		const Row *row = &LODE_AT(self->rows, Row, i);
		if (row->thread != thread || row->cell != cell)
			break;
		bool is_same = row->object != LODE_NONE && row->object == current.object;
		if (is_same)
			current.weight += row->weight;
		else
			current = (LodeContent){row->object, row->mapping, row->weight};
		if (current.weight > best.weight)
			best = current;
	}
	return best;
}

const char *lode_content_mapping_name(const LodeProfile *profile, const LodeContent *content)
{
	const LodeMemory *memory = lode_memory_of(profile);
	const char *name = NULL;

	if (content->mapping < memory->mappings->len)
		name = LODE_AT(memory->mappings, LodeMemoryMapping, content->mapping).name;
	else if (content->object < memory->objects->len)
		name = LODE_AT(memory->objects, LodeDataObject, content->object).mapping;
	return name != NULL ? name : "?";
}

const char *lode_content_name(const LodeProfile *profile, const LodeContent *content)
{
	const char *name = lode_memory_object_name(lode_memory_of(profile), content->object);

	return name != NULL ? name : lode_content_mapping_name(profile, content);
}

/* SPDX-License-Identifier: MIT */
/*
 * Each cache has a column for each kind of reference; what people ask for (misses of the first
 * level, of the last, of TLBs) are sums of these, under the names that such events have elsewhere.
 */
#include "ingest/traced/traced_events.h"

#include "ingest/traced/traced_counts.h"
#include "model/index.h"

enum {
	MISS_CYCLES = 10, /* of a first-level cache and the like, as KCachegrind has it */
	LAST_MISS_CYCLES = 100,
};

/* The verb, of a miss of each kind; a modify misses when it reads. */
static const char *const kind_names[LODE_N_REFERENCE_KINDS] = {
	[LODE_REFERENCE_FETCH] = "fetch",
	[LODE_REFERENCE_LOAD] = "load",
	[LODE_REFERENCE_STORE] = "store",
};

static uint32_t add_column(LodeRecording *self, const char *name, const char *description)
{
	g_ptr_array_add(self->events, g_string_chunk_insert(self->strings, name));
	g_ptr_array_set_size(self->descriptions, (gint)self->events->len - 1);
	g_ptr_array_add(self->descriptions, g_string_chunk_insert(self->strings, description));
	return self->events->len - 1;
}

static uint32_t add_miss_column(LodeRecording *recording, const LodeCache *cache, const char *kind)
{
	g_autofree char *name = g_strdup_printf("sim-%s-%s-miss", cache->name, kind);
	g_autofree char *description = g_strdup_printf("simulated: %s misses of %s%s", kind,
		cache->name, kind[0] == 'l' ? ", also those that modify" : "");

	return add_column(recording, name, description);
}

static void add_cache(
	LodeTracedMisses *self, LodeRecording *recording, const LodeHierarchy *hierarchy, guint i)
{
	const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
	uint32_t *columns = self->columns[i];

	if ((cache->holds & LODE_CACHE_INSTRUCTIONS) != 0)
		columns[LODE_REFERENCE_FETCH] = add_miss_column(
			recording, cache, kind_names[LODE_REFERENCE_FETCH]);
	if ((cache->holds & LODE_CACHE_DATA) == 0)
		return;
	for (int kind = LODE_REFERENCE_LOAD; kind <= LODE_REFERENCE_STORE; kind++)
		columns[kind] = add_miss_column(recording, cache, kind_names[kind]);
	columns[LODE_REFERENCE_MODIFY] = columns[LODE_REFERENCE_LOAD];
}

static uint8_t last_level(const LodeHierarchy *hierarchy)
{
	uint8_t last = 1;

	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (!cache->is_tlb)
			last = MAX(last, cache->level);
	}
	return last;
}

/* Which caches a sum is of, and under what name. */
typedef struct {
	const char *name, *description;
	double cycles;
	uint8_t level;
	bool is_tlb;
	bool has_fetches, has_data;
} SumKind;

static void add_parts(const LodeTracedMisses *self, const LodeHierarchy *hierarchy,
	const SumKind *kind, LodeRecordedSum *sum)
{
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (cache->is_tlb != kind->is_tlb || cache->level != kind->level)
			continue;
		for (int j = LODE_REFERENCE_FETCH; j <= LODE_REFERENCE_STORE; j++) {
			bool is_part = j == LODE_REFERENCE_FETCH ? kind->has_fetches
			                                         : kind->has_data;
			if (is_part && self->columns[i][j] != LODE_NONE &&
				sum->n_columns < LODE_RECORDED_SUM_MAX_PARTS)
				sum->columns[sum->n_columns++] = self->columns[i][j];
		}
	}
}

static void add_sum(LodeTracedMisses *self, LodeRecording *recording,
	const LodeHierarchy *hierarchy, const SumKind *kind)
{
	LodeRecordedSum sum = {
		.name = g_string_chunk_insert_const(recording->strings, kind->name),
		.description = g_string_chunk_insert(recording->strings, kind->description),
		.cycles = kind->cycles,
		.is_attribute = true,
	};

	add_parts(self, hierarchy, kind, &sum);
	if (sum.n_columns == 0)
		return;
	for (guint i = 0; kind->has_data && i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (cache->is_tlb == kind->is_tlb && cache->level == kind->level &&
			self->sums[i] == LODE_NONE)
			self->sums[i] = recording->sums->len;
	}
	g_array_append_val(recording->sums, sum);
}

static void add_middle_level(LodeTracedMisses *self, LodeRecording *recording,
	const LodeHierarchy *hierarchy, uint8_t level)
{
	g_autofree char *name = g_strdup_printf("l%u-miss", level);
	g_autofree char *description = g_strdup_printf("level %u cache misses, simulated", level);
	const SumKind kind = {name, description, MISS_CYCLES, level, false, true, true};

	add_sum(self, recording, hierarchy, &kind);
}

static void add_sums(
	LodeTracedMisses *self, LodeRecording *recording, const LodeHierarchy *hierarchy)
{
	uint8_t last = last_level(hierarchy);
	const SumKind first_kinds[] = {
		{"l1i-miss", "first-level instruction cache misses, simulated", MISS_CYCLES, 1,
			false, true, false},
		{"l1d-miss", "first-level data cache misses, simulated", MISS_CYCLES, 1, false,
			false, true},
	};
	const SumKind last_kinds[] = {
		{"ll-miss", "last-level cache misses, simulated", LAST_MISS_CYCLES, last, false,
			true, true},
		{"itlb-miss", "first-level instruction TLB misses, simulated", MISS_CYCLES, 1, true,
			true, false},
		{"dtlb-miss", "first-level data TLB misses, simulated", MISS_CYCLES, 1, true, false,
			true},
		{"stlb-miss", "second-level TLB misses, simulated", MISS_CYCLES, 2, true, true,
			true},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(first_kinds); i++)
		add_sum(self, recording, hierarchy, &first_kinds[i]);
	for (uint8_t level = 2; level < last; level++)
		add_middle_level(self, recording, hierarchy, level);
	for (size_t i = 0; i < G_N_ELEMENTS(last_kinds); i++)
		add_sum(self, recording, hierarchy, &last_kinds[i]);
}

/* Why data misses the first level. They have no cycles: the misses themselves have. */
static void add_classes(LodeTracedMisses *self, LodeRecording *recording)
{
	static const struct {
		const char *column, *name, *description;
	} classes[LODE_N_MISS_CLASSES] = {
		[LODE_MISS_COMPULSORY] = {"sim-compulsory-miss", "compulsory-miss",
			"first-level data misses of lines never used before, simulated"},
		[LODE_MISS_CAPACITY] = {"sim-capacity-miss", "capacity-miss",
			"first-level data misses for want of room, simulated"},
		[LODE_MISS_CONFLICT] = {"sim-conflict-miss", "conflict-miss",
			"first-level data misses for want of room in a set, simulated"},
		[LODE_MISS_TRUE_SHARING] = {"sim-true-sharing-miss", "true-sharing-miss",
			"first-level data misses as other cores wrote the same bytes, simulated"},
		[LODE_MISS_FALSE_SHARING] = {"sim-false-sharing-miss", "false-sharing-miss",
			"first-level data misses as other cores wrote other bytes of the line, "
			"simulated"},
	};

	for (int i = 0; i < LODE_N_MISS_CLASSES; i++) {
		self->class_columns[i] = add_column(
			recording, classes[i].column, classes[i].description);
		const LodeRecordedSum sum = {
			.name = g_string_chunk_insert_const(recording->strings, classes[i].name),
			.description = g_string_chunk_insert(
				recording->strings, classes[i].description),
			.columns = {self->class_columns[i]},
			.n_columns = 1,
			.is_attribute = true,
		};
		self->class_sums[i] = recording->sums->len;
		g_array_append_val(recording->sums, sum);
	}
}

/* All that the program did to memory. */
static void add_references(LodeRecording *recording)
{
	static char names[][16] = {"references", LODE_TRACED_ACCESSES};
	static char descriptions[][64] = {
		"instructions fetched, and data accesses", "data read, written or both"};
	const LodeRecordedSum sums[] = {
		{
			.name = names[0],
			.description = descriptions[0],
			.columns = {LODE_TRACED_EXECUTIONS, LODE_TRACED_LOADS, LODE_TRACED_STORES,
				LODE_TRACED_MODIFIES},
			.n_columns = LODE_TRACED_N_COLUMNS,
		},
		{
			.name = names[1],
			.description = descriptions[1],
			.columns = {LODE_TRACED_LOADS, LODE_TRACED_STORES, LODE_TRACED_MODIFIES},
			.n_columns = LODE_TRACED_N_COLUMNS - 1,
		},
	};

	g_array_append_vals(recording->sums, sums, G_N_ELEMENTS(sums));
}

void lode_traced_misses_init(LodeTracedMisses *self, LodeRecording *recording,
	const LodeHierarchy *hierarchy, bool classifies)
{
	for (size_t i = 0; i < LODE_N_MISS_CLASSES; i++)
		self->class_columns[i] = self->class_sums[i] = LODE_NONE;
	for (size_t i = 0; i < LODE_HIERARCHY_MAX_CACHES; i++) {
		self->sums[i] = LODE_NONE;
		for (size_t j = 0; j < LODE_N_REFERENCE_KINDS; j++)
			self->columns[i][j] = LODE_NONE;
	}
	add_column(recording, "Ir", "instructions executed");
	add_column(recording, "loads", "data reads");
	add_column(recording, "stores", "data writes");
	add_column(recording, "modifies", "data reads with a write to the same place");
	add_references(recording);
	if (hierarchy == NULL)
		return;
	for (guint i = 0; i < hierarchy->caches->len; i++)
		add_cache(self, recording, hierarchy, i);
	add_sums(self, recording, hierarchy);
	if (classifies)
		add_classes(self, recording);
}

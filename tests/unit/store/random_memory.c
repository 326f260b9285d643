/* SPDX-License-Identifier: MIT */
/* Memory made up for the store's tests: every field, every kind of "none", and its comparison. */
#include "random_memory.h"

#include "model/memory.h"

#include <string.h>

static uint64_t random_word(GRand *rand)
{
	return (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
}

static uint32_t random_index(GRand *rand, const GArray *array)
{
	return (uint32_t)g_rand_int_range(rand, 0, (gint32)array->len);
}

static uint32_t maybe_index(GRand *rand, const GArray *array)
{
	return array->len > 0 && g_rand_boolean(rand) ? random_index(rand, array) : LODE_NONE;
}

static char *random_name(LodeProfile *profile, GRand *rand)
{
	g_autofree char *name = g_strdup_printf("ü'%u", g_rand_int(rand));

	return lode_profile_intern(profile, name);
}

static char *maybe_name(LodeProfile *profile, GRand *rand)
{
	return g_rand_boolean(rand) ? random_name(profile, rand) : NULL;
}

static void add_places(LodeProfile *profile, GRand *rand)
{
	LodeMemory *memory = profile->memory;

	for (int i = 0; i < 4; i++) {
		uint64_t start = random_word(rand), end = random_word(rand);
		LodeThread thread = {g_rand_int(rand), g_rand_int(rand), g_rand_int(rand),
			maybe_name(profile, rand), random_word(rand),
			g_rand_boolean(rand) ? UINT64_MAX : random_word(rand)};
		LodeMemoryMapping mapping = {g_rand_int(rand), g_rand_int(rand), start,
			MAX(start, end), random_word(rand), random_name(profile, rand)};
		LodeAllocationSite site = {random_name(profile, rand), maybe_name(profile, rand),
			random_word(rand), random_word(rand)};
		g_array_append_val(memory->threads, thread);
		g_array_append_val(memory->mappings, mapping);
		g_array_append_val(memory->sites, site);
	}
	for (int i = 0; i < 5; i++) {
		LodeAllocation allocation = {g_rand_int(rand), random_index(rand, memory->sites),
			maybe_index(rand, memory->threads), random_word(rand), random_word(rand),
			random_word(rand), g_rand_boolean(rand) ? UINT64_MAX : random_word(rand)};
		g_array_append_val(memory->allocations, allocation);
	}
	for (uint32_t i = 0; i < 7; i++) {
		LodeAllocationCall call = {maybe_name(profile, rand), random_name(profile, rand),
			maybe_index(rand, memory->calls),
			(LodeCallRole)g_rand_int_range(rand, 0, LODE_N_CALL_ROLES)};
		g_array_append_val(memory->calls, call);
		LodeAllocationPath path = {random_index(rand, memory->sites),
			maybe_index(rand, memory->calls), random_word(rand), random_word(rand),
			random_word(rand), random_word(rand), random_word(rand), random_word(rand),
			g_rand_double(rand)};
		g_array_append_val(memory->paths, path);
	}
	bool has_peaks = g_rand_boolean(rand);
	for (guint i = 0; has_peaks && i < memory->sites->len; i++) {
		LodeAllocationPeak peak = {random_word(rand), random_word(rand)};
		g_array_append_val(memory->site_peaks, peak);
	}
	for (guint i = 0; i < memory->allocations->len; i++) {
		LodeAllocationPathOf of = {random_index(rand, memory->paths)};
		g_array_append_val(memory->allocation_paths, of);
	}
	LodeAllocationPeak heap_peak = {random_word(rand), random_word(rand)};
	g_array_append_val(memory->heap_peak, heap_peak);
}

static void add_types(LodeProfile *profile, GRand *rand)
{
	LodeMemory *memory = profile->memory;

	for (int i = 0; i < 4; i++) {
		uint32_t n = (uint32_t)g_rand_int_range(rand, 0, 4);
		LodeDataType type = {
			random_name(profile, rand), random_word(rand), memory->members->len, n};
		g_array_append_val(memory->types, type);
		for (uint32_t k = 0; k < n; k++) {
			LodeDataMember member = {random_name(profile, rand),
				random_name(profile, rand), random_word(rand), random_word(rand),
				g_rand_int(rand), g_rand_int(rand), random_word(rand),
				random_word(rand)};
			g_array_append_val(memory->members, member);
		}
	}
	for (int i = 0; i < 6; i++) {
		LodeDataObject object = {random_name(profile, rand),
			(LodeObjectLayer)g_rand_int_range(rand, 0, LODE_N_LAYERS),
			maybe_index(rand, memory->types), maybe_index(rand, memory->members),
			maybe_index(rand, memory->sites), maybe_name(profile, rand),
			maybe_name(profile, rand)};
		g_array_append_val(memory->objects, object);
	}
}

static void add_sample(LodeProfile *profile, GRand *rand)
{
	LodeMemory *memory = profile->memory;
	LodeMemorySample sample = {
		.weight = g_rand_double(rand),
		.time_ns = random_word(rand),
		.pc = random_word(rand),
		.access_pc = random_word(rand),
		.address = random_word(rand),
		.data_source = random_word(rand),
		.latency = random_word(rand),
		.thread = random_index(rand, memory->threads),
		.event = random_index(rand, profile->code.events),
		.instruction = maybe_index(rand, profile->code.instructions),
		.access_instruction = maybe_index(rand, profile->code.instructions),
		.access_function = maybe_index(rand, profile->code.functions),
		.access_location = maybe_index(rand, profile->code.locations),
		.object = maybe_index(rand, memory->objects),
		.mapping = maybe_index(rand, memory->mappings),
		.allocation = maybe_index(rand, memory->allocations),
		.cpu = g_rand_boolean(rand) ? UINT32_MAX : g_rand_int(rand),
		.node = g_rand_boolean(rand) ? UINT32_MAX : g_rand_int(rand),
		.size = g_rand_int(rand),
		.rule = (uint8_t)g_rand_int_range(rand, 0, LODE_N_RULES),
		.reason = (uint8_t)g_rand_int_range(rand, 0, LODE_N_REASONS),
		.access = (uint8_t)g_rand_int_range(rand, 0, 4),
		.operand = (uint8_t)g_rand_int_range(rand, 0, 2),
		.is_unverified = g_rand_boolean(rand),
		.is_next = g_rand_boolean(rand),
	};

	g_array_append_val(memory->samples, sample);
}

/* Some profiles have none. */
static void add_access_paths(LodeProfile *profile, GRand *rand)
{
	LodeMemory *memory = profile->memory;

	for (int i = g_rand_int_range(rand, 0, 6); i > 0; i--) {
		LodeAccessCall call = {maybe_name(profile, rand), random_name(profile, rand),
			maybe_index(rand, memory->access_calls)};
		g_array_append_val(memory->access_calls, call);
	}
	for (guint i = 0; memory->access_calls->len > 0 && i < memory->samples->len; i++) {
		const LodeAccessPathOf path = {maybe_index(rand, memory->access_calls)};
		g_array_append_val(memory->access_paths, path);
	}
}

static void add_line_stores(LodeProfile *profile, GRand *rand)
{
	LodeMemory *memory = profile->memory;

	for (uint32_t i = 0; i < 5; i++) {
		const LodeLineStore store = {.sample = 2 * i + (uint32_t)g_rand_boolean(rand),
			.thread = random_index(rand, memory->threads),
			.function = maybe_index(rand, profile->code.functions),
			.location = maybe_index(rand, profile->code.locations),
			.pc = random_word(rand),
			.address = random_word(rand),
			.size = g_rand_int(rand) | 1,
			.n = random_word(rand)};
		g_array_append_val(memory->line_stores, store);
	}
}

static void add_lost_ranges(LodeProfile *profile, GRand *rand)
{
	for (uint32_t i = 0; i < 5; i++) {
		const LodeLostRange range = {
			.sample = 3 * i + (uint32_t)g_rand_int_range(rand, 0, 3),
			.start = random_word(rand) / 2,
			.size = random_word(rand) / 2 + 1};
		g_array_append_val(profile->memory->lost_ranges, range);
	}
}

void random_memory_add(LodeProfile *profile, GRand *rand)
{
	profile->memory = lode_memory_new();
	profile->memory->has_allocations = g_rand_boolean(rand);
	profile->memory->is_stall_weighted = g_rand_boolean(rand);
	profile->memory->has_fixed_addresses = g_rand_boolean(rand);
	add_places(profile, rand);
	add_types(profile, rand);
	for (int i = 0; i < 40; i++)
		add_sample(profile, rand);
	add_access_paths(profile, rand);
	add_line_stores(profile, rand);
	add_lost_ranges(profile, rand);
	for (int i = g_rand_int_range(rand, 0, 4); i > 0; i--) {
		const LodeMemoryPages pages = {.pid = g_rand_int(rand),
			.node = g_rand_int(rand),
			.start = 1,
			.end = random_word(rand) | 1,
			.page_size_bytes = random_word(rand),
			.time_ns = random_word(rand)};
		g_array_append_val(profile->memory->pages, pages);
	}
}

#define assert_same(a, b, field) g_assert_true((a)->field == (b)->field)
#define assert_same_text(a, b, field) g_assert_cmpstr((a)->field, ==, (b)->field)

static void compare_places(const LodeMemory *a, const LodeMemory *b)
{
	for (guint i = 0; i < a->threads->len; i++) {
		const LodeThread *left = &LODE_AT(a->threads, LodeThread, i);
		const LodeThread *right = &LODE_AT(b->threads, LodeThread, i);
		assert_same(left, right, pid);
		assert_same(left, right, tid);
		assert_same(left, right, ordinal);
		assert_same_text(left, right, name);
		assert_same(left, right, begin_ns);
		assert_same(left, right, end_ns);
	}
	for (guint i = 0; i < a->mappings->len; i++) {
		const LodeMemoryMapping *left = &LODE_AT(a->mappings, LodeMemoryMapping, i);
		const LodeMemoryMapping *right = &LODE_AT(b->mappings, LodeMemoryMapping, i);
		assert_same(left, right, pid);
		assert_same(left, right, protection);
		assert_same(left, right, start);
		assert_same(left, right, end);
		assert_same(left, right, begin_ns);
		assert_same_text(left, right, name);
	}
}

static void compare_allocations(const LodeMemory *a, const LodeMemory *b)
{
	for (guint i = 0; i < a->sites->len; i++) {
		const LodeAllocationSite *left = &LODE_AT(a->sites, LodeAllocationSite, i);
		const LodeAllocationSite *right = &LODE_AT(b->sites, LodeAllocationSite, i);
		assert_same_text(left, right, name);
		assert_same_text(left, right, stack);
		assert_same(left, right, n);
		assert_same(left, right, n_bytes);
	}
	for (guint i = 0; i < a->allocations->len; i++) {
		const LodeAllocation *left = &LODE_AT(a->allocations, LodeAllocation, i);
		const LodeAllocation *right = &LODE_AT(b->allocations, LodeAllocation, i);
		assert_same(left, right, pid);
		assert_same(left, right, site);
		assert_same(left, right, thread);
		assert_same(left, right, address);
		assert_same(left, right, size);
		assert_same(left, right, begin_ns);
		assert_same(left, right, end_ns);
	}
}

static void compare_paths(const LodeMemory *a, const LodeMemory *b)
{
	g_assert_cmpuint(a->calls->len, ==, b->calls->len);
	g_assert_cmpuint(a->paths->len, ==, b->paths->len);
	for (guint i = 0; i < a->calls->len; i++) {
		const LodeAllocationCall *left = &LODE_AT(a->calls, LodeAllocationCall, i);
		const LodeAllocationCall *right = &LODE_AT(b->calls, LodeAllocationCall, i);
		assert_same_text(left, right, function);
		assert_same_text(left, right, place);
		assert_same(left, right, inner);
		assert_same(left, right, role);
	}
	/* Numbers alone, without room between them. */
	const GArray *numbers[][2] = {{a->paths, b->paths}, {a->site_peaks, b->site_peaks},
		{a->heap_peak, b->heap_peak}, {a->allocation_paths, b->allocation_paths}};
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		size_t size = g_array_get_element_size((GArray *)numbers[i][0]);
		g_assert_cmpuint(numbers[i][0]->len, ==, numbers[i][1]->len);
		/* of an empty array there is no memory to compare */
		g_assert_true(
			numbers[i][0]->len == 0 || memcmp(numbers[i][0]->data, numbers[i][1]->data,
							   numbers[i][0]->len * size) == 0);
	}
}

static void compare_objects(const LodeMemory *a, const LodeMemory *b)
{
	for (guint i = 0; i < a->types->len; i++) {
		const LodeDataType *left = &LODE_AT(a->types, LodeDataType, i);
		const LodeDataType *right = &LODE_AT(b->types, LodeDataType, i);
		assert_same_text(left, right, name);
		assert_same(left, right, size);
		assert_same(left, right, first_member);
		assert_same(left, right, n_members);
	}
	for (guint i = 0; i < a->members->len; i++) {
		const LodeDataMember *left = &LODE_AT(a->members, LodeDataMember, i);
		const LodeDataMember *right = &LODE_AT(b->members, LodeDataMember, i);
		assert_same_text(left, right, name);
		assert_same_text(left, right, type);
		assert_same(left, right, offset);
		assert_same(left, right, size);
		assert_same(left, right, bit_offset);
		assert_same(left, right, bit_size);
		assert_same(left, right, stride);
		assert_same(left, right, repeats);
	}
	for (guint i = 0; i < a->objects->len; i++) {
		const LodeDataObject *left = &LODE_AT(a->objects, LodeDataObject, i);
		const LodeDataObject *right = &LODE_AT(b->objects, LodeDataObject, i);
		assert_same_text(left, right, name);
		assert_same(left, right, layer);
		assert_same(left, right, type);
		assert_same(left, right, member);
		assert_same(left, right, site);
		assert_same_text(left, right, variable);
		assert_same_text(left, right, mapping);
	}
}

static void compare_sample(const LodeMemorySample *a, const LodeMemorySample *b)
{
	assert_same(a, b, weight);
	assert_same(a, b, time_ns);
	assert_same(a, b, pc);
	assert_same(a, b, access_pc);
	assert_same(a, b, address);
	assert_same(a, b, data_source);
	assert_same(a, b, latency);
	assert_same(a, b, thread);
	assert_same(a, b, event);
	assert_same(a, b, instruction);
	assert_same(a, b, access_instruction);
	assert_same(a, b, access_function);
	assert_same(a, b, access_location);
	assert_same(a, b, object);
	assert_same(a, b, mapping);
	assert_same(a, b, allocation);
	assert_same(a, b, cpu);
	assert_same(a, b, node);
	assert_same(a, b, size);
	assert_same(a, b, rule);
	assert_same(a, b, reason);
	assert_same(a, b, access);
	assert_same(a, b, operand);
	assert_same(a, b, is_unverified);
	assert_same(a, b, is_next);
}

void assert_equal_memories(const LodeMemory *a, const LodeMemory *b)
{
	g_assert_true((a == NULL) == (b == NULL));
	if (a == NULL)
		return;
	assert_same(a, b, has_allocations);
	assert_same(a, b, is_stall_weighted);
	assert_same(a, b, has_fixed_addresses);
	assert_same(a, b, threads->len);
	assert_same(a, b, mappings->len);
	assert_same(a, b, sites->len);
	assert_same(a, b, allocations->len);
	assert_same(a, b, types->len);
	assert_same(a, b, members->len);
	assert_same(a, b, objects->len);
	assert_same(a, b, samples->len);
	assert_same(a, b, pages->len);
	for (guint i = 0; i < a->pages->len; i++) {
		const LodeMemoryPages *left = &LODE_AT(a->pages, LodeMemoryPages, i);
		const LodeMemoryPages *right = &LODE_AT(b->pages, LodeMemoryPages, i);
		assert_same(left, right, pid);
		assert_same(left, right, node);
		assert_same(left, right, start);
		assert_same(left, right, end);
		assert_same(left, right, page_size_bytes);
		assert_same(left, right, time_ns);
	}
	assert_same(a, b, access_calls->len);
	for (guint i = 0; i < a->access_calls->len; i++) {
		const LodeAccessCall *left = &LODE_AT(a->access_calls, LodeAccessCall, i);
		const LodeAccessCall *right = &LODE_AT(b->access_calls, LodeAccessCall, i);
		assert_same_text(left, right, function);
		assert_same_text(left, right, place);
		assert_same(left, right, outer);
	}
	assert_same(a, b, access_paths->len);
	for (guint i = 0; i < a->access_paths->len; i++)
		g_assert_true(LODE_AT(a->access_paths, LodeAccessPathOf, i).call ==
			      LODE_AT(b->access_paths, LodeAccessPathOf, i).call);
	assert_same(a, b, line_stores->len);
	for (guint i = 0; i < a->line_stores->len; i++) {
		const LodeLineStore *left = &LODE_AT(a->line_stores, LodeLineStore, i);
		const LodeLineStore *right = &LODE_AT(b->line_stores, LodeLineStore, i);
		assert_same(left, right, sample);
		assert_same(left, right, thread);
		assert_same(left, right, function);
		assert_same(left, right, location);
		assert_same(left, right, pc);
		assert_same(left, right, address);
		assert_same(left, right, size);
		assert_same(left, right, n);
	}
	assert_same(a, b, lost_ranges->len);
	for (guint i = 0; i < a->lost_ranges->len; i++) {
		const LodeLostRange *left = &LODE_AT(a->lost_ranges, LodeLostRange, i);
		const LodeLostRange *right = &LODE_AT(b->lost_ranges, LodeLostRange, i);
		assert_same(left, right, sample);
		assert_same(left, right, start);
		assert_same(left, right, size);
	}
	compare_places(a, b);
	compare_allocations(a, b);
	compare_paths(a, b);
	compare_objects(a, b);
	for (guint i = 0; i < a->samples->len; i++)
		compare_sample(&LODE_AT(a->samples, LodeMemorySample, i),
			&LODE_AT(b->samples, LodeMemorySample, i));
}

/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording: from perf_event_attr as the file has it, of whatever length, and the
 * ids by which records name their event.
 */
#include "sources/perf_data_reader.h"

#define TRAILER_FIELDS                                                                             \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
		PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static uint64_t reverse_bits(uint64_t value)
{
	uint64_t reversed = 0;

	for (int i = 0; i < 64; i++)
		reversed |= (value >> i & 1) << (63 - i);
	return reversed;
}

/* A big-endian machine counts bit fields from the highest bit: the only one of two bits is
 * turned round by that. */
static uint64_t little_endian_flags(const LodePerfData *self, uint64_t flags)
{
	const uint64_t low = UINT64_C(1) << LODE_PERF_PRECISE_SHIFT, high = low << 1;

	if (!self->is_big_endian)
		return flags;
	flags = reverse_bits(flags);
	return (flags & ~(low | high)) | (flags & low) << 1 | (flags & high) >> 1;
}

LodePerfAttribute lode_perf_data_read_attribute(const LodePerfData *self, LodeByteCursor *cursor)
{
	LodePerfAttribute attribute = {.clock_id = -1};
	LodeByteCursor fields = *cursor;
	uint32_t size;

	attribute.type = lode_byte_cursor_u32(&fields);
	size = lode_byte_cursor_u32(&fields);
	/* The first kernels took 0 for the first size. */
	attribute.size = size == 0 ? LODE_PERF_ATTRIBUTE_MIN_BYTES : size;
	lode_byte_cursor_skip(cursor, attribute.size);
	if (attribute.size < LODE_PERF_ATTRIBUTE_MIN_BYTES)
		cursor->is_overrun = true;
	if (cursor->is_overrun)
		return attribute;
	fields.end = cursor->at;
	attribute.config = lode_byte_cursor_u64(&fields);
	attribute.period = lode_byte_cursor_u64(&fields);
	attribute.sample_type = lode_byte_cursor_u64(&fields);
	attribute.read_format = lode_byte_cursor_u64(&fields);
	attribute.flags = little_endian_flags(self, lode_byte_cursor_u64(&fields));
	lode_byte_cursor_skip(&fields, 4);
	attribute.breakpoint_type = lode_byte_cursor_u32(&fields);
	/* From here on, what a shorter attribute lacks is read as 0. */
	attribute.config1 = lode_byte_cursor_u64(&fields);
	attribute.config2 = lode_byte_cursor_u64(&fields);
	attribute.branch_sample_type = lode_byte_cursor_u64(&fields);
	attribute.user_registers = lode_byte_cursor_u64(&fields);
	lode_byte_cursor_skip(&fields, 4);
	attribute.clock_id = (int32_t)lode_byte_cursor_u32(&fields);
	attribute.interrupt_registers = lode_byte_cursor_u64(&fields);
	return attribute;
}

/* Words before the id in a sample; −1: a sample has none. */
static int find_id_word(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							  PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

/* Words from the id to the end of a trailer, its own with them; −1: a trailer has none. */
static int find_trailer_id_word(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(sample_type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

static bool is_same_layout(const LodePerfLayout *a, const LodePerfLayout *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type &&
	       a->n_user_registers == b->n_user_registers &&
	       a->n_interrupt_registers == b->n_interrupt_registers;
}

/* The id must stand at one place in the samples of all events, or they must all look the same. */
static void place_id(LodePerfData *self, const LodePerfLayout *layout)
{
	const LodePerfLayout *first = &g_array_index(self->layouts, LodePerfLayout, 0);
	int id_word = find_id_word(layout->sample_type);

	if (self->layouts->len == 1) {
		self->id_word = id_word;
		self->trailer_id_word = find_trailer_id_word(layout->sample_type);
		return;
	}
	if (id_word != self->id_word || (id_word < 0 && !is_same_layout(first, layout)))
		self->is_ambiguous = true;
	if (find_trailer_id_word(layout->sample_type) != self->trailer_id_word)
		self->trailer_id_word = -1;
}

static LodePerfLayout make_layout(const LodePerfAttribute *attribute)
{
	LodePerfLayout layout = {
		.sample_type = attribute->sample_type,
		.read_format = attribute->read_format,
		.branch_sample_type = attribute->branch_sample_type,
		.n_user_registers = (unsigned)__builtin_popcountll(attribute->user_registers),
		.n_interrupt_registers = (unsigned)__builtin_popcountll(
			attribute->interrupt_registers),
	};

	if (attribute->flags & LODE_PERF_FLAG_SAMPLE_ID_ALL)
		layout.trailer_size = 8 * (unsigned)__builtin_popcountll(
						  attribute->sample_type & TRAILER_FIELDS);
	return layout;
}

void lode_perf_data_add_event(LodePerfData *self, const LodePerfAttribute *attribute)
{
	LodePerfLayout layout = make_layout(attribute);
	LodePerfEvent event = {
		.name = "",
		.type = attribute->type,
		.config = attribute->config,
		.sample_type = attribute->sample_type,
		.read_format = attribute->read_format,
		.branch_sample_type = attribute->branch_sample_type,
		.user_registers = attribute->user_registers,
		.interrupt_registers = attribute->interrupt_registers,
		.period_or_frequency = attribute->period,
		.is_frequency = (attribute->flags & LODE_PERF_FLAG_FREQUENCY) != 0,
		.precise = attribute->flags >> LODE_PERF_PRECISE_SHIFT & 3,
		.has_time = (attribute->sample_type & PERF_SAMPLE_TIME) != 0,
		.has_period = (attribute->sample_type & PERF_SAMPLE_PERIOD) != 0,
		.has_kernel = (attribute->flags & LODE_PERF_FLAG_EXCLUDE_KERNEL) == 0,
	};

	g_array_append_val(self->layouts, layout);
	g_array_append_val(self->attributes, *attribute);
	g_array_append_val(self->events, event);
	if (attribute->flags & LODE_PERF_FLAG_USE_CLOCK_ID && self->events->len == 1)
		self->info.clock_id = attribute->clock_id;
	place_id(self, &layout);
}

void lode_perf_data_add_id(LodePerfData *self, uint64_t id, uint32_t event)
{
	if (id == 0)
		return;
	self->id_cache[id % LODE_PERF_ID_CACHE].id = 0;
	g_hash_table_insert(self->ids, g_memdup2(&id, sizeof(id)), GUINT_TO_POINTER(event + 1));
}

bool lode_perf_data_find_id_slowly(LodePerfData *self, uint64_t id, uint32_t *out_event)
{
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(self->ids, &id));

	if (found == 0)
		return false;
	*out_event = found - 1;
	self->id_cache[id % LODE_PERF_ID_CACHE] = (LodePerfIdEntry){id, found - 1};
	return true;
}

void lode_perf_data_name_event(LodePerfData *self, uint32_t event, const char *name)
{
	if (event >= self->events->len || *name == '\0')
		return;
	g_array_index(self->events, LodePerfEvent, event).name = name;
	g_array_index(self->layouts, LodePerfLayout, event).is_named = true;
}

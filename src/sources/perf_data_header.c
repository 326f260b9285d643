/* SPDX-License-Identifier: MIT */
/*
 * The header of a perf.data file.
 *
 *   header mode                                        pipe mode
 *   0   magic                                          0  magic
 *   8   size of the header                             8  size of the header: 16
 *   16  size of one attribute entry                    16 records
 *   24  attributes, data, event types: offset, size
 *   72  256 bits: the features there are; their sections stand behind the data
 *
 * The order of the magic's bytes tells that of the numbers, except before perf 3.4, where the size
 * must.
 */
#include "sources/perf_data_reader.h"

enum {
	PIPE_HEADER_BYTES = 16,
	HEADER_BYTES_WITHOUT_FEATURES = 72,
	SECTION_BYTES = 16,
	LARGEST_PLAUSIBLE_HEADER = 65536,
};

typedef struct {
	uint64_t offset, size;
} Section;

static bool corrupt(const LodePerfData *self, uint64_t offset, const char *message, GError **error)
{
	return lode_perf_data_fail(self, offset, LODE_ERROR_CORRUPT, message, error);
}

static bool read_byte_order(LodePerfData *self, GError **error)
{
	bool is_host_big = G_BYTE_ORDER == G_BIG_ENDIAN;
	uint64_t header_size;

	if (self->size < PIPE_HEADER_BYTES ||
		!lode_perf_data_is_format((const char *)self->bytes, self->size))
		return corrupt(self, 0, "no perf.data file", error);
	memcpy(&header_size, self->bytes + 8, sizeof(header_size));
	if (memcmp(self->bytes, "PERFFILE", 8) == 0)
		self->is_swapped = header_size > LARGEST_PLAUSIBLE_HEADER;
	else
		self->is_swapped = (self->bytes[0] == '2') != is_host_big;
	self->is_big_endian = is_host_big != self->is_swapped;
	self->info.is_swapped = self->is_swapped;
	return true;
}

static Section read_section(LodeByteCursor *cursor)
{
	Section section;

	section.offset = lode_byte_cursor_u64(cursor);
	section.size = lode_byte_cursor_u64(cursor);
	return section;
}

static bool has_section(const LodePerfData *self, const Section *section)
{
	return section->offset <= self->size && section->size <= self->size - section->offset;
}

static LodeByteCursor section_cursor(const LodePerfData *self, const Section *section)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(
		&cursor, self->bytes + section->offset, section->size, self->is_swapped);
	return cursor;
}

static bool read_ids(LodePerfData *self, const Section *ids, uint64_t *left, GError **error)
{
	uint32_t event = self->events->len - 1;

	if (!has_section(self, ids))
		return corrupt(self, ids->offset, "ids of an event outside the file", error);
	/* Sections that all lie on each other would make many ids of a small file. */
	if (ids->size > *left)
		return corrupt(self, ids->offset, "more ids than the file holds", error);
	*left -= ids->size;
	LodeByteCursor cursor = section_cursor(self, ids);
	for (uint64_t n = ids->size / sizeof(uint64_t); n > 0; n--)
		lode_perf_data_add_id(self, lode_byte_cursor_u64(&cursor), event);
	return true;
}

static bool read_attributes(
	LodePerfData *self, const Section *section, uint64_t entry_size, GError **error)
{
	uint64_t ids_left = self->size;

	if (!has_section(self, section))
		return corrupt(self, section->offset, "attributes outside the file", error);
	if (entry_size < LODE_PERF_ATTRIBUTE_MIN_BYTES + SECTION_BYTES)
		return corrupt(self, 16, "attributes too short", error);
	for (uint64_t i = 0; i < section->size / entry_size; i++) {
		Section entry = {section->offset + i * entry_size, entry_size};
		LodeByteCursor cursor = section_cursor(self, &entry);
		LodeByteCursor place = cursor;
		cursor.end -= SECTION_BYTES;
		place.at = cursor.end;
		LodePerfAttribute attribute = lode_perf_data_read_attribute(self, &cursor);
		if (cursor.is_overrun)
			return corrupt(self, entry.offset, "an attribute of wrong size", error);
		Section ids = read_section(&place);
		lode_perf_data_add_event(self, &attribute);
		if (!read_ids(self, &ids, &ids_left, error))
			return false;
	}
	return true;
}

/* Names of tracepoints, as perf wrote them before it described events. */
static void read_event_types(LodePerfData *self, const Section *section)
{
	if (!has_section(self, section))
		return;
	LodeByteCursor cursor = section_cursor(self, section);
	while (lode_byte_cursor_left(&cursor) >= 8 + LODE_PERF_EVENT_NAME_BYTES) {
		uint64_t id = lode_byte_cursor_u64(&cursor);
		const uint8_t *name = lode_byte_cursor_bytes(&cursor, LODE_PERF_EVENT_NAME_BYTES);
		g_hash_table_insert(self->tracepoint_names, g_memdup2(&id, sizeof(id)),
			(char *)lode_perf_data_keep_text(self, name, LODE_PERF_EVENT_NAME_BYTES));
	}
}

/* The map is one of longs, so that a machine with long of 32 bits and the other order has the
 * halves of each word swapped; a feature that all have, the host's name, tells. */
static void read_feature_map(LodeByteCursor *cursor, uint64_t *out_map)
{
	const uint64_t hostname = UINT64_C(1) << LODE_PERF_FEATURE_HOSTNAME;
	bool is_halves;

	for (int i = 0; i < LODE_PERF_FEATURE_BITS / 64; i++)
		out_map[i] = lode_byte_cursor_u64(cursor);
	is_halves = cursor->is_swapped && (out_map[0] & hostname) == 0 &&
	            (out_map[0] >> 32 & hostname) != 0;
	for (int i = 0; i < LODE_PERF_FEATURE_BITS / 64 && is_halves; i++)
		out_map[i] = out_map[i] << 32 | out_map[i] >> 32;
}

static void read_features(LodePerfData *self, const uint64_t *map)
{
	Section table = {self->data_end, self->size - self->data_end};
	LodeByteCursor cursor = section_cursor(self, &table);

	for (uint32_t bit = 1; bit < LODE_PERF_FEATURE_BITS; bit++) {
		if ((map[bit / 64] >> (bit % 64) & 1) == 0)
			continue;
		Section section = read_section(&cursor);
		if (cursor.is_overrun || !has_section(self, &section))
			self->info.n_damaged_features++;
		else
			lode_perf_data_read_feature(self, bit, section_cursor(self, &section));
	}
}

static bool place_data(LodePerfData *self, const Section *data, GError **error)
{
	if (data->offset > self->size)
		return corrupt(self, 40, "the data begins behind the end of the file", error);
	self->data_start = data->offset;
	/* perf writes the size last: it is 0 when it did not come to that. */
	self->info.is_truncated = data->size == 0;
	self->data_end = data->size == 0 ? self->size : data->offset + data->size;
	if (has_section(self, data))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: cut short: the data ends at offset %" G_GUINT64_FORMAT
		", the file at %" G_GUINT64_FORMAT,
		self->path, data->offset + data->size, self->size);
	return false;
}

static bool read_header_mode(
	LodePerfData *self, LodeByteCursor *cursor, uint64_t header_size, GError **error)
{
	uint64_t entry_size = lode_byte_cursor_u64(cursor);
	Section attributes = read_section(cursor);
	Section data = read_section(cursor);
	Section event_types = read_section(cursor);
	uint64_t map[LODE_PERF_FEATURE_BITS / 64] = {0};

	if (header_size > HEADER_BYTES_WITHOUT_FEATURES)
		read_feature_map(cursor, map);
	if (cursor->is_overrun)
		return corrupt(self, 8, "the header is cut short", error);
	read_event_types(self, &event_types);
	if (!read_attributes(self, &attributes, entry_size, error) ||
		!place_data(self, &data, error))
		return false;
	if (!self->info.is_truncated)
		read_features(self, map);
	lode_perf_data_make_names(self, 0);
	return true;
}

bool lode_perf_data_read_header(LodePerfData *self, GError **error)
{
	LodeByteCursor cursor;

	if (!read_byte_order(self, error))
		return false;
	lode_byte_cursor_init(&cursor, self->bytes, self->size, self->is_swapped);
	lode_byte_cursor_skip(&cursor, 8);
	uint64_t header_size = lode_byte_cursor_u64(&cursor);
	if (header_size == PIPE_HEADER_BYTES) {
		self->info.is_pipe = true;
		self->data_start = PIPE_HEADER_BYTES;
		self->data_end = self->size;
		return true;
	}
	if (header_size < HEADER_BYTES_WITHOUT_FEATURES || header_size > LARGEST_PLAUSIBLE_HEADER)
		return corrupt(self, 8, "a header of impossible size", error);
	return read_header_mode(self, &cursor, header_size, error);
}

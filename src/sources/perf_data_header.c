/* SPDX-License-Identifier: MIT */
/*
 * The header of a perf.data file.
 *
 *   header mode                                        pipe mode
 *   0   magic                                          0  magic
 *   8   size of the header                             8  size of the header: 16
 *   16  size of one attribute entry                    16 records
 *   24  attributes, data, event types: offset, size
 *   72  256 bits: the features there are; their sections stand after the data
 *
 * The order of the magic's bytes tells that of the numbers, except before perf 3.4, where the size
 * must. Linux: tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "sources/perf_data_reader.h"

enum {
	PIPE_HEADER_BYTES = 16,
	HEADER_BYTES_WITHOUT_FEATURES = 72,
	HEADER_BYTES = HEADER_BYTES_WITHOUT_FEATURES + LODE_PERF_FEATURE_BITS / 8,
	SECTION_BYTES = 16,
	LARGEST_PLAUSIBLE_HEADER = 65536,
	/* perf writes some kilobytes; a system's whole table of build-ids has some megabytes */
	MAX_SECTION_BYTES = 1 << 28,
};

typedef struct {
	uint64_t offset, size;
} Section;

static bool corrupt(const LodePerfData *self, uint64_t offset, const char *message, GError **error)
{
	return lode_perf_data_fail(self, offset, LODE_ERROR_CORRUPT, message, error);
}

static bool read_byte_order(
	LodePerfData *self, const char *header, size_t header_bytes, GError **error)
{
	bool is_host_big = G_BYTE_ORDER == G_BIG_ENDIAN;
	uint64_t header_size;

	if (header_bytes < PIPE_HEADER_BYTES || !lode_perf_data_is_format(header, header_bytes))
		return corrupt(self, 0, "not a perf.data file", error);
	memcpy(&header_size, header + 8, sizeof(header_size));
	if (memcmp(header, "PERFFILE", 8) == 0)
		self->is_swapped = header_size > LARGEST_PLAUSIBLE_HEADER;
	else
		self->is_swapped = (header[0] == '2') != is_host_big;
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

/* The bytes of a section that the file has; the caller owns them and keeps them as long as the
 * cursor. */
static char *load_section(const LodePerfData *self, const Section *section,
	LodeByteCursor *out_cursor, GError **error)
{
	char *bytes = NULL;

	if (section->size > MAX_SECTION_BYTES)
		lode_perf_data_fail(self, section->offset, LODE_ERROR_LIMIT,
			"a section of the header has more than 256 MB", error);
	else
		bytes = lode_input_file_load(self->file, section->offset, section->size, error);
	if (bytes != NULL)
		lode_byte_cursor_init(out_cursor, bytes, section->size, self->is_swapped);
	return bytes;
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
	LodeByteCursor cursor;
	g_autofree char *bytes = load_section(self, ids, &cursor, error);
	if (bytes == NULL)
		return false;
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
	LodeByteCursor entries;
	g_autofree char *bytes = load_section(self, section, &entries, error);
	for (uint64_t i = 0; bytes != NULL && i < section->size / entry_size; i++) {
		uint64_t offset = section->offset + i * entry_size;
		LodeByteCursor cursor = entries, place = entries;
		lode_byte_cursor_skip(&entries, entry_size);
		cursor.end = place.at = entries.at - SECTION_BYTES;
		LodePerfAttribute attribute = lode_perf_data_read_attribute(self, &cursor);
		if (cursor.is_overrun)
			return corrupt(self, offset, "an attribute of wrong size", error);
		Section ids = read_section(&place);
		lode_perf_data_add_event(self, &attribute);
		if (!read_ids(self, &ids, &ids_left, error))
			return false;
	}
	return bytes != NULL;
}

/* Names of tracepoints, as perf wrote them before it described events. */
static bool read_event_types(LodePerfData *self, const Section *section, GError **error)
{
	LodeByteCursor cursor;

	if (!has_section(self, section))
		return true;
	g_autofree char *bytes = load_section(self, section, &cursor, error);
	while (bytes != NULL && lode_byte_cursor_left(&cursor) >= 8 + LODE_PERF_EVENT_NAME_BYTES) {
		uint64_t id = lode_byte_cursor_u64(&cursor);
		const uint8_t *name = lode_byte_cursor_bytes(&cursor, LODE_PERF_EVENT_NAME_BYTES);
		g_hash_table_insert(self->tracepoint_names, g_memdup2(&id, sizeof(id)),
			(char *)lode_perf_data_keep_text(self, name, LODE_PERF_EVENT_NAME_BYTES));
	}
	return bytes != NULL;
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

static bool read_features(LodePerfData *self, const uint64_t *map, GError **error)
{
	Section table = {self->data_end,
		MIN(self->size - self->data_end, LODE_PERF_FEATURE_BITS * SECTION_BYTES)};
	LodeByteCursor sections, feature;
	g_autofree char *table_bytes = load_section(self, &table, &sections, error);

	for (uint32_t bit = 1; table_bytes != NULL && bit < LODE_PERF_FEATURE_BITS; bit++) {
		if ((map[bit / 64] >> (bit % 64) & 1) == 0)
			continue;
		Section section = read_section(&sections);
		if (sections.is_overrun || !has_section(self, &section)) {
			self->info.n_damaged_features++;
			continue;
		}
		/* These are not looked into, and a trace's description of its events is long. */
		if (bit == LODE_PERF_FEATURE_TRACING_DATA ||
			(bit > LODE_PERF_FEATURE_LAST_KNOWN && bit != LODE_PERF_FEATURE_LODE))
			section.size = MIN(section.size, 1);
		g_autofree char *bytes = load_section(self, &section, &feature, error);
		if (bytes == NULL)
			return false;
		lode_perf_data_read_feature(self, bit, feature);
	}
	return table_bytes != NULL;
}

static bool place_data(LodePerfData *self, const Section *data, GError **error)
{
	if (data->offset > self->size)
		return corrupt(self, 40, "the data begins after the end of the file", error);
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
	if (!read_event_types(self, &event_types, error) ||
		!read_attributes(self, &attributes, entry_size, error) ||
		!place_data(self, &data, error))
		return false;
	if (!self->info.is_truncated && !read_features(self, map, error))
		return false;
	lode_perf_data_make_names(self, 0);
	return true;
}

bool lode_perf_data_read_header(LodePerfData *self, GError **error)
{
	char header[HEADER_BYTES];
	size_t header_bytes = (size_t)MIN(self->size, HEADER_BYTES);
	LodeByteCursor cursor;

	if (!lode_input_file_read(self->file, 0, header, header_bytes, error) ||
		!read_byte_order(self, header, header_bytes, error))
		return false;
	lode_byte_cursor_init(&cursor, header, header_bytes, self->is_swapped);
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

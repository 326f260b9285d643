/* SPDX-License-Identifier: MIT */
/*
 * The reader's life and its one loop: a record is taken from the file or from what a compressed
 * record held, parsed when it concerns the user, and passed over when not.
 */
#include "sources/perf_data_reader.h"

bool lode_perf_data_fail(const LodePerfData *self, uint64_t offset, LodeErrorCode code,
	const char *message, GError **error)
{
	g_set_error(error, LODE_ERROR, (gint)code, "%s: at offset %" G_GUINT64_FORMAT ": %s",
		self->path, offset, message);
	return false;
}

const char *lode_perf_data_keep_text(LodePerfData *self, const void *text, size_t size)
{
	size_t length = strnlen(text, size);

	if (g_utf8_validate(text, (gssize)length, NULL))
		return g_string_chunk_insert_len(self->strings, text, (gssize)length);
	g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
	return g_string_chunk_insert(self->strings, valid);
}

bool lode_perf_data_is_format(const char *data, size_t size)
{
	static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE"};

	for (size_t i = 0; i < G_N_ELEMENTS(magics); i++)
		if (size >= 8 && memcmp(data, magics[i], 8) == 0)
			return true;
	return false;
}

static bool open_file(LodePerfData *self, GError **error)
{
	if (g_file_test(self->path, G_FILE_TEST_IS_DIR)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: a directory, as perf record --threads writes; give a file",
			self->path);
		return false;
	}
	self->file = lode_input_file_open(self->path, error);
	if (self->file == NULL)
		return false;
	self->size = self->file->size;
	return true;
}

static LodePerfData *new_reader(const char *path)
{
	LodePerfData *self = g_new0(LodePerfData, 1);

	self->path = g_strdup(path);
	self->record_size = sizeof(LodePerfRecord);
	self->events = g_array_new(FALSE, TRUE, sizeof(LodePerfEvent));
	self->layouts = g_array_new(FALSE, TRUE, sizeof(LodePerfLayout));
	self->attributes = g_array_new(FALSE, TRUE, sizeof(LodePerfAttribute));
	self->id_word = self->trailer_id_word = -1;
	self->ids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->pmu_names = g_hash_table_new(NULL, NULL);
	self->tracepoint_names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->strings = g_string_chunk_new(4096);
	self->info.clock_id = -1;
	self->info.build_ids = g_array_new(FALSE, TRUE, sizeof(LodePerfBuildId));
	self->info.numa_nodes = g_array_new(FALSE, TRUE, sizeof(LodePerfNumaNode));
	self->info.core_siblings = g_ptr_array_new();
	self->info.thread_siblings = g_ptr_array_new();
	return self;
}

LodePerfData *lode_perf_data_open(const char *path, GError **error)
{
	g_autoptr(LodePerfData) self = new_reader(path);

	if (!open_file(self, error) || !lode_perf_data_read_header(self, error))
		return NULL;
	lode_perf_data_rewind(self);
	return g_steal_pointer(&self);
}

void lode_perf_data_close(LodePerfData *self)
{
	if (self == NULL)
		return;
	lode_perf_data_free_decompressor(self);
	g_free(self->scratch);
	g_ptr_array_unref(self->info.thread_siblings);
	g_ptr_array_unref(self->info.core_siblings);
	g_array_unref(self->info.numa_nodes);
	g_array_unref(self->info.build_ids);
	g_string_chunk_free(self->strings);
	g_hash_table_unref(self->tracepoint_names);
	g_hash_table_unref(self->pmu_names);
	g_hash_table_unref(self->ids);
	g_array_unref(self->attributes);
	g_array_unref(self->layouts);
	g_array_unref(self->events);
	g_free(self->window);
	lode_input_file_close(self->file);
	g_free(self->path);
	g_free(self);
}

const LodePerfEvent *lode_perf_data_events(const LodePerfData *self, size_t *out_n)
{
	*out_n = self->events->len;
	return (const LodePerfEvent *)self->events->data;
}

const LodePerfInfo *lode_perf_data_info(const LodePerfData *self)
{
	return &self->info;
}

uint64_t lode_perf_data_position(const LodePerfData *self)
{
	return self->at;
}

uint64_t lode_perf_data_size(const LodePerfData *self)
{
	return self->size;
}

void lode_perf_data_rewind(LodePerfData *self)
{
	self->at = self->data_start;
	self->n_read = 0;
	/* A reading before may have passed over samples without looking at them. */
	self->info.n_unknown_ids = 0;
	lode_perf_data_rewind_decompressor(self);
}

size_t lode_perf_data_split_record(
	const LodePerfData *self, const uint8_t *bytes, uint64_t left, LodePerfRawRecord *out_raw)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(&cursor, bytes, left, self->is_swapped);
	out_raw->type = lode_byte_cursor_u32(&cursor);
	out_raw->misc = lode_byte_cursor_u16(&cursor);
	size_t size = lode_byte_cursor_u16(&cursor);
	if (cursor.is_overrun || (size > left && size >= LODE_PERF_RECORD_HEADER_BYTES))
		return 0;
	if (size >= LODE_PERF_RECORD_HEADER_BYTES)
		cursor.end = bytes + size;
	out_raw->payload = cursor;
	return size >= LODE_PERF_RECORD_HEADER_BYTES ? size : SIZE_MAX;
}

/* The file ends, or its last record does before it is whole, as after a crash. */
static LodePerfNext end_file(LodePerfData *self, GError **error)
{
	bool is_whole = self->at == self->data_end && !lode_perf_data_has_decompressed_rest(self);

	if (!is_whole && !self->info.is_pipe && !self->info.is_truncated) {
		lode_perf_data_fail(self, self->at, LODE_ERROR_CORRUPT,
			"the last record is longer than the data", error);
		return LODE_PERF_NEXT_ERROR;
	}
	if (!is_whole)
		self->info.is_truncated = true;
	return LODE_PERF_NEXT_END;
}

/* The record at `at`, as far as the window has it; a size as lode_perf_data_split_record() gives.
 */
static inline size_t split_window(const LodePerfData *self, LodePerfRawRecord *out_raw)
{
	/* Wraps where `at` lies before the window, and then passes its size too. */
	uint64_t start = self->at - self->window_start;

	if (start > self->window_size)
		return 0;
	return lode_perf_data_split_record(
		self, self->window + start, self->window_size - (size_t)start, out_raw);
}

/* Reads on from the record at `at`, from a multiple of 8 so that words keep their alignment. */
static bool move_window(LodePerfData *self, GError **error)
{
	uint64_t start = self->at & ~UINT64_C(7);
	size_t size = (size_t)MIN(self->data_end - start, LODE_PERF_WINDOW_BYTES);

	if (self->window == NULL)
		self->window = g_malloc(LODE_PERF_WINDOW_BYTES);
	self->window_size = 0;
	if (!lode_input_file_read(self->file, start, self->window, size, error))
		return false;
	self->window_start = start;
	self->window_size = size;
	return true;
}

static LodePerfNext take_from_file(LodePerfData *self, LodePerfRawRecord *out_raw, GError **error)
{
	size_t size = split_window(self, out_raw);

	if (G_UNLIKELY(size == 0) && self->at < self->data_end) {
		if (!move_window(self, error))
			return LODE_PERF_NEXT_ERROR;
		size = split_window(self, out_raw);
	}
	if (G_UNLIKELY(size == 0))
		return end_file(self, error);
	if (G_UNLIKELY(size == SIZE_MAX)) {
		lode_perf_data_fail(self, self->at, LODE_ERROR_CORRUPT,
			"a record shorter than its own header", error);
		return LODE_PERF_NEXT_ERROR;
	}
	out_raw->offset = self->at;
	out_raw->is_inside = false;
	self->at += size;
	return LODE_PERF_NEXT_RECORD;
}

static LodePerfNext take_record(LodePerfData *self, LodePerfRawRecord *out_raw, GError **error)
{
	LodePerfNext next = LODE_PERF_NEXT_END;

	/* Only now: a record that failed fails again in another reading. */
	self->n_seen = MAX(self->n_seen, self->n_read);
	if (self->decompressor != NULL)
		next = lode_perf_data_take_decompressed(self, out_raw, error);
	if (next == LODE_PERF_NEXT_END)
		next = take_from_file(self, out_raw, error);
	if (next == LODE_PERF_NEXT_RECORD) {
		out_raw->is_first_reading = self->n_read >= self->n_seen;
		self->n_read++;
	}
	return next;
}

void lode_perf_data_pass_over_samples(LodePerfData *self, bool is_wanted)
{
	self->passes_over_samples = is_wanted;
}

static LodePerfParse parse_record(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out_record, GError **error)
{
	if (raw->type == PERF_RECORD_SAMPLE)
		return lode_perf_data_parse_sample(self, raw, out_record, error);
	if (raw->type < LODE_PERF_RECORD_FIRST_OF_PERF)
		return lode_perf_data_parse_kernel_record(self, raw, out_record, error);
	return lode_perf_data_read_own_record(self, raw, error);
}

LodePerfNext lode_perf_data_next(LodePerfData *self, LodePerfRecord *out_record, GError **error)
{
	LodePerfParse parse = LODE_PERF_PASSED_OVER;

	while (parse == LODE_PERF_PASSED_OVER) {
		LodePerfRawRecord raw;
		LodePerfNext next = take_record(self, &raw, error);
		if (next != LODE_PERF_NEXT_RECORD)
			return next;
		if (raw.type == PERF_RECORD_SAMPLE && self->passes_over_samples)
			continue;
		parse = parse_record(self, &raw, out_record, error);
	}
	return parse == LODE_PERF_PARSED ? LODE_PERF_NEXT_RECORD : LODE_PERF_NEXT_ERROR;
}

/* --- records that are handed in --- */

LodePerfData *lode_perf_data_new(const char *name)
{
	LodePerfData *self = new_reader(name);

	self->is_big_endian = G_BYTE_ORDER == G_BIG_ENDIAN;
	return self;
}

void lode_perf_data_add(LodePerfData *self, const struct perf_event_attr *attr, const char *name,
	const uint64_t *ids, size_t n_ids)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(&cursor, attr, sizeof(*attr), false);
	const LodePerfAttribute attribute = lode_perf_data_read_attribute(self, &cursor);
	uint32_t event = self->events->len;
	lode_perf_data_add_event(self, &attribute);
	lode_perf_data_name_event(self, event, lode_perf_data_keep_text(self, name, strlen(name)));
	for (size_t i = 0; i < n_ids; i++)
		lode_perf_data_add_id(self, ids[i], event);
}

/* What perf itself would write stands for parts of a file, of which there is none. */
LodePerfNext lode_perf_data_parse(LodePerfData *self, const void *record, size_t size,
	LodePerfRecord *out_record, GError **error)
{
	LodePerfRawRecord raw = {.is_first_reading = true};
	LodePerfParse parse = LODE_PERF_PASSED_OVER;

	if (lode_perf_data_split_record(self, record, size, &raw) != size) {
		lode_perf_data_fail(self, 0, LODE_ERROR_CORRUPT,
			"a record whose size is not that in its header", error);
		return LODE_PERF_NEXT_ERROR;
	}
	if (raw.type < LODE_PERF_RECORD_FIRST_OF_PERF)
		parse = parse_record(self, &raw, out_record, error);
	if (parse == LODE_PERF_FAILED)
		return LODE_PERF_NEXT_ERROR;
	return parse == LODE_PERF_PARSED ? LODE_PERF_NEXT_RECORD : LODE_PERF_NEXT_END;
}

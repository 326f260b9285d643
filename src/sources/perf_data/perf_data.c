/* SPDX-License-Identifier: MIT */
/*
 * The reader's life and its one loop: a record is taken from the file or from what a compressed
 * record held, parsed when it concerns the user, and skipped otherwise.
 */
#include "sources/perf_data/perf_data_reader.h"

#include "sources/perf_data/deferred_chains.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <zstd.h>

/* --- records inside records --- */

/*
 * Compressed records hold pieces of one zstd stream, and that stream is the kernel's buffers as
 * perf found them: a record may begin in one piece and end in the next.
 *
 *   file    │ COMPRESSED │ COMPRESSED │ …     other records may stand between
 *              ╰────╮       ╰───╮
 *   stream  │ rec │ rec │ re c │ rec │
 *
 * The stream is unpacked a window at a time, so that the reader's own memory does not grow with
 * what a file claims. Its users' does: they keep mappings and threads. zstd can make a gigabyte of
 * mappings out of some kilobytes, so what comes out is limited by what went in. perf's own
 * recordings shrink to a third or a twentieth, copies of user stacks to a hundredth.
 */

enum {
	WINDOW_BYTES = 1 << 18, /* several of the longest records */
	/* bytes out of one byte in, and what may come out beside */
	MAX_EXPANSION = 512,
	FREE_BYTES = 64 << 20,
	/* the same of records that are not samples */
	MAX_KEPT_EXPANSION = 32,
	FREE_KEPT_BYTES = 16 << 20,
};

struct LodePerfDecompressor {
	ZSTD_DStream *stream;
	ZSTD_inBuffer input; /* of the compressed record at hand; borrowed from the file */
	uint64_t offset;     /* that record's */
	bool is_counted;     /* its bytes are new, not read before */
	bool may_have_more;  /* the window was filled to its end */
	uint8_t *window;
	size_t at, end;                    /* bytes of the window in use */
	uint64_t taken_bytes, given_bytes; /* in this reading: compressed, and out of them */
	uint64_t kept_bytes;               /* of given_bytes, in records that are not samples */
};

static bool start(LodePerfData *self, const LodePerfRawRecord *raw, GError **error)
{
	if (self->decompressor == NULL) {
		self->decompressor = g_new0(LodePerfDecompressor, 1);
		self->decompressor->stream = ZSTD_createDStream();
		self->decompressor->window = g_malloc(WINDOW_BYTES);
	}
	if (self->decompressor->stream != NULL)
		return true;
	return lode_perf_data_fail(
		self, raw->offset, LODE_ERROR_LIMIT, "no memory for decompression", error);
}

/* Feeds the bytes of a compressed record, which stay in place until all is taken. */
static bool decompress(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	LodeByteCursor *cursor = &raw->payload;

	if (!start(self, raw, error))
		return false;
	LodePerfDecompressor *decompressor = self->decompressor;
	uint64_t size = raw->type == LODE_PERF_RECORD_COMPRESSED2 ? lode_byte_cursor_u64(cursor)
	                                                          : lode_byte_cursor_left(cursor);
	const uint8_t *bytes = lode_byte_cursor_bytes(cursor, size);
	if (cursor->is_overrun)
		return true;
	decompressor->input = (ZSTD_inBuffer){.src = bytes, .size = size};
	decompressor->offset = raw->offset;
	decompressor->is_counted = raw->is_first_reading;
	decompressor->may_have_more = true;
	decompressor->taken_bytes += size;
	if (raw->is_first_reading)
		self->info.compressed_bytes += size;
	return true;
}

/* More of the stream into the window; false: there is none, or an error. */
static bool fill_window(LodePerfData *self, GError **error)
{
	LodePerfDecompressor *decompressor = self->decompressor;
	size_t left = decompressor->end - decompressor->at;

	if (!decompressor->may_have_more)
		return false;
	memmove(decompressor->window, decompressor->window + decompressor->at, left);
	ZSTD_outBuffer output = {.dst = decompressor->window, .size = WINDOW_BYTES, .pos = left};
	size_t taken_before = decompressor->input.pos;
	size_t result = ZSTD_decompressStream(decompressor->stream, &output, &decompressor->input);
	decompressor->at = 0;
	decompressor->end = output.pos;
	if (ZSTD_isError(result)) {
		g_autofree char *message = g_strconcat(
			"the compressed data is damaged: ", ZSTD_getErrorName(result), NULL);
		return lode_perf_data_fail(
			self, decompressor->offset, LODE_ERROR_CORRUPT, message, error);
	}
	if (decompressor->is_counted)
		self->info.decompressed_bytes += output.pos - left;
	decompressor->given_bytes += output.pos - left;
	if (decompressor->given_bytes > FREE_BYTES + MAX_EXPANSION * decompressor->taken_bytes)
		return lode_perf_data_fail(self, decompressor->offset, LODE_ERROR_LIMIT,
			"the compressed data grows to more than 512 times its size", error);
	/* Frames may follow each other in one piece; a call ends with its frame. */
	bool is_moving = output.pos > left || decompressor->input.pos > taken_before;
	decompressor->may_have_more = is_moving &&
	                              (output.pos == WINDOW_BYTES ||
					      decompressor->input.pos < decompressor->input.size);
	return output.pos > left || decompressor->may_have_more;
}

/* The next record from compressed ones; END: none is whole, go on in the file. */
static LodePerfNext take_decompressed(
	LodePerfData *self, LodePerfRawRecord *out_raw, GError **error)
{
	LodePerfDecompressor *decompressor = self->decompressor;
	GError *failure = NULL;
	size_t size;

	while ((size = lode_perf_data_split_record(self, decompressor->window + decompressor->at,
			decompressor->end - decompressor->at, out_raw)) == 0) {
		if (fill_window(self, &failure))
			continue;
		if (failure == NULL)
			return LODE_PERF_NEXT_END;
		g_propagate_error(error, failure);
		return LODE_PERF_NEXT_ERROR;
	}
	out_raw->offset = decompressor->offset;
	out_raw->is_inside = true;
	if (size == SIZE_MAX) {
		lode_perf_data_fail(self, decompressor->offset, LODE_ERROR_CORRUPT,
			"inside compressed data, a record shorter than its own header", error);
		return LODE_PERF_NEXT_ERROR;
	}
	decompressor->at += size;
	if (out_raw->type == PERF_RECORD_SAMPLE)
		return LODE_PERF_NEXT_RECORD;
	decompressor->kept_bytes += size;
	if (decompressor->kept_bytes <=
		FREE_KEPT_BYTES + MAX_KEPT_EXPANSION * decompressor->taken_bytes)
		return LODE_PERF_NEXT_RECORD;
	lode_perf_data_fail(self, decompressor->offset, LODE_ERROR_LIMIT,
		"the compressed mappings and threads grow to more than 32 times the data's size",
		error);
	return LODE_PERF_NEXT_ERROR;
}

/* Whether bytes of a record are left that nothing completed. */
static bool has_decompressed_rest(const LodePerfData *self)
{
	return self->decompressor != NULL && self->decompressor->end > self->decompressor->at;
}

static void rewind_decompressor(LodePerfData *self)
{
	LodePerfDecompressor *decompressor = self->decompressor;

	if (decompressor == NULL || decompressor->stream == NULL)
		return;
	ZSTD_DCtx_reset(decompressor->stream, ZSTD_reset_session_only);
	decompressor->input = (ZSTD_inBuffer){0};
	decompressor->at = decompressor->end = 0;
	decompressor->offset = 0;
	decompressor->taken_bytes = decompressor->given_bytes = decompressor->kept_bytes = 0;
	decompressor->may_have_more = false;
}

static void free_decompressor(LodePerfData *self)
{
	if (self->decompressor == NULL)
		return;
	ZSTD_freeDStream(self->decompressor->stream);
	g_free(self->decompressor->window);
	g_clear_pointer(&self->decompressor, g_free);
}

/* --- records that stand for the header in pipe mode --- */

/*
 * Records of perf itself: in pipe mode they stand for the header, and some have a payload after
 * them that their own size does not count.
 */

static void read_header_attribute(LodePerfData *self, LodeByteCursor *cursor)
{
	LodePerfAttribute attribute = lode_perf_data_read_attribute(self, cursor);
	uint32_t event = self->events->len;

	if (cursor->is_overrun)
		return;
	lode_perf_data_add_event(self, &attribute);
	lode_perf_data_make_names(self, event);
	while (lode_byte_cursor_left(cursor) >= sizeof(uint64_t))
		lode_perf_data_add_id(self, lode_byte_cursor_u64(cursor), event);
}

/* A name that perf learned after the attribute was written. */
static void read_event_update(LodePerfData *self, LodeByteCursor *cursor)
{
	uint64_t kind = lode_byte_cursor_u64(cursor);
	uint64_t id = lode_byte_cursor_u64(cursor);
	uint32_t event;

	if (kind != LODE_PERF_UPDATE_NAME || !lode_perf_data_find_id(self, id, &event))
		return;
	size_t size = lode_byte_cursor_left(cursor);
	const uint8_t *name = lode_byte_cursor_bytes(cursor, size);
	if (!cursor->is_overrun)
		lode_perf_data_name_event(self, event, lode_perf_data_keep_text(self, name, size));
}

/* Old perf names its events so, those of the kernel by their configuration alone. */
static void read_event_type(LodePerfData *self, LodeByteCursor *cursor)
{
	uint64_t id = lode_byte_cursor_u64(cursor);
	size_t size = MIN(lode_byte_cursor_left(cursor), LODE_PERF_EVENT_NAME_BYTES);
	const uint8_t *name = lode_byte_cursor_bytes(cursor, size);

	if (!cursor->is_overrun)
		g_hash_table_insert(self->names.tracepoints, g_memdup2(&id, sizeof(id)),
			(char *)lode_perf_data_keep_text(self, name, size));
}

static void read_build_id_record(LodePerfData *self, LodePerfRawRecord *raw)
{
	if (!lode_perf_data_read_build_id(self, raw->misc, &raw->payload))
		raw->payload.is_overrun = true;
}

static void read_feature_record(LodePerfData *self, LodeByteCursor *cursor)
{
	uint64_t feature = lode_byte_cursor_u64(cursor);

	if (!cursor->is_overrun)
		lode_perf_data_read_feature(self, feature, *cursor);
}

/* By the numbers of perf's enum auxtrace_type. */
static void read_trace_kind(LodePerfData *self, LodeByteCursor *cursor)
{
	static const char *const traces[] = {"a hardware trace", "an Intel PT trace",
		"an Intel BTS trace", "a CoreSight trace", "an Arm SPE trace",
		"a CPU-measurement trace of s390", "a HiSilicon PTT trace"};
	uint32_t kind = lode_byte_cursor_u32(cursor);

	self->info.left_out.aux_trace = traces[kind < G_N_ELEMENTS(traces) ? kind : 0];
}

/* Reads the parts that a second reading does not need again. */
static void read_once(LodePerfData *self, LodePerfRawRecord *raw)
{
	LodeByteCursor *cursor = &raw->payload;

	switch (raw->type) {
	case LODE_PERF_RECORD_HEADER_ATTR:
		if (self->info.is_pipe)
			read_header_attribute(self, cursor);
		return;
	case LODE_PERF_RECORD_EVENT_TYPE:
		read_event_type(self, cursor);
		return;
	case LODE_PERF_RECORD_EVENT_UPDATE:
		read_event_update(self, cursor);
		return;
	case LODE_PERF_RECORD_BUILD_ID:
		read_build_id_record(self, raw);
		return;
	case LODE_PERF_RECORD_AUXTRACE_INFO:
		read_trace_kind(self, cursor);
		return;
	case LODE_PERF_RECORD_FEATURE:
		read_feature_record(self, cursor);
		return;
	default:
		lode_perf_data_skip(self, raw);
		return;
	}
}

/* A payload that is not whole is a file that ends too early. */
static bool pass_payload(
	LodePerfData *self, const LodePerfRawRecord *raw, uint64_t size, GError **error)
{
	if (size <= self->data_end - self->at) {
		self->at += size;
		return true;
	}
	if (!self->info.is_pipe && !self->info.is_truncated)
		return lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"what follows the record is longer than the data", error);
	self->info.is_truncated = true;
	self->at = self->data_end;
	return true;
}

static bool pass_trace(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	uint64_t size = lode_byte_cursor_u64(&raw->payload);

	if (raw->is_first_reading)
		self->info.left_out.aux_bytes += MIN(size, self->data_end - self->at);
	if (self->info.left_out.aux_trace == NULL)
		self->info.left_out.aux_trace = "a hardware trace";
	return pass_payload(self, raw, size, error);
}

/* Only what the kernel wrote is compressed; these move the reader in the file itself. */
static bool read_outside(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	if (raw->is_inside)
		return lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"a record inside compressed data that cannot stand there", error);
	if (raw->type == LODE_PERF_RECORD_AUXTRACE)
		return pass_trace(self, raw, error);
	if (raw->type == LODE_PERF_RECORD_TRACING_DATA) {
		uint32_t size = lode_byte_cursor_u32(&raw->payload);
		bool is_in_record = lode_byte_cursor_left(&raw->payload) >= size;
		return is_in_record || pass_payload(self, raw, size, error);
	}
	return decompress(self, raw, error);
}

/* Records of perf itself. */
static LodePerfParse read_own_record(LodePerfData *self, LodePerfRawRecord *raw, GError **error)
{
	bool is_ok = true;

	switch (raw->type) {
	case LODE_PERF_RECORD_AUXTRACE:
	case LODE_PERF_RECORD_TRACING_DATA:
	case LODE_PERF_RECORD_COMPRESSED:
	case LODE_PERF_RECORD_COMPRESSED2:
		is_ok = read_outside(self, raw, error);
		break;
	default:
		if (raw->is_first_reading)
			read_once(self, raw);
		break;
	}
	if (!is_ok)
		return LODE_PERF_FAILED;
	if (!raw->payload.is_overrun)
		return LODE_PERF_SKIPPED;
	lode_perf_data_fail(
		self, raw->offset, LODE_ERROR_CORRUPT, "a record shorter than its fields", error);
	return LODE_PERF_FAILED;
}

/* --- the next record --- */

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

/* --- the files of a recording --- */

/*
 * perf record --threads writes a directory: "data" has the header and what was there before, and
 * each thread of perf its own records in "data.0", "data.1" … They are read one after the other, as
 * the buffers of CPUs in one file are: records come in no order of time anyway.
 */

static const char part_prefix[] = "data.";

static void clear_part(void *data)
{
	g_free(((LodePerfPart *)data)->path);
}

static int64_t number_of_part(const char *name)
{
	guint64 number;

	if (!g_str_has_prefix(name, part_prefix) ||
		!g_ascii_string_to_unsigned(
			name + strlen(part_prefix), 10, 0, UINT32_MAX, &number, NULL))
		return -1;
	return (int64_t)number;
}

static gint compare_parts(gconstpointer a, gconstpointer b)
{
	g_autofree char *left = g_path_get_basename(((const LodePerfPart *)a)->path);
	g_autofree char *right = g_path_get_basename(((const LodePerfPart *)b)->path);
	int64_t left_number = number_of_part(left), right_number = number_of_part(right);

	return (left_number > right_number) - (left_number < right_number);
}

/* Finds the files of records alone, after the one with the header. */
static bool find_parts(LodePerfData *self, const char *directory, GError **error)
{
	g_autoptr(GError) why = NULL;
	g_autoptr(GDir) names = g_dir_open(directory, 0, &why);
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(LodePerfPart));
	const char *name;

	if (names == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", directory, why->message);
		return false;
	}
	while ((name = g_dir_read_name(names)) != NULL) {
		LodePerfPart part = {.path = g_build_filename(directory, name, NULL)};
		GStatBuf status;
		bool is_part = number_of_part(name) >= 0 && g_stat(part.path, &status) == 0 &&
		               S_ISREG(status.st_mode);
		if (is_part) {
			part.size = (uint64_t)status.st_size;
			g_array_append_val(found, part);
		} else {
			g_free(part.path);
		}
	}
	g_array_sort(found, compare_parts);
	for (guint i = 0; i < found->len; i++) {
		g_autofree char *own = g_path_get_basename(
			g_array_index(found, LodePerfPart, i).path);
		if (number_of_part(own) == i)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s: its file data.%u is missing, with a part of the samples", directory,
			i);
		g_array_set_clear_func(found, clear_part);
		return false;
	}
	g_array_append_vals(self->parts.files, found->data, found->len);
	return true;
}

static void begin_header_part(LodePerfData *self)
{
	if (self->file != self->parts.header_file)
		lode_input_file_close(self->file);
	self->file = self->parts.header_file;
	self->parts.at = 0;
	self->path = g_array_index(self->parts.files, LodePerfPart, 0).path;
	self->size = self->file->size;
	self->data_start = self->parts.records_start;
	self->data_end = self->parts.records_end;
	self->parts.passed_bytes = 0;
	self->window.size = 0;
}

/* Each has a stream of compressed records of its own. */
static bool begin_next_part(LodePerfData *self, GError **error)
{
	const LodePerfPart *part = &g_array_index(
		self->parts.files, LodePerfPart, self->parts.at + 1);
	LodeInputFile *file = lode_input_file_open_unpacked(part->path, error);

	if (file == NULL)
		return false;
	self->parts.passed_bytes += self->size;
	if (self->file != self->parts.header_file)
		lode_input_file_close(self->file);
	self->parts.at++;
	self->file = file;
	self->path = part->path;
	self->size = file->size;
	self->at = self->data_start = 0;
	self->data_end = file->size;
	self->window.size = 0;
	rewind_decompressor(self);
	return true;
}

bool lode_perf_data_is_part(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *directory = g_path_get_dirname(path);
	g_autofree char *header = g_build_filename(directory, "data", NULL);
	char magic[8];
	size_t n;

	return number_of_part(name) >= 0 &&
	       lode_input_file_read_start(header, magic, sizeof(magic), &n, NULL) &&
	       lode_perf_data_is_format(magic, n);
}

static bool open_files(LodePerfData *self, const char *path, GError **error)
{
	bool is_directory = g_file_test(path, G_FILE_TEST_IS_DIR);
	LodePerfPart header = {
		.path = is_directory ? g_build_filename(path, "data", NULL) : g_strdup(path)};

	g_array_append_val(self->parts.files, header);
	self->path = header.path;
	if (is_directory && !g_file_test(header.path, G_FILE_TEST_EXISTS)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: a directory without a file 'data': not one of perf record --threads",
			path);
		return false;
	}
	self->file = self->parts.header_file = lode_input_file_open_unpacked(header.path, error);
	if (self->file == NULL)
		return false;
	self->size = self->file->size;
	if (!lode_perf_data_read_header(self, error) ||
		(is_directory && !find_parts(self, path, error)))
		return false;
	self->parts.records_start = self->data_start;
	self->parts.records_end = self->data_end;
	if (!self->is_divided || self->parts.files->len > 1)
		return true;
	if (is_directory) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s: its files data.0, data.1 …, where perf record --threads writes the "
			"samples, are missing",
			path);
		return false;
	}
	g_autofree char *directory = g_path_get_dirname(path);
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"%s: part of a directory that perf record --threads wrote, without the samples; "
		"give the directory '%s'",
		path, directory);
	return false;
}

static LodePerfData *new_reader(void)
{
	LodePerfData *self = g_new0(LodePerfData, 1);

	self->parts.files = g_array_new(FALSE, FALSE, sizeof(LodePerfPart));
	g_array_set_clear_func(self->parts.files, clear_part);
	self->record_size = sizeof(LodePerfRecord);
	self->events = g_array_new(FALSE, TRUE, sizeof(LodePerfEvent));
	self->layouts = g_array_new(FALSE, TRUE, sizeof(LodePerfLayout));
	self->attributes = g_array_new(FALSE, TRUE, sizeof(LodePerfAttribute));
	self->ids.word = self->ids.trailer_word = -1;
	self->ids.known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->names.pmus = g_hash_table_new(NULL, NULL);
	self->names.tracepoints = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	self->strings = g_string_chunk_new(4096);
	self->info.clock_id = -1;
	self->info.build_ids = g_array_new(FALSE, TRUE, sizeof(LodePerfBuildId));
	self->info.files = g_array_new(FALSE, TRUE, sizeof(LodePerfFile));
	self->info.window_logs = g_array_new(FALSE, TRUE, sizeof(LodePerfWindowLog));
	self->info.left_out.skipped = g_array_new(FALSE, TRUE, sizeof(LodePerfSkipped));
	self->info.numa_nodes = g_array_new(FALSE, TRUE, sizeof(LodePerfNumaNode));
	self->info.core_siblings = g_ptr_array_new();
	self->info.thread_siblings = g_ptr_array_new();
	return self;
}

LodePerfData *lode_perf_data_open(const char *path, GError **error)
{
	g_autoptr(LodePerfData) self = new_reader();

	if (!open_files(self, path, error))
		return NULL;
	lode_perf_data_rewind(self);
	return g_steal_pointer(&self);
}

void lode_perf_data_close(LodePerfData *self)
{
	if (self == NULL)
		return;
	free_decompressor(self);
	g_free(self->scratch.words);
	g_ptr_array_unref(self->info.thread_siblings);
	g_ptr_array_unref(self->info.core_siblings);
	g_array_unref(self->info.left_out.skipped);
	g_array_unref(self->info.numa_nodes);
	lode_deferred_chains_free(self->deferred);
	g_array_unref(self->info.window_logs);
	g_array_unref(self->info.files);
	g_array_unref(self->info.build_ids);
	g_string_chunk_free(self->strings);
	g_hash_table_unref(self->names.tracepoints);
	g_hash_table_unref(self->names.pmus);
	g_hash_table_unref(self->ids.known);
	g_array_unref(self->attributes);
	g_array_unref(self->layouts);
	g_array_unref(self->events);
	g_free(self->window.bytes);
	if (self->file != self->parts.header_file)
		lode_input_file_close(self->file);
	lode_input_file_close(self->parts.header_file);
	g_array_unref(self->parts.files);
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

bool lode_perf_data_has_times(const LodePerfData *self)
{
	size_t n;
	const LodePerfEvent *events = lode_perf_data_events(self, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].has_time)
			return true;
	return false;
}

uint64_t lode_perf_data_position(const LodePerfData *self)
{
	return self->parts.passed_bytes + self->at;
}

uint64_t lode_perf_data_size(const LodePerfData *self)
{
	uint64_t size = self->parts.header_file != NULL ? self->parts.header_file->size : 0;

	for (guint i = 1; i < self->parts.files->len; i++)
		size += g_array_index(self->parts.files, LodePerfPart, i).size;
	return size;
}

void lode_perf_data_rewind(LodePerfData *self)
{
	if (self->parts.header_file != NULL)
		begin_header_part(self);
	self->at = self->data_start;
	self->n_read = 0;
	self->n_samples = 0;
	/* An earlier reading may have skipped samples without checking them. */
	self->info.left_out.n_unknown_ids = 0;
	self->info.left_out.n_missing_chains = 0;
	rewind_decompressor(self);
}

size_t lode_perf_data_split_record(
	const LodePerfData *self, const uint8_t *bytes, uint64_t left, LodePerfRawRecord *out_raw)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(&cursor, bytes, left, self->is_swapped);
	out_raw->type = lode_byte_cursor_u32(&cursor);
	out_raw->misc = lode_byte_cursor_u16(&cursor);
	size_t size = lode_byte_cursor_u16(&cursor);
	if (G_UNLIKELY(out_raw->type >= LODE_PERF_RECORD_FIRST_OF_SIMPLEPERF))
		size |= (size_t)out_raw->misc << 16;
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
	bool is_whole = self->at == self->data_end && !has_decompressed_rest(self);

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
	uint64_t start = self->at - self->window.start;

	if (start > self->window.size)
		return 0;
	return lode_perf_data_split_record(
		self, self->window.bytes + start, self->window.size - (size_t)start, out_raw);
}

/* Reads on from the record at `at`, from a multiple of 8 so that words keep their alignment. */
static bool move_window(LodePerfData *self, GError **error)
{
	uint64_t start = self->at & ~UINT64_C(7);
	size_t size = (size_t)MIN(self->data_end - start, LODE_PERF_WINDOW_BYTES);

	if (self->window.bytes == NULL)
		self->window.bytes = g_malloc(LODE_PERF_WINDOW_BYTES);
	self->window.size = 0;
	if (!lode_input_file_read(self->file, start, self->window.bytes, size, error))
		return false;
	self->window.start = start;
	self->window.size = size;
	return true;
}

/* A record of simpleperf at `at` that is longer than the window; only its header is read. Gives its
 * size; 0: not such a record. */
static size_t split_long_record(const LodePerfData *self, LodePerfRawRecord *out_raw)
{
	uint64_t start = self->at - self->window.start;
	LodeByteCursor header;

	lode_byte_cursor_init(
		&header, self->window.bytes + start, self->window.size - start, self->is_swapped);
	out_raw->type = lode_byte_cursor_u32(&header);
	out_raw->misc = lode_byte_cursor_u16(&header);
	size_t size = (size_t)out_raw->misc << 16 | lode_byte_cursor_u16(&header);
	if (header.is_overrun || out_raw->type < LODE_PERF_RECORD_FIRST_OF_SIMPLEPERF ||
		size < LODE_PERF_RECORD_HEADER_BYTES || size > self->data_end - self->at)
		return 0;
	header.end = header.at;
	out_raw->payload = header;
	return size;
}

static LodePerfNext take_from_file(LodePerfData *self, LodePerfRawRecord *out_raw, GError **error)
{
	size_t size = split_window(self, out_raw);

	if (G_UNLIKELY(size == 0) && self->at < self->data_end) {
		if (!move_window(self, error))
			return LODE_PERF_NEXT_ERROR;
		size = split_window(self, out_raw);
		if (G_UNLIKELY(size == 0))
			size = split_long_record(self, out_raw);
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
		next = take_decompressed(self, out_raw, error);
	while (next == LODE_PERF_NEXT_END) {
		next = take_from_file(self, out_raw, error);
		if (next != LODE_PERF_NEXT_END || self->parts.at + 1 == self->parts.files->len)
			break;
		if (!begin_next_part(self, error))
			return LODE_PERF_NEXT_ERROR;
	}
	if (next == LODE_PERF_NEXT_RECORD) {
		out_raw->is_first_reading = self->n_read >= self->n_seen;
		self->n_read++;
	}
	return next;
}

uint64_t lode_perf_data_n_samples(const LodePerfData *self)
{
	return self->n_samples;
}

void lode_perf_data_skip_samples(LodePerfData *self, bool is_wanted)
{
	self->skips_samples = is_wanted;
}

static LodePerfParse parse_record(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out_record, GError **error)
{
	if (raw->type == PERF_RECORD_SAMPLE)
		return lode_perf_data_parse_sample(self, raw, out_record, error);
	if (raw->type < LODE_PERF_RECORD_FIRST_OF_PERF)
		return lode_perf_data_parse_kernel_record(self, raw, out_record, error);
	return read_own_record(self, raw, error);
}

LodePerfNext lode_perf_data_next(LodePerfData *self, LodePerfRecord *out_record, GError **error)
{
	LodePerfParse parse = LODE_PERF_SKIPPED;

	while (parse == LODE_PERF_SKIPPED) {
		LodePerfRawRecord raw;
		LodePerfNext next = take_record(self, &raw, error);
		if (next != LODE_PERF_NEXT_RECORD)
			return next;
		self->n_samples += raw.type == PERF_RECORD_SAMPLE;
		if (raw.type == PERF_RECORD_SAMPLE && self->skips_samples)
			continue;
		parse = parse_record(self, &raw, out_record, error);
	}
	return parse == LODE_PERF_PARSED ? LODE_PERF_NEXT_RECORD : LODE_PERF_NEXT_ERROR;
}

/* --- records that are handed in --- */

LodePerfData *lode_perf_data_new(const char *name)
{
	LodePerfData *self = new_reader();
	const LodePerfPart part = {.path = g_strdup(name)};

	g_array_append_val(self->parts.files, part);
	self->path = part.path;
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

/* The record types of perf itself refer to parts of a file; a single record has no file. */
LodePerfNext lode_perf_data_parse(LodePerfData *self, const void *record, size_t size,
	LodePerfRecord *out_record, GError **error)
{
	LodePerfRawRecord raw = {.is_first_reading = true};
	LodePerfParse parse = LODE_PERF_SKIPPED;

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

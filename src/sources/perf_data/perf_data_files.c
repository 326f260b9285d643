/* SPDX-License-Identifier: MIT */
/*
 * The files that lode keeps in a recording, as docs/reference/formats/recorded-files.md describes
 * them:
 *
 *   version, entries, bytes of them │ entry, entry … │ contents, each a frame of zstd
 *
 * Only the entries are read with the header; contents are unpacked on request.
 */
#include "base/text/hex_text.h"
#include "sources/perf_data/perf_data_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* `section`: where it begins in the file, and how long it is. */
static void read_entry(LodePerfData *self, const uint64_t section[2], LodeByteCursor *cursor)
{
	uint32_t build_id_size = lode_byte_cursor_u32(cursor);
	LodePerfFile file = {0};

	file.device_major = lode_byte_cursor_u32(cursor);
	file.device_minor = lode_byte_cursor_u32(cursor);
	file.inode = lode_byte_cursor_u64(cursor);
	file.generation = lode_byte_cursor_u64(cursor);
	file.size = lode_byte_cursor_u64(cursor);
	file.content_offset = lode_byte_cursor_u64(cursor);
	file.content_size = lode_byte_cursor_u64(cursor);
	lode_byte_cursor_skip(cursor, 8); /* flags: none yet */
	if (build_id_size > LODE_PERF_FILES_MAX_BUILD_ID || file.content_offset > section[1] ||
		file.content_size > section[1] - file.content_offset)
		cursor->is_overrun = true;
	const uint8_t *build_id = lode_byte_cursor_bytes(cursor, build_id_size);
	const char *path = lode_byte_cursor_text(cursor);
	if (cursor->is_overrun)
		return;
	if (file.content_size > 0)
		file.content_offset += section[0];
	else
		file.content_offset = 0;
	if (build_id_size > 0) {
		g_autofree char *hex = lode_hex_text(build_id, build_id_size);
		file.build_id = g_string_chunk_insert(self->strings, hex);
	}
	/* As it stands, like those of mappings, with which it is compared. */
	file.path = g_string_chunk_insert(self->strings, path);
	g_array_append_val(self->info.files, file);
}

bool lode_perf_data_read_files(LodePerfData *self, uint64_t offset, uint64_t size, GError **error)
{
	const uint64_t section[] = {offset, size};
	uint8_t head_bytes[LODE_PERF_FILES_HEAD_BYTES] = {0};
	LodeByteCursor head, entries;

	if (!lode_input_file_read(
		    self->file, offset, head_bytes, MIN(size, sizeof(head_bytes)), error))
		return false;
	lode_byte_cursor_init(&head, head_bytes, sizeof(head_bytes), self->is_swapped);
	uint32_t version = lode_byte_cursor_u32(&head);
	uint32_t n = lode_byte_cursor_u32(&head);
	uint64_t n_bytes = lode_byte_cursor_u64(&head);
	if (version > LODE_PERF_FILES_VERSION) {
		self->info.left_out.n_unknown_features++;
		return true;
	}
	if (size < sizeof(head_bytes) || n_bytes > size - sizeof(head_bytes) ||
		n_bytes > LODE_PERF_FILES_MAX_INDEX_BYTES) {
		self->info.left_out.n_damaged_features++;
		return true;
	}
	g_autofree char *bytes = lode_input_file_load(
		self->file, offset + sizeof(head_bytes), n_bytes, error);
	if (bytes == NULL)
		return false;
	lode_byte_cursor_init(&entries, bytes, n_bytes, self->is_swapped);
	for (uint32_t i = 0; i < n && !entries.is_overrun; i++) {
		LodeByteCursor entry = entries;
		uint32_t entry_bytes = lode_byte_cursor_u32(&entry);
		lode_byte_cursor_skip(&entries, MAX(entry_bytes, LODE_PERF_FILES_ENTRY_BYTES));
		if (entries.is_overrun)
			break;
		entry.end = entries.at;
		read_entry(self, section, &entry);
		entries.is_overrun = entry.is_overrun;
	}
	self->info.left_out.n_damaged_features += entries.is_overrun;
	return true;
}

/* --- contents --- */

enum { BLOCK_BYTES = 1 << 17 };

typedef struct {
	const LodePerfFile *file;
	ZSTD_DStream *stream;
	uint8_t *input, *output; /* BLOCK_BYTES each */
	int descriptor;
	uint64_t n_read, n_written;
	bool is_frame_over;
} Unpacking;

static bool write_out(const LodePerfData *self, Unpacking *unpacking, size_t size, GError **error)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(unpacking->descriptor, unpacking->output + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot unpack '%s': %s",
				self->path, unpacking->file->path, g_strerror(errno));
			return false;
		}
		done += (size_t)n;
	}
	unpacking->n_written += size;
	return true;
}

/* Unpacks one block of the content. */
static bool unpack_block(
	const LodePerfData *self, Unpacking *unpacking, size_t size, GError **error)
{
	const LodePerfFile *file = unpacking->file;
	ZSTD_inBuffer input = {unpacking->input, size, 0};
	bool is_full = true;

	/* A full block of output may have been all, or not. */
	while (input.pos < size || is_full) {
		ZSTD_outBuffer output = {unpacking->output, BLOCK_BYTES, 0};
		size_t left = unpacking->is_frame_over
		                      ? 0
		                      : ZSTD_decompressStream(unpacking->stream, &output, &input);
		if (ZSTD_isError(left) || output.pos > file->size - unpacking->n_written ||
			(unpacking->is_frame_over && input.pos < size))
			return lode_perf_data_fail(self, file->content_offset, LODE_ERROR_CORRUPT,
				"the copy of a file is damaged", error);
		if (!write_out(self, unpacking, output.pos, error))
			return false;
		unpacking->is_frame_over |= left == 0;
		is_full = output.pos == BLOCK_BYTES;
	}
	return true;
}

static bool unpack(const LodePerfData *self, Unpacking *unpacking, GError **error)
{
	const LodePerfFile *file = unpacking->file;

	while (unpacking->n_read < file->content_size) {
		size_t size = (size_t)MIN(file->content_size - unpacking->n_read, BLOCK_BYTES);
		if (!lode_input_file_read(self->file, file->content_offset + unpacking->n_read,
			    unpacking->input, size, error) ||
			!unpack_block(self, unpacking, size, error))
			return false;
		unpacking->n_read += size;
	}
	if (unpacking->is_frame_over && unpacking->n_written == file->size)
		return true;
	return lode_perf_data_fail(self, file->content_offset, LODE_ERROR_CORRUPT,
		"the copy of a file is cut short", error);
}

bool lode_perf_data_unpack(
	LodePerfData *self, const LodePerfFile *file, const char *path, GError **error)
{
	Unpacking unpacking = {.file = file};

	/* By what is claimed: nothing more is written. */
	if (file->size > LODE_PERF_FILES_MAX_BYTES_EACH ||
		file->size > LODE_PERF_FILES_MAX_BYTES - self->unpacked_bytes)
		return lode_perf_data_fail(self, file->content_offset, LODE_ERROR_LIMIT,
			"the copies of files are larger than a recording keeps", error);
	self->unpacked_bytes += file->size;
	unpacking.descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (unpacking.descriptor < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return false;
	}
	unpacking.stream = ZSTD_createDStream();
	unpacking.input = g_malloc(BLOCK_BYTES);
	unpacking.output = g_malloc(BLOCK_BYTES);
	bool is_done = unpacking.stream != NULL
	                       ? unpack(self, &unpacking, error)
	                       : lode_perf_data_fail(self, file->content_offset, LODE_ERROR_LIMIT,
					 "no memory for decompression", error);
	ZSTD_freeDStream(unpacking.stream);
	g_free(unpacking.input);
	g_free(unpacking.output);
	close(unpacking.descriptor);
	if (!is_done)
		unlink(path);
	return is_done;
}

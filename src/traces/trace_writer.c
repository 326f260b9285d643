/* SPDX-License-Identifier: MIT */
/*
 * The queue's threads pack frames and write them in their order, so that only a row of the index
 * stays in memory for each frame. The file gets its name when index and footer are written.
 */
#include "traces/trace_writer.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/new_file.h"
#include "traces/frames/frame_packing.h"
#include "traces/frames/packing_queue.h"
#include "traces/rps/rps_description.h"
#include "traces/rps/rps_fields.h"
#include "traces/rps/rps_format.h"
#include "traces/rps/rps_section.h"
#include "traces/trace_reader.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A frame with a new block for at most so many references is mostly new code. */
enum { MOSTLY_NEW_REFERENCES = 64 };

typedef struct {
	char *path;
	LodeTraceLevel level;
	uint64_t n_references;
	LodeBlockDictionary *dictionary; /* of the last frame */
	uint32_t dictionary_number;
	uint64_t n_given;                     /* frames given to the queue */
	const LodeTraceDescription *followed; /* borrowed; NULL: none */
	guint n_described; /* its number of mappings and threads when last written */
	LodePackingQueue *queue;
	bool has_own_queue;
	LodePackingOwner owner; /* the queue's threads use the fields below, under the lock */
	GMutex lock;
	LodeNewFile *file;
	GByteArray *index;
	uint64_t n_frames, n_sections, offset;
	bool has_dropped_dictionary; /* the last frame that was written */
	GError *error;               /* the first error */
} Writer;

static bool write_all(Writer *self, const uint8_t *bytes, size_t size, GError **error)
{
	while (size > 0) {
		ssize_t n = write(self->file->descriptor, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot write: %s",
				g_strerror(n < 0 ? errno : ENOSPC));
			return false;
		}
		bytes += n;
		size -= (size_t)n;
		self->offset += (uint64_t)n;
	}
	return true;
}

static bool write_frame(Writer *self, const LodeFramePacking *frame, GError **error)
{
	const GPtrArray *section = lode_frame_packing_section(frame);

	if (++self->n_frames > LODE_RPS_MAX_FRAMES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "more than %d frames",
			LODE_RPS_MAX_FRAMES);
		return false;
	}
	for (guint i = 0; i < section->len; i++) {
		const GByteArray *bytes = g_ptr_array_index(section, i);

		if (!write_all(self, bytes->data, bytes->len, error))
			return false;
	}
	return true;
}

static void add_to_index(Writer *self, const LodeFramePacking *frame, uint64_t bytes)
{
	lode_rps_put_u32(self->index, frame != NULL ? LODE_RPS_FRAME : LODE_RPS_DESCRIPTION);
	lode_rps_put_varint(self->index, bytes);
	if (frame != NULL)
		lode_rps_summary_encode(lode_frame_packing_summary(frame), self->index);
	/* the number of sections comes first */
	if (self->index->len > LODE_RPS_MAX_INDEX_BYTES - LODE_RPS_MAX_HEAD_BYTES &&
		self->error == NULL)
		g_set_error(&self->error, LODE_ERROR, LODE_ERROR_LIMIT,
			"an index of more than %d bytes",
			LODE_RPS_MAX_INDEX_BYTES - LODE_RPS_MAX_HEAD_BYTES);
}

/* The sink of the queue. */
static void write_ready(const LodeFramePacking *frame, const GByteArray *section, void *user_data)
{
	Writer *self = user_data;

	g_mutex_lock(&self->lock);
	uint64_t start = self->offset;
	if (self->error == NULL && frame != NULL)
		write_frame(self, frame, &self->error);
	else if (self->error == NULL)
		write_all(self, section->data, section->len, &self->error);
	self->n_sections++;
	add_to_index(self, frame, self->offset - start);
	if (frame != NULL)
		self->has_dropped_dictionary = lode_frame_packing_has_dropped_dictionary(frame);
	g_mutex_unlock(&self->lock);
}

static bool write_header(Writer *self, GError **error)
{
	g_autoptr(GByteArray) header = g_byte_array_new();

	g_byte_array_append(header, (const uint8_t *)LODE_RPS_MAGIC, LODE_RPS_MAGIC_BYTES);
	lode_rps_put_u32(header, LODE_RPS_VERSION);
	lode_rps_put_u32(header, 0);
	return write_all(self, header->data, header->len, error);
}

/* Gives the first error of the writing threads. */
static bool check(Writer *self, GError **error)
{
	g_mutex_lock(&self->lock);
	bool is_well = self->error == NULL;
	if (!is_well && error != NULL)
		*error = g_error_copy(self->error);
	g_mutex_unlock(&self->lock);
	if (!is_well)
		g_prefix_error(error, "%s: ", self->path);
	return is_well;
}

static void number_dictionary(Writer *self, LodeBlockDictionary *dictionary)
{
	if (self->dictionary == dictionary)
		return;
	/* The numbers are consecutive: a reader checks that. */
	if (self->n_given > 0)
		self->dictionary_number++;
	lode_block_dictionary_unref(self->dictionary);
	self->dictionary = lode_block_dictionary_ref(dictionary);
}

/* Whether a frame has so much new code that its plain references may be smaller than its coded
 * blocks. */
static bool is_mostly_new(const LodeTraceFrame *frame)
{
	return (uint64_t)(frame->n_blocks - frame->first_new_block) * MOSTLY_NEW_REFERENCES >
	       frame->n_references;
}

/* If the frame was written as plain references, its new blocks are dropped: the next frame begins a
 * new dictionary. */
static void wait_for_dictionary(Writer *self)
{
	lode_packing_queue_wait(self->queue, &self->owner);
	g_mutex_lock(&self->lock);
	bool has_dropped_dictionary = self->has_dropped_dictionary;
	g_mutex_unlock(&self->lock);
	if (has_dropped_dictionary)
		lode_block_dictionary_close(self->dictionary);
}

static void add_frame(Writer *self, LodeTraceFrame *frame)
{
	number_dictionary(self, frame->dictionary);
	bool is_end_of_dictionary = frame->is_last ||
	                            lode_block_dictionary_is_full(frame->dictionary);
	bool is_waiting = !is_end_of_dictionary && is_mostly_new(frame);
	LodeFramePackingOptions options = {
		.level = self->level,
		.dictionary = self->dictionary_number,
		.is_dictionary_droppable = is_end_of_dictionary || is_waiting,
	};
	self->n_references += frame->n_references;
	self->n_given++;
	lode_packing_queue_add_frame(
		self->queue, &self->owner, lode_frame_packing_new(frame, &options));
	if (is_waiting)
		wait_for_dictionary(self);
}

static void describe(Writer *self, const LodeTraceDescription *description)
{
	g_autoptr(GByteArray) body = lode_rps_description_encode(description);

	if (body->len <= LODE_RPS_MAX_TEXT_BYTES && lode_rps_description_has_room(description)) {
		lode_packing_queue_add_section(self->queue, &self->owner,
			lode_rps_section_pack(LODE_RPS_DESCRIPTION, body));
		return;
	}
	g_mutex_lock(&self->lock);
	if (self->error == NULL)
		g_set_error(&self->error, LODE_ERROR, LODE_ERROR_LIMIT,
			"a description of %u bytes and %u mappings; there is room for %d and %d",
			body->len, description->mappings->len, LODE_RPS_MAX_TEXT_BYTES,
			LODE_RPS_MAX_MAPPINGS);
	g_mutex_unlock(&self->lock);
}

/* Writes the description, if it has grown, before frame 1, 2, 4, 8, …: these are few, and a
 * truncated trace has names for most of its addresses. */
static void describe_ahead(Writer *self)
{
	const LodeTraceDescription *followed = self->followed;

	if (followed == NULL || (self->n_given & (self->n_given - 1)) != 0)
		return;
	guint n = followed->mappings->len + followed->threads->len;
	if (self->n_given > 0 && n == self->n_described)
		return;
	self->n_described = n;
	describe(self, followed);
}

/* ---- as a taker ---- */

static void *begin(const LodeTraceDescription *description, void *user_data, GError **error)
{
	Writer *self = user_data;

	(void)error;
	self->followed = description;
	return self;
}

static bool take(void *trace, LodeTraceFrame **frame, GError **error)
{
	Writer *self = trace;

	if (!(*frame)->is_last)
		describe_ahead(self);
	add_frame(self, g_steal_pointer(frame));
	return check(self, error);
}

/* Writes index and footer. */
static bool write_end(Writer *self, GError **error)
{
	g_autoptr(GByteArray) body = g_byte_array_new();
	g_autoptr(GByteArray) footer = g_byte_array_new();

	lode_rps_put_varint(body, self->n_sections);
	g_byte_array_append(body, self->index->data, self->index->len);
	g_autoptr(GByteArray) section = lode_rps_section_pack(LODE_RPS_INDEX, body);
	lode_rps_put_u64(footer, self->offset);
	lode_rps_put_u64(footer, self->n_references);
	lode_rps_put_u64(footer, lzma_crc64(footer->data, footer->len, 0));
	g_byte_array_append(footer, (const uint8_t *)LODE_RPS_END_MAGIC, LODE_RPS_MAGIC_BYTES);
	return write_all(self, section->data, section->len, error) &&
	       write_all(self, footer->data, footer->len, error);
}

static bool end(void *trace, const LodeTraceDescription *description, GError **error)
{
	Writer *self = trace;

	if (description != NULL)
		describe(self, description);
	lode_packing_queue_wait(self->queue, &self->owner);
	if (!check(self, error))
		return false;
	if (write_end(self, error) && lode_new_file_commit(self->file, error))
		return true;
	g_prefix_error(error, "%s: ", self->path);
	return false;
}

static uint64_t n_bytes(void *trace)
{
	Writer *self = trace;

	g_mutex_lock(&self->lock);
	uint64_t bytes = self->offset;
	g_mutex_unlock(&self->lock);
	return bytes;
}

static void writer_free(void *trace)
{
	Writer *self = trace;

	if (self->queue != NULL)
		lode_packing_queue_drop(self->queue, &self->owner);
	if (self->has_own_queue)
		lode_packing_queue_free(self->queue);
	lode_new_file_close(self->file);
	lode_block_dictionary_unref(self->dictionary);
	g_byte_array_unref(self->index);
	g_clear_error(&self->error);
	g_mutex_clear(&self->lock);
	g_free(self->path);
	g_free(self);
}

LodeTraceStream *lode_trace_writer_open(const char *path, const LodeTraceWriterOptions *options,
	const LodeTraceDescription *description, GError **error)
{
	Writer *self = g_new0(Writer, 1);
	const LodeTraceTaker taker = {
		.begin = begin,
		.take = take,
		.end = end,
		.n_bytes = n_bytes,
		.free = writer_free,
		.user_data = self,
		.frame_references = options->frame_references,
		.has_small_frames = options->level == LODE_TRACE_LEVEL_FAST,
	};

	g_mutex_init(&self->lock);
	self->path = g_strdup(path);
	self->level = options->level;
	self->index = g_byte_array_new();
	if (!lode_file_kind_may_replace(LODE_FILE_KIND_PACKED_TRACE, path, "-o", error)) {
		writer_free(self);
		return NULL;
	}
	self->file = lode_new_file_open(path, error);
	if (self->file != NULL && options->is_private)
		fchmod(self->file->descriptor, 0600);
	if (self->file == NULL || !write_header(self, error)) {
		g_prefix_error(error, "%s: ", path);
		writer_free(self);
		return NULL;
	}
	self->owner = (LodePackingOwner){write_ready, self};
	self->has_own_queue = options->queue == NULL;
	self->queue = self->has_own_queue ? lode_packing_queue_new(options->threads, 0)
	                                  : options->queue;
	return lode_trace_stream_new(&taker, description, options->group, error);
}

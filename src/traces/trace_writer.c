/* SPDX-License-Identifier: MIT */
/*
 * The caller's thread splits references into frames; the queue's threads pack them and write them
 * in their order, so that nothing of a frame is left in memory but its line of the index. The file
 * is whole, and has its name, only when index and footer are written.
 */
#include "traces/trace_writer.h"

#include "base/error.h"
#include "base/new_file.h"
#include "base/worker_pool.h"
#include "traces/block_splitter.h"
#include "traces/packing_queue.h"
#include "traces/rps_description.h"
#include "traces/rps_fields.h"
#include "traces/rps_format.h"
#include "traces/rps_section.h"
#include "traces/trace_frame.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A frame with a new block for so many references or fewer is mostly new code. */
enum { MOSTLY_NEW_REFERENCES = 64 };

/* What a fast frame may have: small ones stay in the processor's caches and use each other's
 * memory; but each says of the blocks what the one before said. */
enum { FAST_REFERENCES = 8 << 20, FAST_BLOCK_REFERENCES = 512 };

/* Parts of a group's memory: frames in work, open ones with their dictionaries, one of these. */
enum { QUEUE_PART = 2, OPEN_PART = 4, FRAME_PART = 8, LEAST_PART = 256 };

struct LodeTraceWriterGroup {
	LodePackingQueue *queue;
	LodeFrameSpares *spares;
	size_t max_bytes;
	GMutex lock;        /* of what follows */
	GPtrArray *writers; /* LodeTraceWriter, that may be appended to */
	size_t open_bytes;  /* of them all */
};

struct LodeTraceWriter {
	char *path;
	LodeTraceLevel level;
	uint64_t frame_references, n_references, n_in_frame;
	LodeBlockSplitter *splitter;
	LodeBlockDictionary *dictionary; /* of the last frame */
	uint32_t dictionary_number;
	uint64_t n_given;                     /* frames to the queue */
	const LodeTraceDescription *followed; /* borrowed; NULL: none */
	guint n_described;                    /* of its mappings and threads, last */
	LodeTraceWriterGroup *group;
	bool has_own_group, has_ended;
	size_t open_bytes;      /* of the group's */
	LodePackingOwner owner; /* the queue's threads use what is below, under the lock */
	GMutex lock;
	LodeNewFile *file;
	GByteArray *index;
	uint64_t n_frames, n_sections, offset;
	bool has_dropped_dictionary; /* the last frame that was written */
	GError *error;               /* what went wrong first */
};

int lode_trace_level_from_text(const char *text)
{
	static const char *const words[LODE_N_TRACE_LEVELS] = {
		[LODE_TRACE_LEVEL_FAST] = "fast",
		[LODE_TRACE_LEVEL_DEFAULT] = "default",
		[LODE_TRACE_LEVEL_SMALL] = "small",
	};

	for (int i = 0; i < LODE_N_TRACE_LEVELS; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

static bool write_all(LodeTraceWriter *self, const uint8_t *bytes, size_t size, GError **error)
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

static bool write_frame(LodeTraceWriter *self, const LodeFramePacking *frame, GError **error)
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

static void add_to_index(LodeTraceWriter *self, const LodeFramePacking *frame, uint64_t bytes)
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
	LodeTraceWriter *self = user_data;

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

static bool write_header(LodeTraceWriter *self, GError **error)
{
	g_autoptr(GByteArray) header = g_byte_array_new();

	g_byte_array_append(header, (const uint8_t *)LODE_RPS_MAGIC, LODE_RPS_MAGIC_BYTES);
	lode_rps_put_u32(header, LODE_RPS_VERSION);
	lode_rps_put_u32(header, 0);
	return write_all(self, header->data, header->len, error);
}

LodeTraceWriterGroup *lode_trace_writer_group_new(unsigned threads, size_t max_bytes)
{
	LodeTraceWriterGroup *self = g_new0(LodeTraceWriterGroup, 1);

	self->max_bytes = max_bytes > 0 ? max_bytes : LODE_TRACE_WRITERS_MAX_BYTES;
	g_mutex_init(&self->lock);
	self->writers = g_ptr_array_new();
	const LodePackingQueueOptions queue = {
		.n_threads = threads > 0 ? threads : lode_worker_pool_default_size(),
		.max_bytes = self->max_bytes / QUEUE_PART,
	};
	self->queue = lode_packing_queue_new(&queue);
	self->spares = lode_frame_spares_new();
	return self;
}

void lode_trace_writer_group_free(LodeTraceWriterGroup *self)
{
	if (self == NULL)
		return;
	lode_packing_queue_free(self->queue);
	lode_frame_spares_unref(self->spares);
	g_ptr_array_unref(self->writers);
	g_mutex_clear(&self->lock);
	g_free(self);
}

static void join_group(LodeTraceWriter *self, const LodeTraceWriterOptions *options)
{
	self->has_own_group = options->group == NULL;
	self->group = self->has_own_group ? lode_trace_writer_group_new(options->threads, 0)
	                                  : options->group;
	self->splitter = lode_block_splitter_new();
	lode_block_splitter_use_spares(self->splitter, self->group->spares);
	g_mutex_lock(&self->group->lock);
	g_ptr_array_add(self->group->writers, self);
	g_mutex_unlock(&self->group->lock);
}

/* Nobody else ends its frames from here on. */
static void leave_group(LodeTraceWriter *self)
{
	g_mutex_lock(&self->group->lock);
	g_ptr_array_remove_fast(self->group->writers, self);
	self->group->open_bytes -= self->open_bytes;
	self->open_bytes = 0;
	g_mutex_unlock(&self->group->lock);
}

LodeTraceWriter *lode_trace_writer_open(
	const char *path, const LodeTraceWriterOptions *options, GError **error)
{
	g_autoptr(LodeTraceWriter) self = g_new0(LodeTraceWriter, 1);

	g_mutex_init(&self->lock);
	self->path = g_strdup(path);
	self->level = options->level;
	self->frame_references = options->frame_references > 0 ? options->frame_references
	                                                       : UINT64_MAX;
	self->index = g_byte_array_new();
	self->file = lode_new_file_open(path, error);
	if (self->file != NULL && options->is_private)
		fchmod(self->file->descriptor, 0600);
	if (self->file == NULL || !write_header(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	self->owner = (LodePackingOwner){write_ready, self};
	join_group(self, options);
	return g_steal_pointer(&self);
}

void lode_trace_writer_close(LodeTraceWriter *self)
{
	if (self == NULL)
		return;
	if (self->group != NULL) {
		leave_group(self);
		lode_packing_queue_drop(self->group->queue, &self->owner);
	}
	if (self->has_own_group)
		lode_trace_writer_group_free(self->group);
	lode_new_file_close(self->file);
	lode_block_splitter_free(self->splitter);
	lode_block_dictionary_unref(self->dictionary);
	if (self->index != NULL)
		g_byte_array_unref(self->index);
	g_clear_error(&self->error);
	g_mutex_clear(&self->lock);
	g_free(self->path);
	g_free(self);
}

/* Whether writing went well so far. */
static bool check(LodeTraceWriter *self, GError **error)
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

static void number_dictionary(LodeTraceWriter *self, LodeBlockDictionary *dictionary)
{
	if (self->dictionary == dictionary)
		return;
	/* The numbers follow each other without a gap: a reader checks that. */
	if (self->n_given > 0)
		self->dictionary_number++;
	lode_block_dictionary_unref(self->dictionary);
	self->dictionary = lode_block_dictionary_ref(dictionary);
}

/* Whether so much of a frame is new code that its references as they are may be smaller. */
static bool is_mostly_new(const LodeTraceFrame *frame)
{
	return (uint64_t)(frame->n_blocks - frame->first_new_block) * MOSTLY_NEW_REFERENCES >
	       frame->n_references;
}

/* Where the new blocks turn out not to be worth keeping, the next frame must do without. */
static void wait_for_dictionary(LodeTraceWriter *self)
{
	lode_packing_queue_wait(self->group->queue, &self->owner);
	g_mutex_lock(&self->lock);
	bool has_dropped_dictionary = self->has_dropped_dictionary;
	g_mutex_unlock(&self->lock);
	if (has_dropped_dictionary)
		lode_block_splitter_renew_dictionary(self->splitter);
}

/* `is_last`: of its dictionary. */
static void end_frame(LodeTraceWriter *self, bool is_last)
{
	LodeTraceFrame *frame = lode_block_splitter_take_frame(self->splitter);

	self->n_in_frame = 0;
	if (frame == NULL)
		return;
	number_dictionary(self, frame->dictionary);
	bool is_end_of_dictionary = is_last || lode_block_dictionary_is_full(frame->dictionary);
	bool is_waiting = !is_end_of_dictionary && is_mostly_new(frame);
	LodeFramePackingOptions options = {
		.level = self->level,
		.dictionary = self->dictionary_number,
		.is_dictionary_droppable = is_end_of_dictionary || is_waiting,
	};
	lode_packing_queue_add_frame(
		self->group->queue, &self->owner, lode_frame_packing_new(frame, &options));
	self->n_given++;
	if (is_waiting)
		wait_for_dictionary(self);
}

void lode_trace_writer_follow(LodeTraceWriter *self, const LodeTraceDescription *description)
{
	self->followed = description;
}

static bool describe(LodeTraceWriter *self, const LodeTraceDescription *description, GError **error)
{
	g_autoptr(GByteArray) body = lode_rps_description_encode(description);

	if (body->len > LODE_RPS_MAX_TEXT_BYTES || !lode_rps_description_has_room(description)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: a description of %u bytes and %u mappings; there is room for %d and "
			"%d",
			self->path, body->len, description->mappings->len, LODE_RPS_MAX_TEXT_BYTES,
			LODE_RPS_MAX_MAPPINGS);
		return false;
	}
	lode_packing_queue_add_section(self->group->queue, &self->owner,
		lode_rps_section_pack(LODE_RPS_DESCRIPTION, body));
	return check(self, error);
}

/* Before the first frame, the second, the fourth, the eighth … where it has grown: these are few,
 * and a trace that was cut off still has names for most of its addresses. */
static bool describe_ahead(LodeTraceWriter *self, GError **error)
{
	const LodeTraceDescription *followed = self->followed;

	if (followed == NULL || (self->n_given & (self->n_given - 1)) != 0)
		return true;
	guint n = followed->mappings->len + followed->threads->len;
	if (self->n_given > 0 && n == self->n_described)
		return true;
	self->n_described = n;
	return describe(self, followed, error);
}

/* Lets go of the frame, and of the blocks where these take more. What fails shows at the next
 * append. */
static void let_go(LodeTraceWriter *self)
{
	g_autoptr(GError) error = NULL;
	bool is_last = lode_block_splitter_dictionary_bytes(self->splitter) >
	               lode_block_splitter_frame_bytes(self->splitter);

	describe_ahead(self, &error);
	end_frame(self, is_last);
	if (is_last)
		lode_block_splitter_renew_dictionary(self->splitter);
	g_mutex_lock(&self->lock);
	if (self->error == NULL)
		self->error = g_steal_pointer(&error);
	g_mutex_unlock(&self->lock);
}

/* Gives the largest where all together are too large; NULL: they are not. */
static LodeTraceWriter *count_open_bytes(LodeTraceWriter *self)
{
	LodeTraceWriterGroup *group = self->group;
	LodeTraceWriter *largest = self;
	size_t bytes = lode_block_splitter_frame_bytes(self->splitter) +
	               lode_block_splitter_dictionary_bytes(self->splitter);

	g_mutex_lock(&group->lock);
	group->open_bytes += bytes - self->open_bytes;
	self->open_bytes = bytes;
	bool is_too_much = group->open_bytes > group->max_bytes / OPEN_PART;
	for (guint i = 0; is_too_much && i < group->writers->len; i++) {
		LodeTraceWriter *other = group->writers->pdata[i];
		if (other->open_bytes > largest->open_bytes)
			largest = other;
	}
	g_mutex_unlock(&group->lock);
	/* of very many, each is small and is left alone */
	return is_too_much && largest->open_bytes > group->max_bytes / LEAST_PART ? largest : NULL;
}

static void bound_open_bytes(LodeTraceWriter *self)
{
	LodeTraceWriter *largest;

	while ((largest = count_open_bytes(self)) != NULL) {
		let_go(largest);
		if (largest != self)
			count_open_bytes(largest);
	}
}

static bool is_large(const LodeTraceWriter *self)
{
	return lode_block_splitter_frame_bytes(self->splitter) >=
	       self->group->max_bytes / FRAME_PART;
}

static bool describe_and_end_frame(LodeTraceWriter *self, GError **error)
{
	if (!describe_ahead(self, error))
		return false;
	end_frame(self, false);
	return check(self, error);
}

/* How many references more the frame may have. */
static uint64_t room_in_frame(const LodeTraceWriter *self)
{
	uint64_t most = self->frame_references;

	if (self->level == LODE_TRACE_LEVEL_FAST)
		most = MIN(most, FAST_REFERENCES + FAST_BLOCK_REFERENCES *
							   (uint64_t)lode_block_splitter_n_blocks(
								   self->splitter));
	return most - self->n_in_frame;
}

bool lode_trace_writer_add(
	LodeTraceWriter *self, const LodeReference *references, size_t n, GError **error)
{
	while (n > 0) {
		size_t some = (size_t)MIN(n, room_in_frame(self));
		size_t taken = lode_block_splitter_add(self->splitter, references, some);

		self->n_references += taken;
		self->n_in_frame += taken;
		references += taken;
		n -= taken;
		if ((taken < some || room_in_frame(self) == 0 || is_large(self)) &&
			!describe_and_end_frame(self, error))
			return false;
	}
	bound_open_bytes(self);
	return true;
}

/* Where frames are smaller than a group of words. */
static bool add_as_references(LodeTraceWriter *self, LodeCodePieces *pieces, const uint64_t *words,
	size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error)
{
	LodeReference references[LODE_GROUP_MAX_REFERENCES];
	LodeWordGroup group;

	for (size_t at = 0; at < n;) {
		at += lode_word_group_read(pieces, words + at, n - at, &group);
		size_t n_references = lode_word_group_references(&group, references);
		for (size_t i = 0; i < n_references; i++) {
			references[i].thread = thread;
			taken->n_instructions += references[i].kind == LODE_REFERENCE_FETCH;
		}
		taken->n_references += n_references;
		if (!lode_trace_writer_add(self, references, n_references, error))
			return false;
	}
	taken->n += n;
	return true;
}

bool lode_trace_writer_add_words(LodeTraceWriter *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error)
{
	if (self->frame_references < LODE_GROUP_MAX_REFERENCES)
		return add_as_references(self, pieces, words, n, thread, taken, error);
	while (n > 0) {
		LodeWordsTaken now = lode_block_splitter_add_words(
			self->splitter, pieces, words, n, thread, room_in_frame(self));

		self->n_references += now.n_references;
		self->n_in_frame += now.n_references;
		words += now.n;
		n -= now.n;
		lode_words_taken_add(taken, &now);
		if ((n > 0 || is_large(self)) && !describe_and_end_frame(self, error))
			return false;
	}
	bound_open_bytes(self);
	return true;
}

uint64_t lode_trace_writer_references(const LodeTraceWriter *self)
{
	return self->n_references;
}

uint64_t lode_trace_writer_bytes(const LodeTraceWriter *self)
{
	GMutex *lock = (GMutex *)&self->lock;

	g_mutex_lock(lock);
	uint64_t bytes = self->offset;
	g_mutex_unlock(lock);
	return bytes;
}

/* Index and footer. */
static bool write_end(LodeTraceWriter *self, GError **error)
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

void lode_trace_writer_end(LodeTraceWriter *self)
{
	if (self->has_ended)
		return;
	self->has_ended = true;
	end_frame(self, true);
	leave_group(self);
}

bool lode_trace_writer_finish(
	LodeTraceWriter *self, const LodeTraceDescription *description, GError **error)
{
	lode_trace_writer_end(self);
	if (description != NULL && !describe(self, description, error))
		return false;
	lode_packing_queue_wait(self->group->queue, &self->owner);
	if (!check(self, error))
		return false;
	if (write_end(self, error) && lode_new_file_commit(self->file, error))
		return true;
	g_prefix_error(error, "%s: ", self->path);
	return false;
}

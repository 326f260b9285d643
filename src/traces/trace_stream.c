/* SPDX-License-Identifier: MIT */
#include "traces/trace_stream.h"

#include "traces/frames/frame_range.h"

/* The limits of a small frame. It stays in the processor's caches and reuses the memory of the
 * previous frame, but repeats data on blocks. */
enum { SMALL_REFERENCES = 8 << 20, SMALL_BLOCK_REFERENCES = 512 };

/* Fractions of a group's memory: the largest frame, and the smallest that is ended early. */
enum { MAX_BYTES = 128 << 20, FRAME_PART = 2, LEAST_PART = 64 };

struct LodeTraceStreamGroup {
	LodeFramePool *pool;
	size_t max_bytes;
	GPtrArray *streams; /* LodeTraceStream, not ended */
	size_t open_bytes;  /* of all streams */
};

struct LodeTraceStream {
	LodeTraceTaker taker;
	LodeTraceRange range;
	void *trace; /* the taker's */
	LodeTraceStreamGroup *group;
	bool has_own_group;
	bool gives_words;            /* the taker takes them */
	LodeBlockSplitter *splitter; /* NULL: ended */
	uint64_t n_references, n_in_frame;
	size_t open_bytes; /* this stream's part of the group's */
};

LodeTraceStreamGroup *lode_trace_stream_group_new(size_t max_bytes)
{
	LodeTraceStreamGroup *self = g_new0(LodeTraceStreamGroup, 1);

	self->pool = lode_frame_pool_new();
	self->max_bytes = max_bytes > 0 ? max_bytes : MAX_BYTES;
	self->streams = g_ptr_array_new();
	return self;
}

void lode_trace_stream_group_free(LodeTraceStreamGroup *self)
{
	if (self == NULL)
		return;
	lode_frame_pool_unref(self->pool);
	g_ptr_array_unref(self->streams);
	g_free(self);
}

LodeTraceStream *lode_trace_stream_new(const LodeTraceTaker *taker,
	const LodeTraceDescription *description, LodeTraceStreamGroup *group, GError **error)
{
	void *trace = taker->begin(description, taker->user_data, error);

	if (trace == NULL)
		return NULL;
	LodeTraceStream *self = g_new0(LodeTraceStream, 1);
	self->taker = *taker;
	self->range = taker->range != NULL ? *taker->range : LODE_TRACE_RANGE_ALL;
	self->trace = trace;
	self->gives_words = taker->take_words != NULL;
	self->has_own_group = group == NULL;
	self->group = self->has_own_group ? lode_trace_stream_group_new(0) : group;
	self->splitter = lode_block_splitter_new();
	lode_block_splitter_use_pool(self->splitter, self->group->pool);
	g_ptr_array_add(self->group->streams, self);
	return self;
}

/* Its frames are not ended for the group any more. With many processes, the splitters are most of
 * their memory. */
static void leave_group(LodeTraceStream *self)
{
	g_ptr_array_remove_fast(self->group->streams, self);
	self->group->open_bytes -= self->open_bytes;
	g_clear_pointer(&self->splitter, lode_block_splitter_free);
}

void lode_trace_stream_free(LodeTraceStream *self)
{
	if (self == NULL)
		return;
	if (self->splitter != NULL)
		leave_group(self);
	if (self->taker.free != NULL)
		self->taker.free(self->trace);
	if (self->has_own_group)
		lode_trace_stream_group_free(self->group);
	g_free(self);
}

static bool end_frame(LodeTraceStream *self, bool is_last, GError **error)
{
	LodeTraceFrame *frame = lode_block_splitter_take_frame(self->splitter);
	g_autoptr(GPtrArray) parts = g_ptr_array_new();
	bool is_well = true;

	self->n_in_frame = 0;
	if (frame != NULL) {
		frame->is_last = is_last;
		lode_frame_range_take(frame, &self->range, parts);
	}
	for (guint i = 0; i < parts->len; i++) {
		g_autoptr(LodeTraceFrame) part = parts->pdata[i];
		is_well = is_well && self->taker.take(self->trace, &part, error);
	}
	lode_block_splitter_renew_dictionary(self->splitter);
	return is_well;
}

static size_t dictionary_bytes(const LodeTraceStream *self)
{
	return lode_block_dictionary_bytes(lode_block_splitter_dictionary(self->splitter));
}

static void count_open_bytes(LodeTraceStream *self)
{
	size_t bytes = lode_block_splitter_frame_bytes(self->splitter) + dictionary_bytes(self);

	self->group->open_bytes += bytes - self->open_bytes;
	self->open_bytes = bytes;
}

/* Ends the frame of the largest stream while the group exceeds its memory, and closes its
 * dictionary if that is larger than the frame. A stream below the least part is left alone: there
 * are many small ones. An error is returned again for the next frame. */
static void bound_open_bytes(LodeTraceStream *self)
{
	LodeTraceStreamGroup *group = self->group;

	count_open_bytes(self);
	while (group->open_bytes > group->max_bytes) {
		LodeTraceStream *largest = self;
		for (guint i = 0; i < group->streams->len; i++) {
			LodeTraceStream *other = group->streams->pdata[i];
			if (other->open_bytes > largest->open_bytes)
				largest = other;
		}
		if (largest->open_bytes <= group->max_bytes / LEAST_PART)
			return;
		if (dictionary_bytes(largest) > lode_block_splitter_frame_bytes(largest->splitter))
			lode_block_dictionary_close(
				lode_block_splitter_dictionary(largest->splitter));
		end_frame(largest, false, NULL);
		count_open_bytes(largest);
	}
}

static bool is_large(const LodeTraceStream *self)
{
	return lode_block_splitter_frame_bytes(self->splitter) >=
	       self->group->max_bytes / FRAME_PART;
}

/* The number of further references that the frame may have; it may have at least `least` in all. */
static uint64_t room_in_frame(const LodeTraceStream *self, uint64_t least)
{
	const LodeBlockDictionary *dictionary = lode_block_splitter_dictionary(self->splitter);
	uint64_t most = self->taker.frame_references > 0 ? self->taker.frame_references
	                                                 : UINT64_MAX;

	if (self->taker.has_small_frames)
		most = MIN(most, SMALL_REFERENCES + (uint64_t)SMALL_BLOCK_REFERENCES *
							    lode_block_dictionary_size(dictionary));
	most = MAX(most, least);
	return most - MIN(most, self->n_in_frame);
}

/* Gives whether more references are wanted. */
static bool end_adding(LodeTraceStream *self)
{
	bound_open_bytes(self);
	return self->n_references < lode_trace_range_end(&self->range);
}

bool lode_trace_stream_add(
	LodeTraceStream *self, const LodeReference *references, size_t n, GError **error)
{
	while (n > 0) {
		size_t some = (size_t)MIN(n, room_in_frame(self, 0));
		size_t taken = lode_block_splitter_add(self->splitter, references, some);

		self->n_references += taken;
		self->n_in_frame += taken;
		references += taken;
		n -= taken;
		if ((taken < some || room_in_frame(self, 0) == 0 || is_large(self)) &&
			!end_frame(self, false, error))
			return false;
	}
	return end_adding(self);
}

/* Takes none where the taker needs frames. */
static bool give_words(LodeTraceStream *self, LodeCodePieces *pieces, const uint64_t *words,
	size_t n, LodeWordsTaken *taken, GError **error)
{
	LodeWordsTaken now = {0};

	if (self->n_in_frame > 0 && !end_frame(self, false, error))
		return false;
	if (!self->taker.take_words(self->trace, pieces, words, n, &now, error))
		return false;
	self->gives_words = now.n > 0;
	self->n_references += now.n_references;
	lode_words_taken_add(taken, &now);
	return true;
}

bool lode_trace_stream_add_words(LodeTraceStream *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error)
{
	if (self->gives_words) {
		if (!give_words(self, pieces, words, n, taken, error))
			return false;
		words += taken->n;
		n -= taken->n;
	}
	while (n > 0) {
		LodeWordsTaken now = lode_block_splitter_add_words(self->splitter, pieces, words, n,
			thread, room_in_frame(self, LODE_GROUP_MAX_REFERENCES));

		self->n_references += now.n_references;
		self->n_in_frame += now.n_references;
		words += now.n;
		n -= now.n;
		lode_words_taken_add(taken, &now);
		if ((n > 0 || is_large(self)) && !end_frame(self, false, error))
			return false;
	}
	return end_adding(self);
}

void lode_trace_stream_end(LodeTraceStream *self)
{
	if (self->splitter == NULL)
		return;
	end_frame(self, true, NULL);
	leave_group(self);
}

bool lode_trace_stream_finish(
	LodeTraceStream *self, const LodeTraceDescription *description, GError **error)
{
	lode_trace_stream_end(self);
	return self->taker.end(self->trace, description, error);
}

uint64_t lode_trace_stream_n_references(const LodeTraceStream *self)
{
	return self->n_references;
}

uint64_t lode_trace_stream_n_bytes(const LodeTraceStream *self)
{
	return self->taker.n_bytes != NULL ? self->taker.n_bytes(self->trace) : 0;
}

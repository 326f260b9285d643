/* SPDX-License-Identifier: MIT */
#include "record/trace_stream.h"

#include "base/quiet_thread.h"
#include "traces/frame_range.h"

enum { MAX_QUEUED_BYTES = 64 << 20 };

struct LodeTraceStream {
	const LodeTraceTaker *taker;
	LodeTraceRange range;
	uint64_t frame_references; /* a frame has at most so many */
	GMutex lock;               /* of what follows */
	GCond changed;
	GQueue items; /* Item */
	size_t bytes; /* of the frames in it */
	bool is_ending, is_taking;
	GError *error;
	GThread *thread; /* the taker's */
};

struct LodeStreamedTrace {
	LodeTraceStream *stream;
	const LodeTraceDescription *description;
	LodeBlockSplitter *splitter;
	uint64_t n_references, n_in_frame;
	guint n_mappings, n_threads; /* of the description, that were given */

	/* The taker's. */
	LodeTraceDescription *given;
	void *trace;
	bool has_begun;
};

/* A frame with what the description has got meanwhile; or the end. */
typedef struct {
	LodeStreamedTrace *trace;
	LodeTraceFrame *frame; /* NULL: the end */
	GArray *mappings;      /* LodeTraceMapping; its texts stay in the description */
	GArray *threads;       /* LodeTraceThread, likewise */
	char *command, *tool;  /* likewise */
	size_t bytes;
} Item;

static void item_free(Item *item)
{
	lode_trace_frame_free(item->frame);
	g_array_unref(item->mappings);
	g_array_unref(item->threads);
	g_free(item);
}

/* ---- the taker's side ---- */

static void add_mappings(LodeTraceDescription *given, const GArray *mappings)
{
	for (guint i = 0; i < mappings->len; i++) {
		LodeTraceMapping mapping = g_array_index(mappings, LodeTraceMapping, i);
		mapping.path = lode_trace_description_intern(given, mapping.path);
		mapping.build_id = lode_trace_description_intern(given, mapping.build_id);
		g_array_append_val(given->mappings, mapping);
	}
}

static void add_threads(LodeTraceDescription *given, const GArray *threads)
{
	for (guint i = 0; i < threads->len; i++) {
		LodeTraceThread thread = g_array_index(threads, LodeTraceThread, i);
		thread.name = lode_trace_description_intern(given, thread.name);
		g_array_append_val(given->threads, thread);
	}
}

static bool take_frame(const LodeTraceStream *self, const Item *item, GError **error)
{
	LodeStreamedTrace *trace = item->trace;
	LodeTraceDescription *given = trace->given;

	add_mappings(given, item->mappings);
	add_threads(given, item->threads);
	given->command = lode_trace_description_intern(given, item->command);
	given->tool = lode_trace_description_intern(given, item->tool);
	if (!trace->has_begun)
		trace->trace = self->taker->begin(given, self->taker->user_data, error);
	trace->has_begun = true;
	return trace->trace != NULL && self->taker->take(trace->trace, item->frame, error);
}

/* Nobody changes what describes it any more; names of threads may be new. */
static bool take_end(const LodeTraceStream *self, const Item *item, GError **error)
{
	LodeStreamedTrace *trace = item->trace;
	LodeTraceDescription *given = trace->given;

	if (!trace->has_begun)
		return true;
	add_mappings(given, item->mappings);
	g_array_set_size(given->threads, 0);
	add_threads(given, trace->description->threads);
	given->allocations = lode_trace_description_intern(given, trace->description->allocations);
	given->is_partial = trace->description->is_partial;
	return self->taker->end(trace->trace, error);
}

static Item *next_item(LodeTraceStream *self)
{
	g_mutex_lock(&self->lock);
	while (self->items.length == 0 && !self->is_ending)
		g_cond_wait(&self->changed, &self->lock);
	Item *item = g_queue_pop_head(&self->items);
	self->is_taking = item != NULL;
	g_mutex_unlock(&self->lock);
	return item;
}

static void *run_taker(void *data)
{
	LodeTraceStream *self = data;
	Item *item;
	bool is_well = true;

	while ((item = next_item(self)) != NULL) {
		GError *error = NULL;
		is_well = is_well && (item->frame != NULL ? take_frame(self, item, &error)
							  : take_end(self, item, &error));
		g_mutex_lock(&self->lock);
		self->bytes -= item->bytes;
		self->is_taking = false;
		if (error != NULL)
			self->error = error;
		g_cond_broadcast(&self->changed);
		g_mutex_unlock(&self->lock);
		item_free(item);
	}
	return NULL;
}

LodeTraceStream *lode_trace_stream_new(
	const LodeTraceTaker *taker, const LodeTraceRange *range, uint64_t frame_references)
{
	LodeTraceStream *self = g_new0(LodeTraceStream, 1);

	self->taker = taker;
	self->range = range != NULL ? *range : LODE_TRACE_RANGE_ALL;
	self->frame_references = MAX(frame_references, LODE_GROUP_MAX_REFERENCES);
	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	g_queue_init(&self->items);
	self->thread = lode_quiet_thread_new("lode-take", run_taker, self);
	return self;
}

void lode_trace_stream_wait(LodeTraceStream *self)
{
	g_mutex_lock(&self->lock);
	while (self->items.length > 0 || self->is_taking)
		g_cond_wait(&self->changed, &self->lock);
	g_mutex_unlock(&self->lock);
}

bool lode_trace_stream_finish(LodeTraceStream *self, GError **error)
{
	g_mutex_lock(&self->lock);
	self->is_ending = true;
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
	if (self->thread != NULL)
		g_thread_join(g_steal_pointer(&self->thread));
	if (self->error == NULL)
		return true;
	g_propagate_error(error, g_error_copy(self->error));
	return false;
}

void lode_trace_stream_free(LodeTraceStream *self)
{
	if (self == NULL)
		return;
	lode_trace_stream_finish(self, NULL);
	g_clear_error(&self->error);
	g_cond_clear(&self->changed);
	g_mutex_clear(&self->lock);
	g_free(self);
}

/* ---- the recorder's side ---- */

static bool check(LodeTraceStream *self, GError **error)
{
	g_mutex_lock(&self->lock);
	bool is_well = self->error == NULL;
	if (!is_well && error != NULL)
		*error = g_error_copy(self->error);
	g_mutex_unlock(&self->lock);
	return is_well;
}

/* One may always come in, however large. */
static void push(LodeTraceStream *self, Item *item)
{
	g_mutex_lock(&self->lock);
	while (self->bytes > 0 && self->bytes + item->bytes > MAX_QUEUED_BYTES)
		g_cond_wait(&self->changed, &self->lock);
	self->bytes += item->bytes;
	g_queue_push_tail(&self->items, item);
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
}

/* Takes the frame, which may be NULL, and all that is new of the description. */
static void give(LodeStreamedTrace *self, LodeTraceFrame *frame)
{
	const LodeTraceDescription *description = self->description;
	Item *item = g_new0(Item, 1);

	item->trace = self;
	item->frame = frame;
	item->command = description->command;
	item->tool = description->tool;
	item->mappings = g_array_new(FALSE, FALSE, sizeof(LodeTraceMapping));
	item->threads = g_array_new(FALSE, FALSE, sizeof(LodeTraceThread));
	for (; self->n_mappings < description->mappings->len; self->n_mappings++)
		g_array_append_val(item->mappings,
			g_array_index(description->mappings, LodeTraceMapping, self->n_mappings));
	for (; self->n_threads < description->threads->len; self->n_threads++)
		g_array_append_val(item->threads,
			g_array_index(description->threads, LodeTraceThread, self->n_threads));
	if (frame != NULL)
		item->bytes = frame->n_invocations * sizeof(*frame->blocks) +
		              frame->n_addresses * sizeof(*frame->addresses);
	push(self->stream, item);
}

static void end_frame(LodeStreamedTrace *self)
{
	LodeTraceFrame *frame = lode_block_splitter_take_frame(self->splitter);
	g_autoptr(GPtrArray) parts = g_ptr_array_new();

	self->n_in_frame = 0;
	if (frame == NULL)
		return;
	lode_frame_range_take(frame, &self->stream->range, parts);
	for (guint i = 0; i < parts->len; i++)
		give(self, parts->pdata[i]);
}

LodeStreamedTrace *lode_streamed_trace_new(
	LodeTraceStream *stream, const LodeTraceDescription *description)
{
	LodeStreamedTrace *self = g_new0(LodeStreamedTrace, 1);

	self->stream = stream;
	self->description = description;
	self->splitter = lode_block_splitter_new();
	self->given = lode_trace_description_new();
	self->given->is_partial = true;
	return self;
}

static uint64_t end_of(const LodeTraceRange *range)
{
	return range->first + MIN(range->count, UINT64_MAX - range->first);
}

bool lode_streamed_trace_add(
	LodeStreamedTrace *self, const LodeReference *references, size_t n, GError **error)
{
	while (n > 0) {
		size_t some = (size_t)MIN(n, self->stream->frame_references - self->n_in_frame);
		size_t taken = lode_block_splitter_add(self->splitter, references, some);

		self->n_references += taken;
		self->n_in_frame += taken;
		references += taken;
		n -= taken;
		if (taken == some && self->n_in_frame < self->stream->frame_references)
			continue;
		end_frame(self);
		if (!check(self->stream, error))
			return false;
	}
	return self->n_references < end_of(&self->stream->range);
}

bool lode_streamed_trace_add_words(LodeStreamedTrace *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error)
{
	while (n > 0) {
		uint64_t room = self->stream->frame_references - self->n_in_frame;
		LodeWordsTaken now = lode_block_splitter_add_words(
			self->splitter, pieces, words, n, thread, room);

		self->n_references += now.n_references;
		self->n_in_frame += now.n_references;
		words += now.n;
		n -= now.n;
		lode_words_taken_add(taken, &now);
		if (n == 0)
			break;
		end_frame(self);
		if (!check(self->stream, error))
			return false;
	}
	return self->n_references < end_of(&self->stream->range);
}

void lode_streamed_trace_end(LodeStreamedTrace *self)
{
	end_frame(self);
	/* Before the end is given: with many processes, most of their memory. */
	g_clear_pointer(&self->splitter, lode_block_splitter_free);
	give(self, NULL);
}

void lode_streamed_trace_free(LodeStreamedTrace *self)
{
	if (self == NULL)
		return;
	lode_block_splitter_free(self->splitter);
	lode_trace_description_free(self->given);
	g_free(self);
}

/* SPDX-License-Identifier: MIT */
#include "record/qemu/taker_queue.h"

#include "base/quiet_thread.h"

enum { MAX_QUEUED_BYTES = 16 << 20, FRAME_REFERENCES = 2 << 20 };

struct LodeTakerQueue {
	const LodeTraceTaker *taker;
	LodeTraceTaker front; /* fills the queue */
	GPtrArray *traces;    /* Trace */
	GMutex lock;          /* of the fields below */
	GCond changed;
	GQueue items; /* Item */
	size_t bytes; /* of the frames in the queue */
	bool is_ending, is_taking;
	GError *error;
	GThread *thread; /* the taker's */
};

typedef struct {
	LodeTakerQueue *queue;
	const LodeTraceDescription *description;
	guint n_mappings, n_threads; /* of the description, already given */

	/* Used by the taker's thread. */
	LodeTraceDescription *given;
	void *trace;
	bool has_begun;
} Trace;

/* A frame with the additions to the description; or the end of a trace. */
typedef struct {
	Trace *trace;
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

static bool begin_trace(const LodeTakerQueue *self, const Item *item, GError **error)
{
	Trace *trace = item->trace;
	LodeTraceDescription *given = trace->given;

	add_mappings(given, item->mappings);
	add_threads(given, item->threads);
	given->command = lode_trace_description_intern(given, item->command);
	given->tool = lode_trace_description_intern(given, item->tool);
	if (!trace->has_begun)
		trace->trace = self->taker->begin(given, self->taker->user_data, error);
	trace->has_begun = true;
	return trace->trace != NULL;
}

static bool take_frame(const LodeTakerQueue *self, Item *item, GError **error)
{
	return begin_trace(self, item, error) &&
	       self->taker->take(item->trace->trace, &item->frame, error);
}

/* The description does not change any more; threads may have new names, so all are copied again. */
static bool take_end(const LodeTakerQueue *self, const Item *item, GError **error)
{
	Trace *trace = item->trace;
	LodeTraceDescription *given = trace->given;

	if (!trace->has_begun)
		return true;
	add_mappings(given, item->mappings);
	g_array_set_size(given->threads, 0);
	add_threads(given, trace->description->threads);
	given->allocations = lode_trace_description_intern(given, trace->description->allocations);
	given->is_partial = trace->description->is_partial;
	return self->taker->end(trace->trace, given, error);
}

static Item *next_item(LodeTakerQueue *self)
{
	g_mutex_lock(&self->lock);
	while (self->items.length == 0 && !self->is_ending)
		g_cond_wait(&self->changed, &self->lock);
	Item *item = g_queue_pop_head(&self->items);
	self->is_taking = item != NULL;
	g_mutex_unlock(&self->lock);
	return item;
}

static bool check(LodeTakerQueue *self, GError **error)
{
	g_mutex_lock(&self->lock);
	bool is_well = self->error == NULL;
	if (!is_well && error != NULL)
		*error = g_error_copy(self->error);
	g_mutex_unlock(&self->lock);
	return is_well;
}

static void *run_taker(void *data)
{
	LodeTakerQueue *self = data;
	Item *item;
	bool is_well = true;

	while ((item = next_item(self)) != NULL) {
		GError *error = NULL;
		is_well = is_well && check(self, NULL) &&
		          (item->frame != NULL ? take_frame(self, item, &error)
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

/* ---- the recorder's side ---- */

/* An empty queue accepts an item of any size. */
static void push(LodeTakerQueue *self, Item *item)
{
	g_mutex_lock(&self->lock);
	while (self->bytes > 0 && self->bytes + item->bytes > MAX_QUEUED_BYTES)
		g_cond_wait(&self->changed, &self->lock);
	self->bytes += item->bytes;
	g_queue_push_tail(&self->items, item);
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
}

/* The frame, which may be NULL, with the new parts of the description. */
static Item *new_item(Trace *self, LodeTraceFrame *frame)
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
	return item;
}

static bool give(Trace *self, LodeTraceFrame *frame, GError **error)
{
	push(self->queue, new_item(self, frame));
	return check(self->queue, error);
}

static void *begin(const LodeTraceDescription *description, void *user_data, GError **error)
{
	LodeTakerQueue *self = user_data;
	Trace *trace = g_new0(Trace, 1);

	(void)error;
	trace->queue = self;
	trace->description = description;
	trace->given = lode_trace_description_new();
	trace->given->is_partial = true;
	g_ptr_array_add(self->traces, trace);
	return trace;
}

static bool take(void *trace, LodeTraceFrame **frame, GError **error)
{
	return give(trace, g_steal_pointer(frame), error);
}

/* Words are not queued: copying them would cost as much as most of what is done with them. The
 * taker's thread rests meanwhile, but for ends of other traces. */
static bool take_words(void *data, LodeCodePieces *pieces, const uint64_t *words, size_t n,
	LodeWordsTaken *taken, GError **error)
{
	Trace *trace = data;
	LodeTakerQueue *self = trace->queue;
	GError *failure = NULL;

	lode_taker_queue_wait(self);
	if (!check(self, error))
		return false;
	if (!trace->has_begun) {
		Item *item = new_item(trace, NULL);
		begin_trace(self, item, &failure);
		item_free(item);
	}
	if (failure == NULL)
		self->taker->take_words(trace->trace, pieces, words, n, taken, &failure);
	if (failure == NULL)
		return true;
	g_mutex_lock(&self->lock);
	if (self->error == NULL)
		self->error = g_steal_pointer(&failure);
	g_mutex_unlock(&self->lock);
	g_clear_error(&failure);
	return check(self, error);
}

static bool end(void *trace, const LodeTraceDescription *description, GError **error)
{
	(void)description;
	return give(trace, NULL, error);
}

static void trace_free(void *data)
{
	Trace *self = data;

	lode_trace_description_free(self->given);
	g_free(self);
}

LodeTakerQueue *lode_taker_queue_new(const LodeTraceTaker *taker)
{
	LodeTakerQueue *self = g_new0(LodeTakerQueue, 1);

	self->taker = taker;
	self->front = (LodeTraceTaker){
		.begin = begin,
		.take = take,
		.take_words = taker->take_words != NULL ? take_words : NULL,
		.end = end,
		.user_data = self,
		.range = taker->range,
		.frame_references = taker->frame_references > 0 ? taker->frame_references
	                                                        : FRAME_REFERENCES,
	};
	self->traces = g_ptr_array_new_with_free_func(trace_free);
	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	g_queue_init(&self->items);
	self->thread = lode_quiet_thread_new("lode-take", run_taker, self);
	return self;
}

const LodeTraceTaker *lode_taker_queue_front(const LodeTakerQueue *self)
{
	return &self->front;
}

void lode_taker_queue_wait(LodeTakerQueue *self)
{
	g_mutex_lock(&self->lock);
	while (self->items.length > 0 || self->is_taking)
		g_cond_wait(&self->changed, &self->lock);
	g_mutex_unlock(&self->lock);
}

bool lode_taker_queue_finish(LodeTakerQueue *self, GError **error)
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

void lode_taker_queue_free(LodeTakerQueue *self)
{
	if (self == NULL)
		return;
	lode_taker_queue_finish(self, NULL);
	g_ptr_array_unref(self->traces);
	g_clear_error(&self->error);
	g_cond_clear(&self->changed);
	g_mutex_clear(&self->lock);
	g_free(self);
}

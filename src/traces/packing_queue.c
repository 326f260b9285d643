/* SPDX-License-Identifier: MIT */
#include "traces/packing_queue.h"

enum {
	MAX_JOBS = 256,
	MAX_FRAME_BYTES = 128 << 20,   /* waiting and being encoded */
	MAX_STREAM_BYTES = 48 << 20,   /* encoded and not yet written */
	MAX_PACKING_BYTES = 192 << 20, /* of compressors */
};

typedef enum {
	WAITING,
	ENCODING,
	PACKING,
	FINISHING,
	READY,
	WRITING,
} State;

typedef struct {
	LodeFramePacking *frame; /* or… */
	GByteArray *section;
	State state;
	size_t frame_bytes, stream_bytes; /* counted in the queue's sums */
	unsigned n_pieces, next_piece, n_packed;
} Job;

struct LodePackingQueue {
	GMutex lock;
	GCond changed;
	GQueue jobs; /* of Job, the oldest first */
	GThread **threads;
	unsigned n_threads;
	LodePackingSink sink;
	void *user_data;
	size_t frame_bytes, encoding_bytes, stream_bytes, packing_bytes;
	bool is_stopping;
};

static void job_free(Job *job)
{
	lode_frame_packing_free(job->frame);
	if (job->section != NULL)
		g_byte_array_unref(job->section);
	g_free(job);
}

/* All functions below are called, and return, with the lock held. */

static void encode(LodePackingQueue *self, Job *job)
{
	job->state = ENCODING;
	self->encoding_bytes += job->frame_bytes;
	g_mutex_unlock(&self->lock);
	lode_frame_packing_encode(job->frame);
	g_mutex_lock(&self->lock);
	self->encoding_bytes -= job->frame_bytes;
	self->frame_bytes -= job->frame_bytes;
	job->stream_bytes = lode_frame_packing_stream_bytes(job->frame);
	self->stream_bytes += job->stream_bytes;
	job->n_pieces = lode_frame_packing_n_pieces(job->frame);
	job->state = PACKING;
}

static void pack_piece(LodePackingQueue *self, Job *job)
{
	unsigned piece = job->next_piece++;
	size_t memory = lode_frame_packing_piece_memory(job->frame, piece);

	self->packing_bytes += memory;
	g_mutex_unlock(&self->lock);
	lode_frame_packing_pack_piece(job->frame, piece);
	g_mutex_lock(&self->lock);
	self->packing_bytes -= memory;
	job->n_packed++;
}

static void finish(LodePackingQueue *self, Job *job)
{
	job->state = FINISHING;
	g_mutex_unlock(&self->lock);
	lode_frame_packing_finish(job->frame);
	g_mutex_lock(&self->lock);
	job->state = READY;
}

static void write_out(LodePackingQueue *self, Job *job)
{
	job->state = WRITING;
	g_mutex_unlock(&self->lock);
	self->sink(job->frame, job->section, self->user_data);
	g_mutex_lock(&self->lock);
	self->stream_bytes -= job->stream_bytes;
	g_queue_remove(&self->jobs, job);
	job_free(job);
}

typedef void (*Work)(LodePackingQueue *self, Job *job);

static bool has_room_to_encode(const LodePackingQueue *self, const Job *job)
{
	return (self->encoding_bytes == 0 ||
		       self->encoding_bytes + job->frame_bytes <= MAX_FRAME_BYTES) &&
	       self->stream_bytes <= MAX_STREAM_BYTES;
}

static bool has_room_to_pack(const LodePackingQueue *self, const Job *job)
{
	return self->packing_bytes == 0 ||
	       self->packing_bytes + lode_frame_packing_piece_memory(job->frame, job->next_piece) <=
	               MAX_PACKING_BYTES;
}

/* What can be done for a job now; NULL: nothing. */
static Work work_for(const LodePackingQueue *self, const Job *job)
{
	if (job->state == READY)
		return g_queue_peek_head((GQueue *)&self->jobs) == job ? write_out : NULL;
	if (job->state == WAITING)
		return has_room_to_encode(self, job) ? encode : NULL;
	if (job->state != PACKING)
		return NULL;
	if (job->next_piece < job->n_pieces)
		return has_room_to_pack(self, job) ? pack_piece : NULL;
	return job->n_packed == job->n_pieces ? finish : NULL;
}

/* Older frames first, so that few are in work; false: there is nothing to do now. */
static bool work_once(LodePackingQueue *self)
{
	for (GList *at = self->jobs.head; at != NULL; at = at->next) {
		Work work = work_for(self, at->data);

		if (work != NULL) {
			work(self, at->data);
			g_cond_broadcast(&self->changed);
			return true;
		}
		/* encoding is in order */
		if (((Job *)at->data)->state == WAITING)
			return false;
	}
	return false;
}

static void *run_worker(void *data)
{
	LodePackingQueue *self = data;

	g_mutex_lock(&self->lock);
	while (!self->is_stopping) {
		if (!work_once(self))
			g_cond_wait(&self->changed, &self->lock);
	}
	g_mutex_unlock(&self->lock);
	return NULL;
}

LodePackingQueue *lode_packing_queue_new(unsigned n_threads, LodePackingSink sink, void *user_data)
{
	LodePackingQueue *self = g_new0(LodePackingQueue, 1);

	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	g_queue_init(&self->jobs);
	self->sink = sink;
	self->user_data = user_data;
	self->n_threads = MAX(n_threads, 1);
	self->threads = g_new0(GThread *, self->n_threads);
	for (unsigned i = 0; i < self->n_threads; i++)
		self->threads[i] = g_thread_new("lode-pack", run_worker, self);
	return self;
}

void lode_packing_queue_free(LodePackingQueue *self)
{
	if (self == NULL)
		return;
	g_mutex_lock(&self->lock);
	self->is_stopping = true;
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
	for (unsigned i = 0; i < self->n_threads; i++)
		g_thread_join(self->threads[i]);
	g_queue_clear_full(&self->jobs, (GDestroyNotify)job_free);
	g_mutex_clear(&self->lock);
	g_cond_clear(&self->changed);
	g_free(self->threads);
	g_free(self);
}

static bool has_room(const LodePackingQueue *self, size_t frame_bytes)
{
	return self->jobs.length < MAX_JOBS && self->stream_bytes <= MAX_STREAM_BYTES &&
	       (self->frame_bytes == 0 || self->frame_bytes + frame_bytes <= MAX_FRAME_BYTES);
}

static void add(LodePackingQueue *self, Job *job)
{
	g_mutex_lock(&self->lock);
	while (!has_room(self, job->frame_bytes))
		g_cond_wait(&self->changed, &self->lock);
	self->frame_bytes += job->frame_bytes;
	g_queue_push_tail(&self->jobs, job);
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
}

void lode_packing_queue_add_frame(LodePackingQueue *self, LodeFramePacking *frame)
{
	Job *job = g_new0(Job, 1);

	job->frame = frame;
	job->frame_bytes = lode_frame_packing_frame_bytes(frame);
	add(self, job);
}

void lode_packing_queue_add_section(LodePackingQueue *self, GByteArray *section)
{
	Job *job = g_new0(Job, 1);

	job->section = section;
	job->state = READY;
	add(self, job);
}

void lode_packing_queue_wait(LodePackingQueue *self)
{
	g_mutex_lock(&self->lock);
	while (self->jobs.length > 0)
		g_cond_wait(&self->changed, &self->lock);
	g_mutex_unlock(&self->lock);
}

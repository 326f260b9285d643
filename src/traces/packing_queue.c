/* SPDX-License-Identifier: MIT */
/*
 * One lock for all; the work is done without it. A thread that is free looks at the jobs anew, the
 * oldest first, so that frames are finished, and their memory is free, as early as can be.
 */
#include "traces/packing_queue.h"

#include "base/quiet_thread.h"

enum {
	MAX_JOBS = 256,
	MAX_BYTES = 320 << 20, /* of all jobs, and of the work on them */
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
	size_t bytes; /* that it holds */
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
	size_t max_bytes;
	size_t bytes;       /* that the jobs hold, and that the work on them takes */
	unsigned n_working; /* threads between begin() and end() */
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

/* Around what is done without the lock; it takes `memory` beside what the jobs hold. */
static void begin(LodePackingQueue *self, size_t memory)
{
	self->bytes += memory;
	self->n_working++;
	g_mutex_unlock(&self->lock);
}

static void end(LodePackingQueue *self, size_t memory)
{
	g_mutex_lock(&self->lock);
	self->n_working--;
	self->bytes -= memory;
}

static void recount(LodePackingQueue *self, Job *job)
{
	self->bytes -= job->bytes;
	job->bytes = lode_frame_packing_bytes(job->frame);
	self->bytes += job->bytes;
}

static void encode(LodePackingQueue *self, Job *job, size_t memory)
{
	job->state = ENCODING;
	begin(self, memory);
	lode_frame_packing_encode(job->frame);
	end(self, memory);
	recount(self, job);
	job->n_pieces = lode_frame_packing_n_pieces(job->frame);
	job->state = PACKING;
}

/* Several threads may be at it. */
static void pack_piece(LodePackingQueue *self, Job *job, size_t memory)
{
	unsigned piece = job->next_piece++;

	begin(self, memory);
	size_t bytes = lode_frame_packing_pack_piece(job->frame, piece);
	end(self, memory);
	job->bytes += bytes;
	self->bytes += bytes;
	job->n_packed++;
}

static void finish(LodePackingQueue *self, Job *job, size_t memory)
{
	job->state = FINISHING;
	begin(self, memory);
	lode_frame_packing_finish(job->frame);
	end(self, memory);
	recount(self, job);
	job->state = READY;
}

static void write_out(LodePackingQueue *self, Job *job, size_t memory)
{
	job->state = WRITING;
	begin(self, memory);
	self->sink(job->frame, job->section, self->user_data);
	end(self, memory);
	self->bytes -= job->bytes;
	g_queue_remove(&self->jobs, job);
	job_free(job);
}

typedef void (*Work)(LodePackingQueue *self, Job *job, size_t memory);

/* What is next for a job, and the memory that it takes; NULL: nothing. */
static Work work_for(const LodePackingQueue *self, const Job *job, size_t *memory)
{
	*memory = 0;
	if (job->state == READY)
		return g_queue_peek_head((GQueue *)&self->jobs) == job ? write_out : NULL;
	if (job->state == WAITING) {
		*memory = lode_frame_packing_encode_memory(job->frame);
		return encode;
	}
	if (job->state == PACKING && job->next_piece < job->n_pieces) {
		*memory = lode_frame_packing_piece_memory(job->frame, job->next_piece);
		return pack_piece;
	}
	if (job->state == PACKING && job->n_packed == job->n_pieces) {
		*memory = lode_frame_packing_finish_memory(job->frame);
		return finish;
	}
	return NULL;
}

static bool has_room(const LodePackingQueue *self, size_t memory)
{
	return self->bytes + memory <= self->max_bytes;
}

/* Older frames first, so that few are in work; false: there is nothing to do now. */
static bool work_once(LodePackingQueue *self)
{
	for (GList *at = self->jobs.head; at != NULL; at = at->next) {
		Job *job = at->data;
		size_t memory;
		Work work = work_for(self, job, &memory);

		/* Alone, a job may take more than the bound: it would wait for ever. */
		if (work != NULL && (has_room(self, memory) || self->n_working == 0)) {
			work(self, job, memory);
			g_cond_broadcast(&self->changed);
			return true;
		}
		/* In order: later frames must not take the memory that this one waits for. */
		if (job->state == WAITING)
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

LodePackingQueue *lode_packing_queue_new(const LodePackingQueueOptions *options)
{
	LodePackingQueue *self = g_new0(LodePackingQueue, 1);

	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	g_queue_init(&self->jobs);
	self->sink = options->sink;
	self->user_data = options->user_data;
	self->max_bytes = MAX_BYTES / MAX(options->share, 1);
	self->n_threads = MAX(options->n_threads, 1);
	self->threads = g_new0(GThread *, self->n_threads);
	for (unsigned i = 0; i < self->n_threads; i++)
		self->threads[i] = lode_quiet_thread_new("lode-pack", run_worker, self);
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

/* One job may always come in, however large. */
static void add(LodePackingQueue *self, Job *job)
{
	g_mutex_lock(&self->lock);
	while (self->jobs.length >= MAX_JOBS ||
		(self->jobs.length > 0 && !has_room(self, job->bytes)))
		g_cond_wait(&self->changed, &self->lock);
	self->bytes += job->bytes;
	g_queue_push_tail(&self->jobs, job);
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
}

void lode_packing_queue_add_frame(LodePackingQueue *self, LodeFramePacking *frame)
{
	Job *job = g_new0(Job, 1);

	job->frame = frame;
	job->bytes = lode_frame_packing_bytes(frame);
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

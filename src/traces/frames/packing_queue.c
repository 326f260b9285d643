/* SPDX-License-Identifier: MIT */
/*
 * One lock guards all; the work is done without it. A free thread searches the jobs from the oldest
 * on, so that frames are finished, and their memory is freed, as early as possible.
 */
#include "traces/frames/packing_queue.h"

#include "base/quiet_thread.h"
#include "base/worker_pool.h"
#include "traces/frames/frame_packing.h"

enum { MAX_JOBS = 256, MAX_BYTES = 256 << 20 };

typedef enum {
	WAITING,
	ENCODING,
	PACKING,
	FINISHING,
	READY,
	WRITING,
} State;

typedef struct {
	const LodePackingOwner *owner;
	LodeFramePacking *frame; /* or… */
	GByteArray *section;
	State state;
	size_t bytes;       /* that it holds */
	unsigned n_working; /* threads */
	bool is_dropped;
	unsigned n_pieces, next_piece, n_packed;
} Job;

struct LodePackingQueue {
	GMutex lock;
	GCond changed;
	GQueue jobs; /* of Job, the oldest first */
	GThread **threads;
	unsigned n_threads;
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

/* Begins work that is done without the lock; it takes `memory` in addition to that of the jobs. */
static void begin(LodePackingQueue *self, Job *job, size_t memory)
{
	self->bytes += memory;
	self->n_working++;
	job->n_working++;
	g_mutex_unlock(&self->lock);
}

static void end(LodePackingQueue *self, Job *job, size_t memory)
{
	g_mutex_lock(&self->lock);
	job->n_working--;
	self->n_working--;
	self->bytes -= memory;
}

static void remove_job(LodePackingQueue *self, Job *job)
{
	self->bytes -= job->bytes;
	g_queue_remove(&self->jobs, job);
	job_free(job);
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
	begin(self, job, memory);
	lode_frame_packing_encode(job->frame);
	end(self, job, memory);
	recount(self, job);
	job->n_pieces = lode_frame_packing_n_pieces(job->frame);
	job->state = PACKING;
}

/* Several threads may be at it. */
static void pack_piece(LodePackingQueue *self, Job *job, size_t memory)
{
	unsigned piece = job->next_piece++;

	begin(self, job, memory);
	size_t bytes = lode_frame_packing_pack_piece(job->frame, piece);
	end(self, job, memory);
	job->bytes += bytes;
	self->bytes += bytes;
	job->n_packed++;
}

static void finish(LodePackingQueue *self, Job *job, size_t memory)
{
	job->state = FINISHING;
	begin(self, job, memory);
	lode_frame_packing_finish(job->frame);
	end(self, job, memory);
	recount(self, job);
	job->state = READY;
}

static void write_out(LodePackingQueue *self, Job *job, size_t memory)
{
	job->state = WRITING;
	begin(self, job, memory);
	job->owner->sink(job->frame, job->section, job->owner->user_data);
	end(self, job, memory);
	remove_job(self, job);
}

static bool is_oldest_of_owner(const LodePackingQueue *self, const Job *job)
{
	const GList *at = self->jobs.head;

	while (((const Job *)at->data)->owner != job->owner)
		at = at->next;
	return at->data == job;
}

typedef void (*Work)(LodePackingQueue *self, Job *job, size_t memory);

/* The next step of a job, and the memory that it takes; NULL: none. */
static Work work_for(const LodePackingQueue *self, const Job *job, size_t *memory)
{
	*memory = 0;
	if (job->is_dropped)
		return NULL;
	if (job->state == READY)
		return is_oldest_of_owner(self, job) ? write_out : NULL;
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
		if (job->state == WAITING && !job->is_dropped)
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

LodePackingQueue *lode_packing_queue_new(unsigned n_threads, size_t max_bytes)
{
	LodePackingQueue *self = g_new0(LodePackingQueue, 1);

	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	g_queue_init(&self->jobs);
	self->max_bytes = max_bytes > 0 ? max_bytes : MAX_BYTES;
	self->n_threads = n_threads > 0 ? n_threads : lode_worker_pool_default_size();
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

static Job *job_new(const LodePackingOwner *owner)
{
	Job *job = g_new0(Job, 1);

	job->owner = owner;
	return job;
}

void lode_packing_queue_add_frame(
	LodePackingQueue *self, const LodePackingOwner *owner, LodeFramePacking *frame)
{
	Job *job = job_new(owner);

	job->frame = frame;
	job->bytes = lode_frame_packing_bytes(frame);
	add(self, job);
}

void lode_packing_queue_add_section(
	LodePackingQueue *self, const LodePackingOwner *owner, GByteArray *section)
{
	Job *job = job_new(owner);

	job->section = section;
	job->state = READY;
	add(self, job);
}

/* The oldest; NULL: none. */
static Job *job_of(const LodePackingQueue *self, const LodePackingOwner *owner)
{
	for (GList *at = self->jobs.head; at != NULL; at = at->next)
		if (((const Job *)at->data)->owner == owner)
			return at->data;
	return NULL;
}

void lode_packing_queue_wait(LodePackingQueue *self, const LodePackingOwner *owner)
{
	g_mutex_lock(&self->lock);
	while (job_of(self, owner) != NULL)
		g_cond_wait(&self->changed, &self->lock);
	g_mutex_unlock(&self->lock);
}

void lode_packing_queue_drop(LodePackingQueue *self, const LodePackingOwner *owner)
{
	Job *job;

	g_mutex_lock(&self->lock);
	for (GList *at = self->jobs.head; at != NULL; at = at->next) {
		job = at->data;
		job->is_dropped |= job->owner == owner;
	}
	while ((job = job_of(self, owner)) != NULL) {
		if (job->n_working > 0)
			g_cond_wait(&self->changed, &self->lock);
		else
			remove_job(self, job);
	}
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * Workers take the frames in their order. One at a time adds the new blocks of its frame to the
 * dictionary; then frames are decoded side by side:
 *
 *   worker 1  │ blocks 0 │ decode 0        │ blocks 2 │ decode 2 …
 *   worker 2             │ blocks 1 │ decode 1          │ blocks 3 │ …
 *   reader                                 │ 0 │      1 │ …
 */
#include "traces/trace_reader.h"

#include "base/arrays/partition_point.h"
#include "base/error.h"
#include "base/quiet_thread.h"
#include "base/worker_pool.h"
#include "traces/blocks/function_region.h"
#include "traces/frames/frame_range.h"
#include "traces/frames/frame_unpacking.h"
#include "traces/rps/rps_file.h"
#include "traces/rps/rps_format.h"

#include <string.h>

/*
 * The dictionary as it is before a frame: the new blocks of the frames before it that have
 * the same one, which are read for their dictionary's streams only.
 *
 *   frame        0   1   2   3   4   5
 *   dictionary   0   0   0   1   1   1
 *                            ╰───┴── read to decode frame 5
 */
typedef struct {
	const LodeRpsFile *file; /* borrowed */
	uint64_t next;           /* frame whose new blocks come next */
	LodeBlockDictionary *dictionary;
	uint32_t number; /* the dictionary's */
} DictionaryCursor;

static void dictionary_cursor_init(DictionaryCursor *self, const LodeRpsFile *file)
{
	*self = (DictionaryCursor){.file = file};
}

static void dictionary_cursor_clear(DictionaryCursor *self)
{
	g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
}

static void begin_dictionary(DictionaryCursor *self, uint32_t number)
{
	if (self->dictionary != NULL && self->number == number)
		return;
	dictionary_cursor_clear(self);
	self->dictionary = lode_block_dictionary_new();
	self->number = number;
}

static bool add_blocks(
	DictionaryCursor *self, uint64_t frame, LodeFrameUnpacking *unpacking, GError **error)
{
	begin_dictionary(self, lode_rps_file_frame(self->file, frame)->summary.dictionary);
	return lode_frame_unpacking_init(unpacking, self->file, frame, error) &&
	       lode_frame_unpacking_add_blocks(unpacking, self->dictionary, error);
}

/* The first frame that has the frame's dictionary. */
static uint64_t first_of_dictionary(const LodeRpsFile *file, uint64_t frame)
{
	uint32_t number = lode_rps_file_frame(file, frame)->summary.dictionary;

	while (frame > 0 && lode_rps_file_frame(file, frame - 1)->summary.dictionary == number)
		frame--;
	return frame;
}

/*
 * Moves to the frame, begins to unpack it and adds its new blocks, so that it can be decoded with
 * self->dictionary; `unpacking` is to be cleared in any case. After an error the cursor is of no
 * use. Errors: those of frame_unpacking.h.
 */
static bool dictionary_cursor_take(
	DictionaryCursor *self, uint64_t frame, LodeFrameUnpacking *unpacking, GError **error)
{
	if (self->dictionary == NULL || frame != self->next) {
		uint64_t first = first_of_dictionary(self->file, frame);

		if (frame < self->next)
			dictionary_cursor_clear(self);
		self->next = self->dictionary == NULL ? first : MAX(self->next, first);
	}
	for (; self->next < frame; self->next++) {
		g_auto(LodeFrameUnpacking) passed = {0};

		if (!add_blocks(self, self->next, &passed, error))
			return false;
	}
	self->next = frame + 1;
	return add_blocks(self, frame, unpacking, error);
}

/* The memory of frames that are being decoded, are ready or in use. */
enum { MAX_BYTES = 384 << 20 };

typedef struct {
	uint64_t number;
	size_t bytes;      /* counted in the reader's sum */
	GPtrArray *frames; /* LodeTraceFrame: one, or what is wanted of it */
	guint next_frame;  /* to be given */
	GError *error;
	bool is_done;
} Job;

struct LodeTraceReader {
	LodeRpsFile *file;
	LodeTraceRange range;
	uint64_t end_frame;         /* after those that have references of it */
	DictionaryCursor asked;     /* of the calling thread, for queries about a frame */
	GError *broken;             /* why the blocks of a dictionary are not available… */
	uint32_t broken_dictionary; /* …of this one… */
	uint64_t broken_frame;      /* …from this frame on */
	DictionaryCursor cursor;    /* of the workers */
	GMutex cursor_lock;         /* of the one above; taken before the other lock */
	GMutex lock;                /* of all below */
	GCond changed;
	GQueue jobs;         /* Job, in order of frames; the first may be in use */
	uint64_t next_claim; /* frame that no worker has taken */
	size_t bytes;
	bool is_stopping;
	GThread **threads;
	unsigned n_threads;
	LodeFunctionRegion *region; /* NULL: all is given… */
	GPtrArray *inside;          /* …else LodeTraceFrame, of a frame… */
	guint n_inside_given;       /* …of which so many were */
};

static void job_free(Job *job)
{
	g_ptr_array_unref(job->frames);
	g_clear_error(&job->error);
	g_free(job);
}

/* The memory of a frame while it is decoded: itself, its streams about as much again, its new
 * blocks and its part of the file. */
static size_t decoding_bytes(const LodeRpsEntry *entry)
{
	const LodeFrameHead *head = &entry->summary.head;

	return 2 * lode_frame_head_bytes(head) + lode_frame_head_block_bytes(head) + entry->bytes;
}

/* The memory of its streams beyond that. */
static size_t more_bytes(const LodeFrameUnpacking *unpacking)
{
	size_t expected = lode_frame_head_bytes(&unpacking->rps.summary.head);
	size_t bytes = (size_t)lode_rps_frame_stream_bytes(&unpacking->rps);

	return bytes > expected ? bytes - expected : 0;
}

static bool has_room(const LodeTraceReader *self)
{
	const LodeRpsEntry *entry = lode_rps_file_frame(self->file, self->next_claim);

	return self->jobs.length == 0 || (self->jobs.length < self->n_threads + 2 &&
						 self->bytes + decoding_bytes(entry) <= MAX_BYTES);
}

/* Whether something of a frame is not left out. */
static bool is_wanted(const LodeTraceReader *self, uint64_t frame)
{
	const LodeFrameHead *head = &lode_rps_file_frame(self->file, frame)->summary.head;
	LodeTracePart part = lode_trace_range_part(&self->range, head->first_reference);

	return part.kind != LODE_TRACE_LEFT_OUT ||
	       part.end < head->first_reference + head->n_references;
}

static void pass_unwanted(LodeTraceReader *self)
{
	while (self->next_claim < self->end_frame && !is_wanted(self, self->next_claim))
		self->next_claim++;
}

/* The next frame to decode, when there is room for it; NULL: there will be none. */
static Job *claim(LodeTraceReader *self)
{
	Job *job = NULL;

	g_mutex_lock(&self->lock);
	while (!self->is_stopping && self->next_claim < self->end_frame && !has_room(self))
		g_cond_wait(&self->changed, &self->lock);
	if (!self->is_stopping && self->next_claim < self->end_frame) {
		job = g_new0(Job, 1);
		job->frames = g_ptr_array_new_with_free_func((GDestroyNotify)lode_trace_frame_free);
		job->number = self->next_claim++;
		pass_unwanted(self);
		job->bytes = decoding_bytes(lode_rps_file_frame(self->file, job->number));
		self->bytes += job->bytes;
		g_queue_push_tail(&self->jobs, job);
	}
	g_mutex_unlock(&self->lock);
	return job;
}

/* After an error no further frame is begun; those before it are still given. */
static void end_job(LodeTraceReader *self, Job *job)
{
	g_mutex_lock(&self->lock);
	job->is_done = true;
	if (job->error != NULL) /* later frames may need what is missing */
		self->next_claim = self->end_frame;
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
}

/* Waits until there is room for the streams, too, or it is the job's turn. False: to be given up.
 */
static bool wait_for_room(LodeTraceReader *self, Job *job, size_t bytes)
{
	g_mutex_lock(&self->lock);
	job->bytes += bytes;
	self->bytes += bytes;
	/* The first job goes on in any case: the others' memory is free only after it. */
	while (!self->is_stopping && self->bytes > MAX_BYTES &&
		g_queue_peek_head(&self->jobs) != job)
		g_cond_wait(&self->changed, &self->lock);
	bool is_wanted = !self->is_stopping;
	g_mutex_unlock(&self->lock);
	return is_wanted;
}

static bool decode_next(LodeTraceReader *self)
{
	g_auto(LodeFrameUnpacking) unpacking = {0};
	g_autoptr(LodeBlockDictionary) dictionary = NULL;

	g_mutex_lock(&self->cursor_lock);
	Job *job = claim(self);
	bool is_prepared = job != NULL && dictionary_cursor_take(&self->cursor, job->number,
						  &unpacking, &job->error);
	if (is_prepared)
		dictionary = lode_block_dictionary_ref(self->cursor.dictionary);
	else if (job != NULL)
		end_job(self, job); /* before another worker can claim */
	g_mutex_unlock(&self->cursor_lock);
	if (!is_prepared)
		return false;
	if (wait_for_room(self, job, more_bytes(&unpacking))) {
		LodeTraceFrame *frame = lode_frame_unpacking_decode(
			&unpacking, dictionary, &job->error);
		if (frame != NULL)
			lode_frame_range_take(frame, &self->range, job->frames);
	}
	end_job(self, job);
	return true;
}

static void *run_worker(void *data)
{
	while (decode_next(data))
		;
	return NULL;
}

static bool ends_by(const LodeRpsFile *file, uint64_t frame, uint64_t reference)
{
	const LodeFrameHead *head = &lode_rps_file_frame(file, frame)->summary.head;

	return head->first_reference + head->n_references <= reference;
}

/* The frame that has the reference; the number of frames when none has. */
static uint64_t find_frame(const LodeRpsFile *file, uint64_t reference)
{
	return LODE_PARTITION_POINT((uint64_t)file->frames->len, i, ends_by(file, i, reference));
}

/* Sets the existing part of the requested range. */
static bool set_range(LodeTraceReader *self, const LodeTraceRange *asked, GError **error)
{
	uint64_t n = lode_trace_reader_n_references(self);
	LodeTraceRange *range = &self->range;

	*range = asked != NULL ? *asked : LODE_TRACE_RANGE_ALL;
	if (range->first > n) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"reference %" G_GUINT64_FORMAT
			" is not in the trace, which has %" G_GUINT64_FORMAT,
			range->first, n);
		return false;
	}
	range->count = MIN(range->count, n - range->first);
	uint64_t first = range->first - MIN(range->warm_up, range->first);
	if (range->every == 0)
		range->warm_up = range->first - first;
	self->next_claim = find_frame(self->file, first);
	self->end_frame = self->next_claim;
	if (range->first + range->count > first)
		self->end_frame = find_frame(self->file, range->first + range->count - 1) + 1;
	pass_unwanted(self);
	return true;
}

LodeTraceReader *lode_trace_reader_open(
	const char *path, const LodeTraceReaderOptions *options, GError **error)
{
	LodeRpsFile *file = lode_rps_file_open(path, error);
	LodeTraceReader *self;

	if (file == NULL)
		return NULL;
	self = g_new0(LodeTraceReader, 1);
	self->file = file;
	g_mutex_init(&self->cursor_lock);
	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	g_queue_init(&self->jobs);
	dictionary_cursor_init(&self->asked, file);
	dictionary_cursor_init(&self->cursor, file);
	self->n_threads = options != NULL && options->threads > 0 ? options->threads
	                                                          : lode_worker_pool_default_size();
	if (set_range(self, options != NULL ? options->range : NULL, error))
		return self;
	g_prefix_error(error, "%s: ", path);
	lode_trace_reader_close(self);
	return NULL;
}

static void start_workers(LodeTraceReader *self)
{
	self->threads = g_new0(GThread *, self->n_threads);
	for (unsigned i = 0; i < self->n_threads; i++)
		self->threads[i] = lode_quiet_thread_new("lode-unpack", run_worker, self);
}

static void stop_workers(LodeTraceReader *self)
{
	g_mutex_lock(&self->lock);
	self->is_stopping = true;
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
	for (unsigned i = 0; self->threads != NULL && i < self->n_threads; i++)
		g_thread_join(self->threads[i]);
	g_free(self->threads);
}

void lode_trace_reader_close(LodeTraceReader *self)
{
	if (self == NULL)
		return;
	stop_workers(self);
	g_queue_clear_full(&self->jobs, (GDestroyNotify)job_free);
	dictionary_cursor_clear(&self->asked);
	dictionary_cursor_clear(&self->cursor);
	g_clear_error(&self->broken);
	lode_function_region_free(self->region);
	g_clear_pointer(&self->inside, g_ptr_array_unref);
	lode_rps_file_close(self->file);
	g_mutex_clear(&self->cursor_lock);
	g_mutex_clear(&self->lock);
	g_cond_clear(&self->changed);
	g_free(self);
}

/* Lets go of a frame of which all was given. */
static void release(LodeTraceReader *self)
{
	Job *job = g_queue_peek_head(&self->jobs);

	if (job == NULL || !job->is_done || job->error != NULL ||
		job->next_frame < job->frames->len)
		return;
	g_queue_pop_head(&self->jobs);
	self->bytes -= job->bytes;
	job_free(job);
	g_cond_broadcast(&self->changed);
}

/* The job whose turn it is, once it is done; NULL at the end. */
static Job *wait_for_first(LodeTraceReader *self)
{
	for (;;) {
		release(self);
		Job *job = g_queue_peek_head(&self->jobs);

		if (job == NULL && self->next_claim >= self->end_frame)
			return NULL;
		if (job != NULL && job->is_done)
			return job;
		g_cond_wait(&self->changed, &self->lock);
	}
}

static int next_frame(LodeTraceReader *self, const LodeTraceFrame **out_frame, GError **error)
{
	int result = 0;

	if (self->threads == NULL)
		start_workers(self);
	g_mutex_lock(&self->lock);
	Job *job = wait_for_first(self);
	if (job != NULL && job->error != NULL) {
		if (error != NULL)
			*error = g_error_copy(job->error);
		result = -1;
	} else if (job != NULL) {
		*out_frame = g_ptr_array_index(job->frames, job->next_frame++);
		result = 1;
	}
	g_mutex_unlock(&self->lock);
	return result;
}

int lode_trace_reader_next(LodeTraceReader *self, const LodeTraceFrame **out_frame, GError **error)
{
	const LodeTraceFrame *frame;
	int more;

	if (self->region == NULL)
		return next_frame(self, out_frame, error);
	while (self->n_inside_given == self->inside->len) {
		g_ptr_array_set_size(self->inside, 0);
		self->n_inside_given = 0;
		if ((more = next_frame(self, &frame, error)) <= 0)
			return more;
		lode_function_region_take(self->region, frame, self->inside);
	}
	*out_frame = self->inside->pdata[self->n_inside_given++];
	return 1;
}

void lode_trace_reader_set_functions(LodeTraceReader *self, const GArray *addresses)
{
	self->region = lode_function_region_new(addresses, self->file->description);
	self->inside = g_ptr_array_new_with_free_func((GDestroyNotify)lode_trace_frame_free);
}

uint64_t lode_trace_reader_n_given_before(const LodeTraceReader *self, uint64_t reference)
{
	const LodeTraceRange *range = &self->range;

	if (self->region != NULL)
		return lode_function_region_n_before(self->region, reference);
	return MIN(reference - MIN(reference, range->first), range->count);
}

LodeTraceRange lode_trace_reader_range(const LodeTraceReader *self)
{
	return self->range;
}

const LodeTraceDescription *lode_trace_reader_description(const LodeTraceReader *self)
{
	return self->file->description;
}

static const LodeFrameHead *last_head(const LodeTraceReader *self)
{
	static const LodeFrameHead none = {0};
	guint n = self->file->frames->len;

	return n > 0 ? &lode_rps_file_frame(self->file, n - 1)->summary.head : &none;
}

uint64_t lode_trace_reader_n_references(const LodeTraceReader *self)
{
	return last_head(self)->first_reference + last_head(self)->n_references;
}

uint64_t lode_trace_reader_n_instructions(const LodeTraceReader *self)
{
	return last_head(self)->first_instruction + last_head(self)->n_instructions;
}

uint64_t lode_trace_reader_n_frames(const LodeTraceReader *self)
{
	return self->file->frames->len;
}

unsigned lode_trace_reader_n_threads(const LodeTraceReader *self)
{
	unsigned n = 0;

	for (guint i = 0; i < self->file->frames->len; i++) {
		const LodeRpsSummary *summary = &lode_rps_file_frame(self->file, i)->summary;

		n = MAX(n, summary->threads[summary->n_threads - 1] + 1U);
	}
	return n;
}

const char *lode_trace_reader_damage(const LodeTraceReader *self)
{
	return self->file->damage;
}

bool lode_trace_reader_is_whole(const LodeTraceReader *self, GError **error)
{
	if (self->file->damage == NULL)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: %s", self->file->path,
		self->file->damage);
	return false;
}

/* Streams that were packed together share what that takes by their sizes. */
static void set_stream_bytes(const LodeRpsFrame *rps, LodeTraceFrameInfo *info)
{
	unsigned stream = 0;

	for (unsigned i = 0; i < rps->n_pieces; i++) {
		const LodeRpsPiece *piece = &rps->pieces[i];
		uint64_t packed_left = piece->packed_bytes, left = piece->bytes;

		for (unsigned k = 0; k < piece->n_streams; k++, stream++) {
			uint64_t bytes = rps->stream_bytes[stream];
			uint64_t share = (uint64_t)((double)packed_left * (double)bytes /
							    (double)left +
						    0.5);

			info->stream_bytes[rps->streams[stream]] = bytes;
			info->stream_packed_bytes[rps->streams[stream]] = share;
			packed_left -= share;
			left -= bytes;
		}
	}
}

bool lode_trace_reader_frame_info(
	LodeTraceReader *self, uint64_t frame, LodeTraceFrameInfo *out_info, GError **error)
{
	const LodeRpsEntry *entry = lode_rps_file_frame(self->file, frame);
	g_auto(LodeFrameUnpacking) unpacking = {0};
	LodeTraceFrameInfo info = {.offset = entry->offset, .bytes = entry->bytes};

	if (!lode_frame_unpacking_init(&unpacking, self->file, frame, error))
		return false;
	info.is_plain = unpacking.rps.summary.form != LODE_RPS_CODED;
	info.head = unpacking.rps.summary.head;
	set_stream_bytes(&unpacking.rps, &info);
	*out_info = info;
	return true;
}

static void add_class(GArray *counts, const LodeSlotClassCount *count)
{
	for (guint i = 0; i < counts->len; i++) {
		LodeSlotClassCount *sum = &g_array_index(counts, LodeSlotClassCount, i);

		if (g_str_equal(sum->name, count->name)) {
			sum->n_slots += count->n_slots;
			sum->n_references += count->n_references;
			return;
		}
	}
	g_array_append_vals(counts, count, 1);
}

/* Frames after one whose blocks cannot be read are not tried again: there may be many. */
static bool ask(LodeTraceReader *self, uint64_t frame, LodeFrameUnpacking *unpacking)
{
	uint32_t dictionary = lode_rps_file_frame(self->file, frame)->summary.dictionary;

	if (self->broken != NULL && self->broken_dictionary == dictionary &&
		frame >= self->broken_frame)
		return false;
	g_clear_error(&self->broken);
	if (dictionary_cursor_take(&self->asked, frame, unpacking, &self->broken))
		return true;
	self->broken_dictionary = dictionary;
	self->broken_frame = frame;
	dictionary_cursor_clear(&self->asked);
	return false;
}

bool lode_trace_reader_count_classes(
	LodeTraceReader *self, uint64_t frame, GArray *counts, GError **error)
{
	g_auto(LodeFrameUnpacking) unpacking = {0};

	if (!ask(self, frame, &unpacking)) {
		g_propagate_error(error, g_error_copy(self->broken));
		return false;
	}
	if (unpacking.rps.summary.form != LODE_RPS_CODED)
		return true;
	g_autoptr(GArray) more = lode_frame_unpacking_count_classes(
		&unpacking, self->asked.dictionary, error);
	for (guint i = 0; more != NULL && i < more->len; i++)
		add_class(counts, &g_array_index(more, LodeSlotClassCount, i));
	return more != NULL;
}

bool lode_trace_reader_is_format(const char *data, size_t size)
{
	return size >= LODE_RPS_MAGIC_BYTES &&
	       memcmp(data, LODE_RPS_MAGIC, LODE_RPS_MAGIC_BYTES) == 0;
}

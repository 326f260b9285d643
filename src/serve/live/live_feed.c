/* SPDX-License-Identifier: MIT */
#include "serve/live/live_feed.h"

#include "base/quiet_thread.h"
#include "record/perf/record_queue.h"
#include "record/perf/sampling_switch.h"
#include "serve/live/live_fit.h"
#include "views/live/live_json.h"

enum { MAX_QUEUED_BYTES = 16 << 20, WAIT_MS = 100, PICTURE_US = G_USEC_PER_SEC / 2 };
/* The size of a screen. */
enum { COLUMNS = 160, ROWS = 40 };

struct LodeLiveFeed {
	LodeLiveFeedOptions options;
	LodePerfObserver observer;
	LodeRecordQueue queue;
	GThread *thread;
	LodeSamplingSwitch sampling;
	gint has_begun, is_ending; /* atomic */
	GMutex lock;               /* of all fields below */
	GCond changed;
	LodeLiveFit *fit; /* NULL: there is none */
	LodeLiveModel model;
	LodeLiveFindings *findings; /* NULL: none yet */
	uint64_t number;            /* of the picture, from 1 */
	bool is_over;
};

/* --- the recorder's thread --- */

static void begin(const LodePerfObservedEvent *events, size_t n_events, void *user_data)
{
	LodeLiveFeed *self = user_data;

	g_mutex_lock(&self->lock);
	for (size_t i = 0; i < n_events; i++)
		lode_live_addresses_add_event(self->model.addresses, &events[i]);
	g_mutex_unlock(&self->lock);
	g_atomic_int_set(&self->has_begun, TRUE);
}

static void take_record(const void *record, size_t size, void *user_data)
{
	LodeLiveFeed *self = user_data;

	lode_record_queue_put(&self->queue, record, size);
}

static bool end_round(bool is_sampling, void *user_data)
{
	LodeLiveFeed *self = user_data;

	lode_record_queue_end_batch(&self->queue);
	return lode_sampling_switch_turn(&self->sampling, is_sampling);
}

/* --- the feed's thread --- */

/* The lock is released between batches, so that streams can take it. */
static void take_records(LodeLiveFeed *self)
{
	GByteArray *batch;

	if (!g_atomic_int_get(&self->has_begun))
		return;
	while ((batch = lode_record_queue_take(&self->queue)) != NULL) {
		g_mutex_lock(&self->lock);
		lode_live_model_add(&self->model, batch->data, batch->len);
		g_mutex_unlock(&self->lock);
		g_byte_array_unref(batch);
	}
}

static void *run(void *data)
{
	LodeLiveFeed *self = data;
	gint64 shown_us = 0;

	while (!g_atomic_int_get(&self->is_ending)) {
		take_records(self);
		g_mutex_lock(&self->lock);
		gint64 now_us = g_get_monotonic_time();
		if (now_us - shown_us >= PICTURE_US) {
			shown_us = now_us;
			self->number++;
			g_cond_broadcast(&self->changed);
		}
		g_cond_wait_until(
			&self->changed, &self->lock, now_us + WAIT_MS * G_TIME_SPAN_MILLISECOND);
		g_mutex_unlock(&self->lock);
	}
	take_records(self);
	g_mutex_lock(&self->lock);
	self->is_over = true;
	self->number++;
	g_cond_broadcast(&self->changed);
	g_mutex_unlock(&self->lock);
	return NULL;
}

/* --- the fit's thread --- */

static void take_findings(LodeLiveFindings *findings, void *user_data)
{
	LodeLiveFeed *self = user_data;

	g_mutex_lock(&self->lock);
	lode_live_findings_free(self->findings);
	self->findings = findings;
	g_mutex_unlock(&self->lock);
}

/* --- all --- */

LodeLiveFeed *lode_live_feed_open(const LodeLiveFeedOptions *options)
{
	LodeLiveFeed *self = g_new0(LodeLiveFeed, 1);
	const LodeLiveAddressesOptions addresses = {
		.proc = "/proc",
		.charges_next_access = options->charges_next_access,
		.log_directory = options->log_directory,
		.skipped_frames = options->skipped_frames,
	};

	self->options = *options;
	self->observer = (LodePerfObserver){begin, take_record, end_round, self};
	self->sampling.is_on = !options->start_stopped;
	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	lode_record_queue_init(&self->queue, MAX_QUEUED_BYTES);
	lode_live_model_init(&self->model, &addresses);
	self->thread = lode_quiet_thread_new("lode-feed", run, self);
	if (options->recording != NULL) {
		const LodeImportOptions import = {
			.charges_next_access = options->charges_next_access,
			.skipped_frames = options->skipped_frames,
		};
		self->fit = lode_live_fit_open(options->recording, &import, take_findings, self);
	}
	return self;
}

const LodePerfObserver *lode_live_feed_observer(LodeLiveFeed *self)
{
	return &self->observer;
}

void lode_live_feed_end(LodeLiveFeed *self)
{
	if (self->thread == NULL)
		return;
	g_mutex_lock(&self->lock);
	LodeLiveFit *fit = g_steal_pointer(&self->fit);
	g_mutex_unlock(&self->lock);
	lode_live_fit_close(fit);
	g_atomic_int_set(&self->is_ending, TRUE);
	g_thread_join(self->thread);
	self->thread = NULL;
}

void lode_live_feed_close(LodeLiveFeed *self)
{
	if (self == NULL)
		return;
	lode_live_feed_end(self);
	lode_live_model_clear(&self->model);
	lode_live_findings_free(self->findings);
	lode_record_queue_clear(&self->queue);
	g_cond_clear(&self->changed);
	g_mutex_clear(&self->lock);
	g_free(self);
}

const char *lode_live_feed_program(const LodeLiveFeed *self)
{
	return self->options.program;
}

bool lode_live_feed_is_over(LodeLiveFeed *self)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	return self->is_over;
}

void lode_live_feed_sample(LodeLiveFeed *self, bool is_sampling)
{
	lode_sampling_switch_request(&self->sampling, is_sampling);
}

/* The caller holds the lock. */
static void put_picture(LodeLiveFeed *self, const LodeLiveLook *look, GString *out)
{
	g_auto(LodeLiveState) state;
	LodeJsonStream json;
	bool has_begun = g_atomic_int_get(&self->has_begun);

	lode_live_state_init(&state);
	state.granularity = look->granularity;
	state.measure = (LodeLiveMeasure)look->measure;
	if (look->thread >= 0) {
		state.only_tagged = true;
		g_hash_table_add(state.tagged, GINT_TO_POINTER(look->thread));
	}
	LodeLiveJsonOptions options = {
		.width = COLUMNS,
		.height = ROWS,
		.state = &state,
		.status = {.program = self->options.program,
			.n_dropped = lode_record_queue_n_dropped(&self->queue) +
	                             lode_live_addresses_n_unreadable(self->model.addresses),
			.is_sampling = lode_sampling_switch_is_on(&self->sampling),
			.is_stall_weighted = has_begun &&
	                                     lode_live_addresses_is_by_time(self->model.addresses)},
		.findings = self->findings,
		.is_over = self->is_over,
	};
	lode_live_model_status(&self->model, &options.status);
	lode_json_stream_init_text(&json, out);
	lode_live_json_put(&json, &self->model, &options);
}

bool lode_live_feed_next(LodeLiveFeed *self, const LodeLiveLook *look, uint64_t *number,
	gint64 wait_us, GCancellable *cancellable, GString *out, bool *out_is_over)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	gint64 until_us = g_get_monotonic_time() + wait_us;

	if (self->fit != NULL && g_atomic_int_get(&self->has_begun))
		lode_live_fit_request(self->fit);
	while (self->number == *number && !self->is_over && g_get_monotonic_time() < until_us &&
		!g_cancellable_is_cancelled(cancellable))
		g_cond_wait_until(&self->changed, &self->lock,
			MIN(until_us, g_get_monotonic_time() + WAIT_MS * G_TIME_SPAN_MILLISECOND));
	*out_is_over = self->is_over;
	if (self->number == *number || g_cancellable_is_cancelled(cancellable))
		return false;
	*number = self->number;
	put_picture(self, look, out);
	return true;
}

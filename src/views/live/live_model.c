/* SPDX-License-Identifier: MIT */
#include "views/live/live_model.h"

#include "analyses/memory/coverage.h"
#include "base/arrays/sum_table.h"
#include "model/process.h"
#include "views/live/live_counts.h"
#include "views/live/live_drawing.h"

/* A rate over less jumps about. The picture may stand still for a moment when code is first seen.
 */
enum { RATE_US = G_USEC_PER_SEC, PATIENCE_US = 100 * 1000 };
/* Blocks allocated since then have no name yet. */
enum { LOG_INTERVAL_US = G_USEC_PER_SEC };

static void clear_thread(void *data)
{
	LodeLiveThread *thread = data;

	g_free(thread->label);
	g_free(thread->name);
}

/* Threads and their names come while records are read. */
static void follow_threads(LodeLiveModel *self)
{
	const GArray *known = lode_live_addresses_threads(self->addresses);

	while (self->threads->len < known->len) {
		const LodeThread *thread = &g_array_index(known, LodeThread, self->threads->len);
		const LodeThread *first = &g_array_index(known, LodeThread, 0);
		const LodeLiveThread added = {
			.label = thread->pid == first->pid
		                         ? g_strdup_printf("%u", thread->ordinal)
		                         : g_strdup_printf("%u.%u", thread->pid, thread->ordinal),
			.tid = thread->tid,
		};
		g_array_append_val(self->threads, added);
	}
}

static void follow_names(LodeLiveModel *self)
{
	const GArray *known = lode_live_addresses_threads(self->addresses);

	for (guint i = 0; i < self->threads->len; i++) {
		const LodeThread *thread = &g_array_index(known, LodeThread, i);
		LodeLiveThread *own = &g_array_index(self->threads, LodeLiveThread, i);
		own->has_ended = thread->end_ns != UINT64_MAX;
		if (g_strcmp0(own->name, thread->name) == 0)
			continue;
		g_free(own->name);
		own->name = g_strdup(thread->name);
	}
}

/* A sample with two operands comes in halves. */
static void count_function(LodeLiveModel *self, const LodeLiveSample *sample)
{
	*lode_sum_at(self->functions, sample->function) += sample->weight;
	self->weight += sample->weight;
}

static void count_sample(LodeLiveModel *self, const LodeLiveSample *sample)
{
	LodeLiveThread *thread = &g_array_index(self->threads, LodeLiveThread, sample->thread);
	bool is_lost = sample->rule == LODE_RULE_NONE;

	if (sample->operand > 0)
		return;
	self->n_samples++;
	thread->n_samples++;
	if (!lode_address_loss_counts(sample->rule, sample->reason))
		return;
	self->n_accesses++;
	self->n_lost += is_lost;
	self->n_of_reason[sample->reason]++;
	thread->n_accesses++;
	thread->n_lost += is_lost;
}

static void take(const LodeLiveSample *sample, void *user_data)
{
	LodeLiveModel *self = user_data;

	follow_threads(self);
	count_sample(self, sample);
	count_function(self, sample);
	if (sample->rule == LODE_RULE_NONE || self->state.is_frozen)
		return;
	const LodeLiveAccess access = {
		.thread = sample->thread,
		.access = sample->access,
		.address = sample->address,
		.weight = sample->weight,
		.mapping = sample->mapping,
		.object = sample->object,
		.function = sample->function,
	};
	lode_live_counts_add(self->counts, &access);
}

void lode_live_model_init(LodeLiveModel *self, const LodeLiveAddressesOptions *options)
{
	LodeLiveAddressesOptions own = *options;

	own.take = take;
	own.user_data = self;
	own.patience_us = PATIENCE_US;
	own.log_interval_us = LOG_INTERVAL_US;
	*self = (LodeLiveModel){
		.addresses = lode_live_addresses_new(&own),
		.counts = lode_live_counts_new(0),
		.threads = g_array_new(FALSE, FALSE, sizeof(LodeLiveThread)),
		.functions = g_hash_table_new_full(NULL, NULL, NULL, g_free),
		.start_us = g_get_monotonic_time(),
	};
	self->rate_us = self->start_us;
	g_array_set_clear_func(self->threads, clear_thread);
	lode_live_state_init(&self->state);
}

void lode_live_model_clear(LodeLiveModel *self)
{
	lode_live_state_clear(&self->state);
	g_clear_pointer(&self->functions, g_hash_table_unref);
	g_clear_pointer(&self->threads, g_array_unref);
	g_clear_pointer(&self->held, lode_live_counts_free);
	g_clear_pointer(&self->counts, lode_live_counts_free);
	g_clear_pointer(&self->addresses, lode_live_addresses_free);
}

void lode_live_model_add(LodeLiveModel *self, const void *records, size_t size)
{
	lode_live_addresses_add(self->addresses, records, size);
	follow_threads(self);
	follow_names(self);
}

void lode_live_model_scene(
	LodeLiveModel *self, LodeLiveScene *scene, unsigned width, unsigned height)
{
	unsigned n_threads = 0;

	for (guint i = 0; i < self->threads->len; i++)
		n_threads += g_array_index(self->threads, LodeLiveThread, i).n_samples > 0;
	const LodeLiveRoom room = lode_live_room(width, height, n_threads);
	lode_live_scene_init(scene, self->held != NULL ? self->held : self->counts, self->threads,
		&self->state, &room);
}

LodeLiveWish lode_live_model_key(LodeLiveModel *self, const LodeLiveScene *scene, uint32_t key)
{
	LodeLiveWish wish = lode_live_state_key(&self->state, scene, key);

	if (wish == LODE_LIVE_PAUSE) {
		g_clear_pointer(&self->held, lode_live_counts_free);
		if (self->state.is_paused)
			self->held = lode_live_counts_copy(self->counts);
	}
	if (wish == LODE_LIVE_RESET) {
		lode_live_counts_reset(self->counts);
		if (self->held != NULL)
			lode_live_counts_reset(self->held);
	}
	return wish;
}

static void update_rate(LodeLiveModel *self)
{
	gint64 now_us = g_get_monotonic_time(), passed_us = now_us - self->rate_us;

	if (passed_us < RATE_US)
		return;
	self->samples_per_second = (double)(self->n_samples - self->rate_samples) * G_USEC_PER_SEC /
	                           (double)passed_us;
	self->rate_us = now_us;
	self->rate_samples = self->n_samples;
}

static const char *main_reason(const LodeLiveModel *self)
{
	int most = LODE_REASON_NONE;
	uint64_t n = 0;

	for (int i = LODE_REASON_NONE + 1; i < LODE_N_REASONS; i++) {
		if (self->n_of_reason[i] <= n)
			continue;
		most = i;
		n = self->n_of_reason[i];
	}
	return n > 0 ? lode_address_reason_to_text((LodeAddressReason)most) : NULL;
}

void lode_live_model_status(LodeLiveModel *self, LodeLiveStatus *status)
{
	update_rate(self);
	status->seconds = (double)(g_get_monotonic_time() - self->start_us) / G_USEC_PER_SEC;
	status->samples_per_second = self->samples_per_second;
	status->n_samples = self->n_samples;
	status->n_accesses = self->n_accesses;
	status->n_lost = self->n_lost;
	status->reason = main_reason(self);
}

/* SPDX-License-Identifier: MIT */
#include "serve/live/live_fit.h"

#include "analyses/findings/findings.h"
#include "base/monotonic_clock.h"
#include "base/quiet_thread.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <gio/gio.h>
#include <sys/resource.h>
#include <time.h>

/* The time before the first fit, the least time between two, and the time that a request for a
 * picture keeps fits running. With the lowest priority a fit would take minutes beside a program
 * that uses all processors. */
#define FIRST_US (1 * G_USEC_PER_SEC)
#define LEAST_PAUSE_US (2 * G_USEC_PER_SEC)
#define WANTED_US (5 * G_USEC_PER_SEC)
enum { PAUSES = 9, NICE = 5 };

struct LodeLiveFit {
	char *recording;
	LodeImportOptions import;
	LodeLiveFitTake take;
	void *user_data;
	GThread *thread;
	GCancellable *cancellable;
	GMutex lock; /* of all fields below */
	GCond changed;
	bool is_ending;
	gint64 wanted_us; /* end of the time that fits are wanted; 0: not yet */
};

/* NULL: no findings yet, for example in a recording without samples. */
static LodeLiveFindings *fit(const LodeLiveFit *self)
{
	const LodeProgress progress = {.cancellable = self->cancellable};
	const char *path = self->recording;
	LodeImportOptions import = self->import;
	LodeMiningParameters parameters;

	import.paths = &path;
	import.n_paths = import.threads = 1;
	g_autoptr(LodeProfile) profile = lode_import(&import, &progress, NULL);
	if (profile == NULL)
		return NULL;
	lode_mining_parameters_init(&parameters);
	parameters.threads = 1;
	g_autoptr(LodeFindings) findings = lode_findings_fit(profile, &parameters, &progress, NULL);
	return findings != NULL ? lode_live_findings_new(profile, findings) : NULL;
}

/* False: the fit is being closed. */
static bool wait_for(LodeLiveFit *self, gint64 from_us)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	while (!self->is_ending &&
		(self->wanted_us < g_get_monotonic_time() || g_get_monotonic_time() < from_us))
		if (self->wanted_us < g_get_monotonic_time())
			g_cond_wait(&self->changed, &self->lock);
		else
			g_cond_wait_until(&self->changed, &self->lock, from_us);
	return !self->is_ending;
}

static void *run(void *data)
{
	LodeLiveFit *self = data;
	gint64 from_us = g_get_monotonic_time() + FIRST_US;

	/* In Linux a priority belongs to a thread, and its new threads inherit it. */
	setpriority(PRIO_PROCESS, 0, NICE);
	while (wait_for(self, from_us)) {
		uint64_t start_ns = lode_thread_ns();
		LodeLiveFindings *findings = fit(self);
		gint64 took_us = (gint64)((lode_thread_ns() - start_ns) / 1000);
		if (findings != NULL)
			self->take(findings, self->user_data);
		from_us = g_get_monotonic_time() + MAX(LEAST_PAUSE_US, PAUSES * took_us);
	}
	return NULL;
}

LodeLiveFit *lode_live_fit_open(const char *recording, const LodeImportOptions *import,
	LodeLiveFitTake take, void *user_data)
{
	LodeLiveFit *self = g_new0(LodeLiveFit, 1);

	self->recording = g_strdup(recording);
	self->import = *import;
	self->take = take;
	self->user_data = user_data;
	self->cancellable = g_cancellable_new();
	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	self->thread = lode_quiet_thread_new("lode-fit", run, self);
	return self;
}

void lode_live_fit_close(LodeLiveFit *self)
{
	if (self == NULL)
		return;
	g_cancellable_cancel(self->cancellable);
	g_mutex_lock(&self->lock);
	self->is_ending = true;
	g_cond_signal(&self->changed);
	g_mutex_unlock(&self->lock);
	g_thread_join(self->thread);
	g_object_unref(self->cancellable);
	g_cond_clear(&self->changed);
	g_mutex_clear(&self->lock);
	g_free(self->recording);
	g_free(self);
}

void lode_live_fit_request(LodeLiveFit *self)
{
	g_mutex_lock(&self->lock);
	self->wanted_us = g_get_monotonic_time() + WANTED_US;
	g_cond_signal(&self->changed);
	g_mutex_unlock(&self->lock);
}

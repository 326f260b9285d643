/* SPDX-License-Identifier: MIT */
/* Findings of a recording come while somebody looks, and not where there is none. */
#include "record/perf/perf_sampler.h"
#include "serve/live/live_fit.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

typedef struct {
	GMutex lock;
	GCond changed;
	LodeLiveFindings *newest;
	unsigned n_taken;
} Taken;

static void take(LodeLiveFindings *findings, void *user_data)
{
	Taken *self = user_data;

	g_mutex_lock(&self->lock);
	lode_live_findings_free(self->newest);
	self->newest = findings;
	self->n_taken++;
	g_cond_signal(&self->changed);
	g_mutex_unlock(&self->lock);
}

static void wait_until(Taken *self, LodeLiveFit *fit, unsigned n_taken)
{
	const gint64 end_us = g_get_monotonic_time() + 120 * G_USEC_PER_SEC;

	g_mutex_lock(&self->lock);
	while (self->n_taken < n_taken) {
		g_assert_cmpint(g_get_monotonic_time(), <, end_us);
		g_mutex_unlock(&self->lock);
		lode_live_fit_request(fit);
		g_mutex_lock(&self->lock);
		g_cond_wait_until(
			&self->changed, &self->lock, g_get_monotonic_time() + G_USEC_PER_SEC / 4);
	}
	g_mutex_unlock(&self->lock);
}

static double member_of(const LodeLiveFindings *findings, const char *name)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	lode_live_findings_put(findings, &json);
	json_parser_load_from_data(parser, text->str, (gssize)text->len, &error);
	g_assert_no_error(error);
	return json_object_get_double_member(
		json_node_get_object(json_parser_get_root(parser)), name);
}

static LodePerfSampling *record(const char *output)
{
	static const char *const program[] = {
		"/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done", NULL};
	static const char *const events[] = {"cpu-clock:u", NULL};
	const LodePerfSamplerOptions options = {
		.events = events,
		.frequency = 5000,
		.argv = program,
		.output = output,
	};
	g_autoptr(GError) error = NULL;
	LodePerfSampling *sampled = lode_perf_sampler_run(&options, NULL, &error);

	if (sampled == NULL)
		g_test_skip(error->message);
	return sampled;
}

/* And again, of the same samples. */
static void test_recording(void)
{
	g_autofree char *directory = g_dir_make_tmp("live-fit-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "perf.data", NULL);
	const LodeImportOptions import = {0};
	Taken taken = {0};

	g_autoptr(LodePerfSampling) sampled = record(path);
	if (sampled != NULL) {
		g_autoptr(LodeLiveFit) fit = lode_live_fit_open(path, &import, take, &taken);
		wait_until(&taken, fit, 1);
		g_mutex_lock(&taken.lock);
		double samples = member_of(taken.newest, "samples");
		g_mutex_unlock(&taken.lock);
		g_assert_cmpfloat(samples, >, 0);
		g_assert_cmpfloat(samples, <=, (double)sampled->n_samples);
		wait_until(&taken, fit, 2);
		g_mutex_lock(&taken.lock);
		g_assert_cmpfloat(member_of(taken.newest, "samples"), ==, samples);
		g_mutex_unlock(&taken.lock);
	}
	lode_live_findings_free(taken.newest);
	g_unlink(path);
	g_rmdir(directory);
}

/* A recording that is not there, or is none, gives nothing; closing does not wait for the next try.
 */
static void test_none(void)
{
	static const char *const paths[] = {"/nowhere/perf.data", "/dev/null", "/"};
	const LodeImportOptions import = {0};
	Taken taken = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autoptr(LodeLiveFit) fit = lode_live_fit_open(paths[i], &import, take, &taken);
		lode_live_fit_request(fit);
		g_usleep(1200 * G_TIME_SPAN_MILLISECOND);
	}
	g_assert_cmpuint(taken.n_taken, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_fit/recording", test_recording);
	g_test_add_func("/live_fit/none", test_none);
	return g_test_run();
}

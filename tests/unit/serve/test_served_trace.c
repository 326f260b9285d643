/* SPDX-License-Identifier: MIT */
/* Traces beside profiles: what is one is told by its first bytes, and what was simulated is kept.
 */
#include "../traces/trace_file_check.h"
#include "../traces/trace_samples.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "model/profile.h"
#include "serve/served_trace.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

static char *write_trace(void)
{
	const LodeTraceWriterOptions options = {.threads = 1};
	g_autoptr(GArray) references = lode_trace_sample(lode_trace_sample_names[0], 5000, 1);
	char *path = lode_new_trace_path();

	lode_write_trace(path, references, &options);
	return path;
}

static LodeHierarchy *caches(const char *text)
{
	g_autoptr(GError) error = NULL;
	LodeHierarchy *hierarchy = lode_hierarchy_parse(text, &error);

	g_assert_no_error(error);
	return hierarchy;
}

static void test_is_one(void)
{
	g_autofree char *trace = write_trace();
	g_autofree char *folder = g_path_get_dirname(trace);
	g_autofree char *other = g_build_filename(folder, "other", NULL);

	g_assert_cmpint(lode_file_kind(trace), ==, LODE_FILE_KIND_PACKED_TRACE);
	g_assert_cmpint(lode_file_kind(folder), !=, LODE_FILE_KIND_PACKED_TRACE);
	g_assert_cmpint(lode_file_kind(other), !=, LODE_FILE_KIND_PACKED_TRACE);
	g_assert_true(g_file_set_contents(other, "", 0, NULL));
	g_assert_cmpint(lode_file_kind(other), !=, LODE_FILE_KIND_PACKED_TRACE);
	g_assert_true(g_file_set_contents(other, "SQLite format 3", -1, NULL));
	g_assert_cmpint(lode_file_kind(other), !=, LODE_FILE_KIND_PACKED_TRACE);
	g_unlink(other);
	lode_remove_trace(trace);
}

static void test_open(void)
{
	g_autofree char *path = write_trace();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeServedTrace) trace = lode_served_trace_open(path, &error);

	g_assert_no_error(error);
	g_assert_cmpstr(lode_served_trace_path(trace), ==, path);
	g_assert_cmpstr(lode_served_trace_name(trace), ==, "x.rps");
	lode_remove_trace(path);
	g_assert_null(lode_served_trace_open(path, &error));
	g_assert_nonnull(error);
}

/* The same caches give the same profile, others another; a failure keeps what was there, and leaves
 * the trace to others. */
static void test_profile(void)
{
	g_autofree char *path = write_trace();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeServedTrace) trace = lode_served_trace_open(path, &error);
	g_autoptr(LodeHierarchy) one = caches("d1=1K:2:64"), other = caches("d1=8K:2:64");
	const LodeImportOptions small = {.replay.hierarchy = one},
				large = {.replay.hierarchy = other};
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};

	const LodeProfile *first = lode_served_trace_take_profile(
		trace, &small, "small", NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(first->code.events->len, >, 0);
	lode_served_trace_give_back(trace);
	g_assert_true(
		lode_served_trace_take_profile(trace, &small, "small", NULL, &error) == first);
	lode_served_trace_give_back(trace);

	g_cancellable_cancel(cancellable);
	g_assert_null(lode_served_trace_take_profile(trace, &large, "large", &progress, &error));
	g_assert_nonnull(error);
	g_clear_error(&error);
	g_assert_true(
		lode_served_trace_take_profile(trace, &small, "small", NULL, &error) == first);
	lode_served_trace_give_back(trace);

	g_assert_nonnull(lode_served_trace_take_profile(trace, &large, "large", NULL, &error));
	g_assert_no_error(error);
	lode_served_trace_give_back(trace);
	lode_remove_trace(path);
	/* What is kept does not need the file. */
	g_assert_nonnull(lode_served_trace_take_profile(trace, &large, "large", NULL, &error));
	lode_served_trace_give_back(trace);
	g_assert_null(lode_served_trace_take_profile(trace, &small, "small", NULL, &error));
	g_assert_nonnull(error);
}

static void *stop(void *cancellable)
{
	g_cancellable_cancel(cancellable);
	return NULL;
}

/* Whoever waits for another's simulation can be stopped. */
static void test_waiting(void)
{
	g_autofree char *path = write_trace();
	g_autoptr(LodeServedTrace) trace = lode_served_trace_open(path, NULL);
	g_autoptr(LodeHierarchy) hierarchy = caches("d1=1K:2:64");
	const LodeImportOptions small = {.replay.hierarchy = hierarchy};
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;

	g_assert_nonnull(lode_served_trace_take_profile(trace, &small, "small", NULL, &error));
	GThread *stopper = g_thread_new("stop", stop, cancellable);
	g_assert_null(lode_served_trace_take_profile(trace, &small, "small", &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	g_thread_join(stopper);
	lode_served_trace_give_back(trace);
	lode_remove_trace(path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/served_trace/is_one", test_is_one);
	g_test_add_func("/served_trace/open", test_open);
	g_test_add_func("/served_trace/profile", test_profile);
	g_test_add_func("/served_trace/waiting", test_waiting);
	return g_test_run();
}

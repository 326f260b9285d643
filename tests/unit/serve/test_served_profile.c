/* SPDX-License-Identifier: MIT */
/* What is served of a profile that is not mined, or while one client has it mined. */
#include "../store/random_profile.h"
#include "base/error.h"
#include "serve/served_profile.h"

#include <gio/gio.h>

/* A run of which only findings are stored; `origins` NULL: of the whole profile. */
static void add_run(
	const char *path, const LodeProfile *profile, const char *name, const char *origins)
{
	LodeMiningParameters parameters;
	g_autoptr(GError) error = NULL;

	lode_mining_parameters_init(&parameters);
	parameters.only_findings = true;
	parameters.origins = origins;
	g_autoptr(LodeMiningRun) run = lode_mining_run_new(name, &parameters);
	lode_profile_store_add_run(path, profile, run, NULL, &error);
	g_assert_no_error(error);
}

/* A miner that goes no further until it may. */
typedef struct {
	LodeProfileSnapshot *snapshot;
	GMutex lock;
	GCond changed;
	bool is_mining, may_go_on;
} Miner;

static void wait_in_the_middle(
	const char *stage, double done, double total, const char *detail, void *data)
{
	Miner *miner = data;

	(void)stage, (void)done, (void)total, (void)detail;
	g_mutex_lock(&miner->lock);
	miner->is_mining = true;
	g_cond_signal(&miner->changed);
	while (!miner->may_go_on)
		g_cond_wait(&miner->changed, &miner->lock);
	g_mutex_unlock(&miner->lock);
}

static void *mine(void *data)
{
	Miner *miner = data;
	const LodeProgress progress = {.report = wait_in_the_middle, .user_data = miner};

	return (void *)lode_profile_snapshot_run(miner->snapshot, "one", true, &progress, NULL);
}

static GThread *begin_mining(Miner *miner)
{
	GThread *thread = g_thread_new("mine", mine, miner);

	g_mutex_lock(&miner->lock);
	while (!miner->is_mining)
		g_cond_wait(&miner->changed, &miner->lock);
	g_mutex_unlock(&miner->lock);
	return thread;
}

static void *end_mining(Miner *miner, GThread *thread)
{
	g_mutex_lock(&miner->lock);
	miner->may_go_on = true;
	g_cond_signal(&miner->changed);
	g_mutex_unlock(&miner->lock);
	return g_thread_join(thread);
}

/* Findings are shown, and what was kept is found; who wants the sequences too waits, until stopped.
 */
static void check_others(LodeProfileSnapshot *snapshot)
{
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, 1);

	g_assert_nonnull(lode_profile_snapshot_run(snapshot, "one", false, NULL, NULL));
	g_assert_nonnull(lode_profile_snapshot_run(snapshot, "two", false, NULL, NULL));
	lode_profile_snapshot_keep(snapshot, &lode_kept_list, "list", list);
	g_autoptr(GArray) found = lode_profile_snapshot_find(snapshot, &lode_kept_list, "list");
	g_assert_true(found == list);
	g_cancellable_cancel(cancellable);
	g_assert_null(lode_profile_snapshot_run(snapshot, "one", true, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
}

static void test_others_go_on(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(1, 20);
	g_autoptr(GError) error = NULL;
	LodeServedState state;
	Miner miner = {.is_mining = false};

	g_assert_true(lode_profile_store_write(path, profile, NULL, NULL));
	add_run(path, profile, "one", NULL);
	add_run(path, profile, "two", NULL);
	g_autoptr(LodeServedProfile) served = lode_served_profile_open(path, NULL, &error);
	g_assert_no_error(error);
	miner.snapshot = lode_served_profile_take(served, NULL, &state, &error);
	g_assert_no_error(error);
	g_mutex_init(&miner.lock);
	g_cond_init(&miner.changed);
	GThread *thread = begin_mining(&miner);
	check_others(miner.snapshot);
	const LodeMiningRun *mined = end_mining(&miner, thread);
	g_assert_nonnull(mined);
	/* It is mined once for all. */
	g_assert_true(lode_profile_snapshot_run(miner.snapshot, "one", true, NULL, NULL) == mined);
	g_cond_clear(&miner.changed);
	g_mutex_clear(&miner.lock);
	lode_profile_snapshot_unref(miner.snapshot);
	remove_folder(folder);
}

/* Findings come before anybody has mined, once for all who ask, and are stored by nobody. */
static void test_not_mined(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(1, 20);
	g_autoptr(GError) error = NULL;
	LodeServedState state;

	g_assert_true(lode_profile_store_write(path, profile, NULL, NULL));
	g_autoptr(LodeServedProfile) served = lode_served_profile_open(path, NULL, &error);
	g_assert_no_error(error);
	LodeProfileSnapshot *snapshot = lode_served_profile_take(served, NULL, &state, &error);
	g_assert_no_error(error);
	const LodeMiningRun *run = lode_profile_snapshot_run(snapshot, NULL, false, NULL, &error);
	g_assert_no_error(error);
	g_assert_nonnull(run->findings);
	g_assert_true(lode_profile_snapshot_run(snapshot, NULL, false, NULL, NULL) == run);
	const LodeMiningRun *mined = lode_profile_snapshot_run(snapshot, NULL, true, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(mined->sequences->len, >, 0);
	g_assert_null(lode_profile_snapshot_run(snapshot, "other", false, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	g_autoptr(GPtrArray) stored = lode_profile_store_list_runs(path, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(stored->len, ==, 0);
	lode_profile_snapshot_unref(snapshot);
	remove_folder(folder);
}

/* A run of a part that has the name of what is found by default is not taken for it. */
static void test_part_by_default_name(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(1, 20);
	g_autoptr(GError) error = NULL;
	LodeServedState state;

	g_assert_true(lode_profile_store_write(path, profile, NULL, NULL));
	add_run(path, profile, "main", "1");
	g_autoptr(LodeServedProfile) served = lode_served_profile_open(path, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfileSnapshot)
		snapshot = lode_served_profile_take(served, NULL, &state, &error);
	g_assert_no_error(error);
	const LodeMiningRun *part = lode_profile_snapshot_run(
		snapshot, "main", false, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(part->parameters.origins, ==, "1");
	const LodeMiningRun *found = lode_profile_snapshot_run(snapshot, NULL, false, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(found->parameters.origins);
	g_assert_true(lode_profile_snapshot_run(snapshot, "main", false, NULL, NULL) == part);
	remove_folder(folder);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/served_profile/others_go_on", test_others_go_on);
	g_test_add_func("/served_profile/not_mined", test_not_mined);
	g_test_add_func("/served_profile/part_by_default_name", test_part_by_default_name);
	return g_test_run();
}

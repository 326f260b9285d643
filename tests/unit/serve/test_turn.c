/* SPDX-License-Identifier: MIT */
/* Turns: one at a time has it, the others get it after, or stop waiting. */
#include "base/error.h"
#include "serve/turn.h"

#include <gio/gio.h>

enum { THREADS = 8, ROUNDS = 200 };

typedef struct {
	LodeTurn turn;
	int n_inside, n_in_all; /* of those that have it */
} Shared;

static void *take_often(void *data)
{
	Shared *shared = data;

	for (int i = 0; i < ROUNDS; i++) {
		g_assert_true(lode_turn_take(&shared->turn, NULL, NULL));
		g_assert_cmpint(++shared->n_inside, ==, 1);
		shared->n_in_all++;
		if (i % 16 == 0)
			g_thread_yield();
		shared->n_inside--;
		lode_turn_give(&shared->turn);
	}
	return NULL;
}

static void test_one_at_a_time(void)
{
	Shared shared = {.n_inside = 0};
	GThread *threads[THREADS];

	lode_turn_init(&shared.turn);
	for (int i = 0; i < THREADS; i++)
		threads[i] = g_thread_new("take", take_often, &shared);
	for (int i = 0; i < THREADS; i++)
		g_thread_join(threads[i]);
	g_assert_cmpint(shared.n_in_all, ==, THREADS * ROUNDS);
	lode_turn_clear(&shared.turn);
}

static void *stop(void *cancellable)
{
	g_cancellable_cancel(cancellable);
	return NULL;
}

static void test_stopped(void)
{
	LodeTurn turn;
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;

	lode_turn_init(&turn);
	g_assert_true(lode_turn_take(&turn, &progress, &error));
	g_assert_no_error(error);
	GThread *stopper = g_thread_new("stop", stop, cancellable);
	g_assert_false(lode_turn_take(&turn, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	g_thread_join(stopper);
	lode_turn_give(&turn);
	g_assert_true(lode_turn_take(&turn, NULL, NULL));
	lode_turn_give(&turn);
	lode_turn_clear(&turn);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/turn/one_at_a_time", test_one_at_a_time);
	g_test_add_func("/turn/stopped", test_stopped);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
/* Connections that are given up, on pairs of sockets. */
#include "serve/connection_watch.h"

#include <sys/socket.h>
#include <unistd.h>

typedef struct {
	int own, other;
	LodeWatchedConnection *watched;
} Pair;

static Pair pair_open(LodeConnectionWatch *watch)
{
	int ends[2];

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
	return (Pair){ends[0], ends[1], lode_connection_watch_add(watch, ends[0])};
}

static void pair_close(LodeConnectionWatch *watch, Pair *pair)
{
	lode_connection_watch_remove(watch, pair->watched);
	close(pair->own);
	if (pair->other >= 0)
		close(pair->other);
}

/* Waits until it is; a test that never gets there is ended from outside. */
static void wait_until_cancelled(GCancellable *query)
{
	while (!g_cancellable_is_cancelled(query))
		g_usleep(1000);
}

static void wait_until_shut(const Pair *pair)
{
	char byte;

	g_assert_cmpint(read(pair->other, &byte, 1), ==, 0);
}

static bool is_open(const Pair *pair)
{
	char byte;

	return recv(pair->other, &byte, 1, MSG_DONTWAIT) < 0;
}

static void test_client_goes(void)
{
	LodeConnectionLimits limits = {.max_connections = 8};
	LodeConnectionWatch *watch = lode_connection_watch_new(&limits);
	g_autoptr(GCancellable) gone = g_cancellable_new(), stays = g_cancellable_new();
	Pair first = pair_open(watch), second = pair_open(watch);

	lode_connection_watch_begin(watch, first.watched, gone);
	lode_connection_watch_begin(watch, second.watched, stays);
	close(first.other);
	first.other = -1;
	wait_until_cancelled(gone);
	g_assert_false(g_cancellable_is_cancelled(stays));
	lode_connection_watch_end(watch, second.watched);
	g_assert_true(is_open(&second));
	pair_close(watch, &first);
	pair_close(watch, &second);
	lode_connection_watch_free(watch);
}

/* One that waits, one whose answer takes long; bytes that arrive do not help. */
static void test_time(void)
{
	LodeConnectionLimits limits = {
		.max_connections = 8, .request_us = 20000, .answer_us = 40000};
	LodeConnectionWatch *watch = lode_connection_watch_new(&limits);
	g_autoptr(GCancellable) query = g_cancellable_new();
	Pair waiting = pair_open(watch), answering = pair_open(watch);

	lode_connection_watch_begin(watch, answering.watched, query);
	g_assert_cmpint(write(waiting.other, "G", 1), ==, 1);
	wait_until_shut(&waiting);
	wait_until_cancelled(query);
	wait_until_shut(&answering);
	pair_close(watch, &waiting);
	pair_close(watch, &answering);
	lode_connection_watch_free(watch);
}

/* The first that waits goes; one that is being answered does not. */
static void test_number(void)
{
	LodeConnectionLimits limits = {.max_connections = 3};
	LodeConnectionWatch *watch = lode_connection_watch_new(&limits);
	g_autoptr(GCancellable) query = g_cancellable_new();
	Pair pairs[6];

	for (int i = 0; i < 3; i++)
		pairs[i] = pair_open(watch);
	lode_connection_watch_begin(watch, pairs[0].watched, query);
	pairs[3] = pair_open(watch);
	wait_until_shut(&pairs[1]);
	pairs[4] = pair_open(watch);
	wait_until_shut(&pairs[2]);
	lode_connection_watch_remove(watch, pairs[1].watched);
	pairs[5] = pair_open(watch);
	wait_until_shut(&pairs[3]);
	g_assert_true(is_open(&pairs[0]));
	g_assert_true(is_open(&pairs[4]));
	g_assert_true(is_open(&pairs[5]));
	g_assert_false(g_cancellable_is_cancelled(query));
	lode_connection_watch_stop(watch);
	g_assert_true(g_cancellable_is_cancelled(query));
	wait_until_shut(&pairs[5]);
	for (int i = 0; i < 6; i++) {
		if (i != 1)
			lode_connection_watch_remove(watch, pairs[i].watched);
		close(pairs[i].own);
		close(pairs[i].other);
	}
	lode_connection_watch_free(watch);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/connection_watch/client_goes", test_client_goes);
	g_test_add_func("/connection_watch/time", test_time);
	g_test_add_func("/connection_watch/number", test_number);
	return g_test_run();
}

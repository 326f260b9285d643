/* SPDX-License-Identifier: MIT */
/* Pictures while a program is recorded: they come without samples too, stop when nobody waits, and
 * end with the program. */
#include "serve/live/live_feed.h"

#include <json-glib/json-glib.h>
#include <string.h>

static const LodeLiveFeedOptions options = {.program = "./prog <b>"};
static const LodeLiveLook look = {.granularity = 4096, .thread = -1};
enum { LONG_US = 60 * G_USEC_PER_SEC };

/* What a picture says of one boolean member. */
static bool member_of(const GString *picture, const char *name)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) error = NULL;

	json_parser_load_from_data(parser, picture->str, (gssize)picture->len, &error);
	g_assert_no_error(error);
	JsonObject *root = json_node_get_object(json_parser_get_root(parser));
	g_assert_cmpstr(json_object_get_string_member(root, "program"), ==, "./prog <b>");
	return json_object_get_boolean_member(root, name);
}

static void test_pictures(void)
{
	g_autoptr(LodeLiveFeed) feed = lode_live_feed_open(&options);
	g_autoptr(GString) picture = g_string_new(NULL);
	uint64_t number = 0;
	bool is_over = true;

	g_assert_cmpstr(lode_live_feed_program(feed), ==, "./prog <b>");
	g_assert_true(lode_live_feed_next(feed, &look, &number, LONG_US, NULL, picture, &is_over));
	g_assert_false(is_over);
	g_assert_false(member_of(picture, "is_over"));
	uint64_t first = number;
	g_string_truncate(picture, 0);
	g_assert_true(lode_live_feed_next(feed, &look, &number, LONG_US, NULL, picture, &is_over));
	g_assert_cmpuint(number, >, first);
	lode_live_feed_end(feed);
}

static void test_end(void)
{
	g_autoptr(LodeLiveFeed) feed = lode_live_feed_open(&options);
	g_autoptr(GString) picture = g_string_new(NULL);
	uint64_t number = 0;
	bool is_over = false;

	g_assert_false(lode_live_feed_is_over(feed));
	lode_live_feed_end(feed);
	g_assert_true(lode_live_feed_is_over(feed));
	g_assert_true(lode_live_feed_next(feed, &look, &number, LONG_US, NULL, picture, &is_over));
	g_assert_true(is_over);
	g_assert_true(member_of(picture, "is_over"));
	/* There will be none after this, and nobody waits for it. */
	g_assert_false(lode_live_feed_next(feed, &look, &number, LONG_US, NULL, picture, &is_over));
	g_assert_true(is_over);
}

static void test_gone(void)
{
	g_autoptr(LodeLiveFeed) feed = lode_live_feed_open(&options);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_autoptr(GString) picture = g_string_new(NULL);
	uint64_t number = 0;
	bool is_over;

	g_cancellable_cancel(cancellable);
	g_assert_false(
		lode_live_feed_next(feed, &look, &number, LONG_US, cancellable, picture, &is_over));
	g_assert_false(is_over);
	g_assert_cmpuint(picture->len, ==, 0);
	lode_live_feed_end(feed);
}

/* The page's wish reaches the recorder with its next round, once. */
static void test_sampling(void)
{
	LodeLiveFeedOptions stopped = options;
	stopped.start_stopped = true;
	g_autoptr(LodeLiveFeed) feed = lode_live_feed_open(&stopped);
	const LodePerfObserver *observer = lode_live_feed_observer(feed);
	g_autoptr(GString) picture = g_string_new(NULL);
	uint64_t number = 0;
	bool is_over;

	g_assert_false(observer->round(false, observer->user_data));
	lode_live_feed_sample(feed, true);
	g_assert_true(observer->round(false, observer->user_data));
	g_assert_true(observer->round(true, observer->user_data));
	g_assert_true(lode_live_feed_next(feed, &look, &number, LONG_US, NULL, picture, &is_over));
	g_assert_true(member_of(picture, "is_sampling"));
	lode_live_feed_sample(feed, false);
	g_assert_false(observer->round(true, observer->user_data));
	/* Its own wish, as at a break point of the recorder, holds too. */
	g_assert_true(observer->round(true, observer->user_data));
	lode_live_feed_end(feed);
}

/* Records that are none are passed over. */
static void test_damaged_records(void)
{
	g_autoptr(LodeLiveFeed) feed = lode_live_feed_open(&options);
	const LodePerfObserver *observer = lode_live_feed_observer(feed);
	struct perf_event_header record = {.type = 9999, .size = sizeof(record)};
	g_autoptr(GString) picture = g_string_new(NULL);
	uint64_t number = 0;
	bool is_over;

	observer->begin(NULL, 0, observer->user_data);
	for (int i = 0; i < 1000; i++) {
		record.type = (uint32_t)i;
		observer->record(&record, sizeof(record), observer->user_data);
	}
	observer->round(true, observer->user_data);
	lode_live_feed_end(feed);
	g_assert_true(lode_live_feed_next(feed, &look, &number, LONG_US, NULL, picture, &is_over));
	g_assert_true(member_of(picture, "is_over"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_feed/pictures", test_pictures);
	g_test_add_func("/live_feed/end", test_end);
	g_test_add_func("/live_feed/gone", test_gone);
	g_test_add_func("/live_feed/sampling", test_sampling);
	g_test_add_func("/live_feed/damaged_records", test_damaged_records);
	return g_test_run();
}

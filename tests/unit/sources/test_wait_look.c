/* SPDX-License-Identifier: MIT */
/* The raw data of looks: written and read, cut short, and of another version. */
#include "sources/perf_data/wait_look.h"
#include "sources/perf_data/wait_switch.h"

#include <string.h>

static LodeWaitLook random_look(GRand *random, char texts[2][LODE_LOOK_MAX_TEXT])
{
	LodeWaitLook look = {
		.flags = g_rand_int(random),
		.holder = g_rand_int(random),
		.n_words = (uint32_t)g_rand_int_range(random, 0, LODE_LOOK_WORDS + 1),
		.call = g_rand_int_range(random, LODE_LOOK_NO_CALL, 460),
		.interval_ns = g_rand_int(random),
		.delay_ns = g_rand_int(random),
		.timeout_ns = g_rand_int(random),
		.holder_call = g_rand_int_range(random, LODE_LOOK_RUNS, 460),
		.state = (char)g_rand_int_range(random, 'A', 'Z' + 1),
		.target = texts[0],
		.kernel_function = texts[1],
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(look.arguments); i++)
		look.arguments[i] = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
	for (unsigned i = 0; i < LODE_LOOK_WORDS; i++)
		look.words[i] = g_rand_int(random);
	for (unsigned i = 0; i < 2; i++) {
		int n = g_rand_int_range(random, 0, LODE_LOOK_MAX_TEXT);
		memset(texts[i], 'a' + (int)i, (size_t)n);
		texts[i][n] = '\0';
	}
	return look;
}

static void check_equal(const LodeWaitLook *one, const LodeWaitLook *other)
{
	g_assert_cmpuint(one->flags, ==, other->flags);
	g_assert_cmpuint(one->holder, ==, other->holder);
	g_assert_cmpuint(one->n_words, ==, other->n_words);
	g_assert_cmpint(one->call, ==, other->call);
	g_assert_true(memcmp(one->arguments, other->arguments, sizeof(one->arguments)) == 0);
	g_assert_cmpuint(one->interval_ns, ==, other->interval_ns);
	g_assert_cmpuint(one->delay_ns, ==, other->delay_ns);
	g_assert_cmpuint(one->timeout_ns, ==, other->timeout_ns);
	g_assert_cmpint(one->holder_call, ==, other->holder_call);
	g_assert_cmpint(one->state, ==, other->state);
	g_assert_true(memcmp(one->words, other->words, sizeof(one->words)) == 0);
	g_assert_cmpstr(one->target, ==, other->target);
	g_assert_cmpstr(one->kernel_function, ==, other->kernel_function);
}

static void test_round_trip(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(7);
	char texts[2][LODE_LOOK_MAX_TEXT];

	for (unsigned i = 0; i < 300; i++) {
		g_autoptr(GByteArray) bytes = g_byte_array_new();
		LodeWaitLook look = random_look(random, texts), read;
		lode_wait_look_append(&look, bytes);
		g_assert_cmpuint((bytes->len + sizeof(uint32_t)) % sizeof(uint64_t), ==, 0);
		g_assert_true(lode_wait_look_read(&read, bytes->data, bytes->len));
		check_equal(&look, &read);
	}
}

/* Of what is cut short nothing is taken, and nothing is read after its end. */
/* Readers of the first version leave looks at threads that run out, which are no waits. */
static void test_running(void)
{
	const LodeWaitLook runs = {.call = LODE_LOOK_NO_CALL,
		.interval_ns = 7,
		.state = LODE_LOOK_STATE_RUNS,
		.target = "",
		.kernel_function = ""};
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	LodeWaitLook read;
	uint32_t version;

	lode_wait_look_append(&runs, bytes);
	memcpy(&version, bytes->data, sizeof(version));
	g_assert_cmpuint(version, ==, LODE_LOOK_VERSION_RUNS);
	g_assert_true(lode_wait_look_read(&read, bytes->data, bytes->len));
	check_equal(&runs, &read);
	version++;
	memcpy(bytes->data, &version, sizeof(version));
	g_assert_false(lode_wait_look_read(&read, bytes->data, bytes->len));
}

static void test_cut(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(8);
	char texts[2][LODE_LOOK_MAX_TEXT];
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	LodeWaitLook look = random_look(random, texts), read = {.call = 77};

	texts[0][3] = texts[1][3] = '\0';
	lode_wait_look_append(&look, bytes);
	guint padding = 0;
	while (bytes->data[bytes->len - 2 - padding] == 0)
		padding++;
	for (guint n = 0; n + padding < bytes->len; n++) {
		g_autofree uint8_t *part = g_memdup2(bytes->data, n);
		g_assert_false(lode_wait_look_read(&read, part, n));
	}
	g_assert_cmpint(read.call, ==, 77);
	bytes->data[0]++;
	g_assert_false(lode_wait_look_read(&read, bytes->data, bytes->len));
}

/* More words than there are, in a file that was made to say so. */
static void test_words(void)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	LodeWaitLook look = {.n_words = UINT32_MAX, .target = "", .kernel_function = ""}, read;

	lode_wait_look_append(&look, bytes);
	g_assert_true(lode_wait_look_read(&read, bytes->data, bytes->len));
	g_assert_cmpuint(read.n_words, ==, LODE_LOOK_WORDS);
}

/* As the kernel writes sched_waking, and cut short. */
static void test_waking(void)
{
	static const uint8_t raw[] = {0x41, 1, 8, 2, 7, 0, 0, 0, 'w', 'o', 'r', 'k', 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 9, 1, 0, 0, 120, 0, 0, 0, 1, 0, 0, 0};
	enum { TO_WOKEN = 24 };
	LodeWaking waking = {.waker = 77};

	for (size_t size = 0; size < TO_WOKEN + 4; size++) {
		g_autofree uint8_t *part = g_memdup2(raw, size);
		g_assert_false(lode_waking_read(&waking, part, size));
	}
	g_assert_cmpuint(waking.waker, ==, 77);
	g_assert_true(lode_waking_read(&waking, raw, sizeof(raw)));
	g_assert_cmpuint(waking.waker, ==, 7);
	g_assert_cmpuint(waking.woken, ==, 265);
	g_assert_true(waking.is_in_interrupt && !waking.is_in_softirq);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sources/wait-look/round-trip", test_round_trip);
	g_test_add_func("/sources/wait-look/cut", test_cut);
	g_test_add_func("/sources/wait-look/words", test_words);
	g_test_add_func("/sources/wait-look/running", test_running);
	g_test_add_func("/sources/wait-look/waking", test_waking);
	return g_test_run();
}

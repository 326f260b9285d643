/* SPDX-License-Identifier: MIT */
#include "seeds.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { SEED_WORDS = 4, WORD_DIGITS = 8 };

typedef struct RandomTest {
	GTestFunc test;
	const char *seed;
	struct RandomTest *before;
} RandomTest;

/* Never freed: GLib frees nothing of the tests that a subprocess of one test leaves out, which
 * LeakSanitizer would report there. */
static RandomTest *newest;

static GRand *generator; /* of the test that runs, as GLib has one; NULL: not used yet */

static void seed_words(const char *seed, guint32 *out_words)
{
	const char *digits = seed + strlen("R02S");

	g_assert_true(g_str_has_prefix(seed, "R02S"));
	g_assert_cmpuint(strlen(digits), ==, SEED_WORDS * WORD_DIGITS);
	for (size_t i = 0; i < SEED_WORDS; i++) {
		g_autofree char *word = g_strndup(digits + i * WORD_DIGITS, WORD_DIGITS);

		out_words[i] = (guint32)g_ascii_strtoull(word, NULL, 16);
	}
}

static void run(gconstpointer user_data)
{
	const RandomTest *self = user_data;
	guint32 words[SEED_WORDS];

	seed_words(self->seed, words);
	g_clear_pointer(&generator, g_rand_free);
	generator = g_rand_new_with_seed_array(words, SEED_WORDS);
	self->test();
	g_clear_pointer(&generator, g_rand_free);
}

static void add_seed(const char *path, GTestFunc test, const char *seed)
{
	RandomTest *self = g_new(RandomTest, 1);
	g_autofree char *name = g_strdup_printf("%s/%s", path, seed);

	*self = (RandomTest){test, seed, newest};
	newest = self;
	g_test_add_data_func(name, self, run);
}

void add_random_test(const char *path, GTestFunc test, ...)
{
	const char *soak = g_getenv("LODE_SOAK_SEED"), *seed;
	va_list seeds;

	if (soak != NULL) {
		add_seed(path, test, soak);
		return;
	}
	va_start(seeds, test);
	while ((seed = va_arg(seeds, const char *)) != NULL)
		add_seed(path, test, seed);
	va_end(seeds);
}

static GRand *current_generator(void)
{
	if (generator == NULL)
		generator = g_rand_new_with_seed(soak_seed(1));
	return generator;
}

gint32 random_int(void)
{
	return (gint32)g_rand_int(current_generator());
}

gint32 random_int_range(gint32 begin, gint32 end)
{
	return g_rand_int_range(current_generator(), begin, end);
}

gboolean random_bit(void)
{
	return g_rand_boolean(current_generator());
}

unsigned random_rounds(unsigned usual, unsigned thorough)
{
	bool is_long = g_getenv("LODE_LONG_TESTS") != NULL || g_getenv("LODE_SOAK_SEED") != NULL;
	const char *shorter = g_getenv("LODE_SHORT_TESTS");
	unsigned divisor = shorter != NULL ? (unsigned)g_ascii_strtoull(shorter, NULL, 10) : 1;

	return is_long ? thorough : MAX(usual / MAX(divisor, 1), 1);
}

guint32 soak_seed(guint32 seed)
{
	const char *soak = g_getenv("LODE_SOAK_SEED");
	guint32 words[SEED_WORDS];

	if (soak == NULL)
		return seed;
	seed_words(soak, words);
	/* Seeds 1, 2, 3 of a list stay different from each other. */
	return words[0] + seed;
}

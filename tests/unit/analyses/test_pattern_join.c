/* SPDX-License-Identifier: MIT */
/* Elements joined by ranks whose keys say little, against a comparison of what all ranks have. */
#include "analyses/mine/pattern_join.h"

#include "seeds.h"

enum { MAX_RANKS = 4, MAX_ELEMENTS = 60 };

typedef struct {
	unsigned n_ranks, n;
	uint32_t own[MAX_RANKS][MAX_ELEMENTS];
	uint64_t keys[MAX_ELEMENTS];
} Case;

static Case random_case(void)
{
	Case self = {.n_ranks = 1 + (unsigned)random_int_range(0, MAX_RANKS),
		.n = (unsigned)random_int_range(0, MAX_ELEMENTS)};
	gint32 n_own = random_int_range(1, 5), n_keys = random_int_range(1, 4);

	for (unsigned i = 0; i < self.n; i++)
		for (unsigned rank = 0; rank < self.n_ranks; rank++) {
			self.own[rank][i] = (uint32_t)random_int_range(0, n_own);
			self.keys[i] += self.own[rank][i];
			/* Few keys for many different elements. */
			self.keys[i] %= (uint64_t)n_keys;
		}
	return self;
}

static unsigned find_first(const Case *self, unsigned element)
{
	for (unsigned i = 0; i < element; i++) {
		bool is_same = true;
		for (unsigned rank = 0; rank < self->n_ranks; rank++)
			is_same = is_same && self->own[rank][i] == self->own[rank][element];
		if (is_same)
			return i;
	}
	return element;
}

/* As the ranks do it in step; all ask the same. */
static void join(const Case *self, LodePatternJoin *joins)
{
	for (unsigned rank = 0; rank < self->n_ranks; rank++)
		lode_pattern_join_init(&joins[rank], self->own[rank], self->keys, self->n);
	for (unsigned round = 0; joins[0].n_asked > 0; round++) {
		double sums[MAX_ELEMENTS] = {0}, values[MAX_ELEMENTS];
		g_assert_cmpuint(round, <, self->n);
		for (unsigned rank = 0; rank < self->n_ranks; rank++) {
			g_assert_cmpuint(joins[rank].n_asked, ==, joins[0].n_asked);
			lode_pattern_join_write(&joins[rank], values);
			for (size_t i = 0; i < joins[0].n_asked; i++)
				sums[i] += values[i];
		}
		for (unsigned rank = 0; rank < self->n_ranks; rank++)
			lode_pattern_join_settle(&joins[rank], sums);
	}
}

static void test_random_keys(void)
{
	for (unsigned round = random_rounds(500, 20000); round-- > 0;) {
		Case random = random_case();
		LodePatternJoin joins[MAX_RANKS];
		join(&random, joins);
		for (unsigned rank = 0; rank < random.n_ranks; rank++) {
			for (unsigned i = 0; i < random.n; i++)
				g_assert_cmpuint(joins[rank].firsts[i], ==, find_first(&random, i));
			lode_pattern_join_clear(&joins[rank]);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/pattern-join/random-keys", test_random_keys,
		"R02S5b1f7a0e94c86d231e0f5a7b9c3d2846", "R02S0c9e8d7f6a5b4c3d2e1f00112233cdef",
		NULL);
	return g_test_run();
}

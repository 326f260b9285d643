/* SPDX-License-Identifier: MIT */
/* Where it is asked how long code takes: of this program's own code, which it reads as that of a
 * process. */
#include "record/probes/probe_places.h"

#include "record/probes/probe_events.h"

#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HIT_NS = 9000, OUTER = 0x03, INNER = 0x40, SAMPLED = 0x43, CALL = 0x80, RETURN = 0x85 };

static const uint8_t code[] = {
	0x90,                   /* 00 nop */
	0x55,                   /* 01 push rbp */
	0x90,                   /* 02 nop */
	0x48, 0x89, 0xf8,       /* 03 mov  rax, rdi: the outer loop */
	0x48, 0x83, 0xc0, 0x08, /* 06 add  rax, 8 */
	0xeb, 0x34,             /* 0a jmp  40 */
};
static const uint8_t inner[] = {
	0x48, 0x03, 0x10,       /* 40 add  rdx, [rax]: the inner loop */
	0x48, 0x83, 0xc0, 0x08, /* 43 add  rax, 8 */
	0x48, 0x39, 0xf0,       /* 47 cmp  rax, rsi */
	0x75, 0xf4,             /* 4a jne  40 */
	0x48, 0xff, 0xc9,       /* 4c dec  rcx */
	0x75, 0xb2,             /* 4f jne  03 */
	0x5d,                   /* 51 pop  rbp */
	0xc3,                   /* 52 ret */
};
static const uint8_t call[] = {
	0xe8, 0x7b, 0xff, 0xff, 0xff, /* 80 call 00 */
	0x48, 0x89, 0xf8,             /* 85 mov  rax, rdi */
	0x48, 0x83, 0xc0, 0x08,       /* 88 add  rax, 8 */
	0xc3,                         /* 8c ret */
};

static uint8_t *page;

static uint64_t at(unsigned offset)
{
	return (uint64_t)(uintptr_t)page + offset;
}

typedef struct {
	LodeProbePlaces *places;
	LodeProbePeriods *periods;
} Sampled;

static void sampled_init(Sampled *self)
{
	self->places = lode_probe_places_new(getpid());
	self->periods = lode_probe_periods_new(getpid(), self->places);
	for (unsigned i = 0; i < 100; i++) {
		lode_probe_places_add_sample(self->places, 7, at(SAMPLED));
		lode_probe_periods_add_sample(self->periods, at(SAMPLED));
	}
	g_assert_true(lode_probe_places_refresh(self->places));
	LodeProbeAim aim;
	g_assert_cmpuint(lode_probe_places_choose(self->places, &aim, 1), ==, 1);
}

static void sampled_clear(Sampled *self)
{
	lode_probe_periods_free(self->periods);
	lode_probe_places_free(self->places);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sampled, sampled_clear)

/* Hits of a pair in turn, whose events have different clocks; `stack`: that they have. */
static void answer(Sampled *self, const LodeProbePair *pair, unsigned n, uint64_t turn_ns,
	const uint64_t *stack)
{
	LodeProbeHit hits[64] = {0};
	uint64_t times_ns[64], now_ns = 5000;

	for (unsigned i = 0; i < 2 * n; i++) {
		bool is_second = i % 2 == 1;
		hits[i].address = is_second ? pair->second : pair->first;
		/* The thread waited once between two turns. */
		hits[i].time_ns = now_ns + (i >= n ? 1000000 : 0);
		hits[i].ran_ns = now_ns + (is_second ? 777777 : 0);
		hits[i].registers[4] = (uint64_t)(uintptr_t)stack;
		now_ns += HIT_NS + (is_second ? turn_ns : 0);
	}
	lode_probe_periods_take(self->periods, pair, hits, 2 * n, times_ns);
	for (unsigned i = 0; i < 2 * n; i++)
		g_assert_cmpuint(times_ns[i], ==, i * HIT_NS + i / 2 * turn_ns);
}

/* Not the inner loop, whose line has all samples; where calls return to, by the stack. */
static void test_places(void)
{
	uint64_t stack[256] = {0};
	g_auto(Sampled) sampled = {0};
	unsigned n_outer = 0, n_returns = 0, n_entries = 0;
	LodeProbePair pair;

	sampled_init(&sampled);
	stack[2] = at(INNER);
	stack[3] = at(RETURN);
	for (unsigned i = 0; i < 24; i++) {
		g_assert_true(lode_probe_periods_choose(sampled.periods, &pair));
		n_outer += pair.first == at(OUTER);
		n_returns += pair.first == at(RETURN);
		n_entries += pair.first == at(0);
		g_assert_cmphex(pair.second, ==, pair.first + (pair.first == at(0) ? 1 : 3));
		answer(&sampled, &pair, 6, 5000, stack);
		for (unsigned k = 0; k < 10; k++)
			lode_probe_periods_add_sample(sampled.periods, at(SAMPLED));
	}
	g_assert_cmpuint(n_outer, >=, 4);
	g_assert_cmpuint(n_returns, >=, 4);
	g_assert_cmpuint(n_entries, >=, 4);
	g_assert_cmpuint(n_outer + n_returns + n_entries, ==, 24);
}

/* The first burst is short; then as many hits as a few milliseconds have. */
static void test_numbers(void)
{
	uint64_t stack[256] = {0};
	g_auto(Sampled) sampled = {0};
	LodeProbePair pair;

	sampled_init(&sampled);
	g_assert_true(lode_probe_periods_choose(sampled.periods, &pair));
	g_assert_cmphex(pair.first, ==, at(OUTER));
	unsigned first = pair.n;
	answer(&sampled, &pair, 6, 5000, stack);
	g_assert_true(lode_probe_periods_choose(sampled.periods, &pair));
	g_assert_cmpuint(pair.n, >, first);
	answer(&sampled, &pair, 6, 1000000, stack);
	g_assert_true(lode_probe_periods_choose(sampled.periods, &pair));
	g_assert_cmpuint(pair.n, <=, first);
	/* Periods that are about as short as a hit says nothing about are left soon. */
	for (unsigned i = 0; i < 2; i++)
		answer(&sampled, &pair, 6, 2, stack);
	g_assert_false(lode_probe_periods_choose(sampled.periods, &pair));
}

/* What is not hit is not asked for ever. */
static void test_nothing(void)
{
	g_auto(Sampled) sampled = {0};
	uint64_t time_ns;
	LodeProbePair pair;
	unsigned n = 0;

	sampled_init(&sampled);
	while (n < 100 && lode_probe_periods_choose(sampled.periods, &pair)) {
		lode_probe_periods_take(sampled.periods, &pair, NULL, 0, &time_ns);
		n++;
	}
	g_assert_cmpuint(n, ==, 3);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	g_assert_true(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
	memcpy(page + INNER, inner, sizeof(inner));
	memcpy(page + CALL, call, sizeof(call));
	g_test_add_func("/record/probe_periods/places", test_places);
	g_test_add_func("/record/probe_periods/numbers", test_numbers);
	g_test_add_func("/record/probe_periods/nothing", test_nothing);
	return g_test_run();
}

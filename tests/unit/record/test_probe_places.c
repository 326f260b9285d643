/* SPDX-License-Identifier: MIT */
/* What is asked about code that runs: this program's own, which it reads as that of a process. */
#include "record/probes/probe_events.h"
#include "record/probes/probe_places.h"

#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint8_t code[] = {
	0x48, 0x8b, 0x04, 0xf7, /* 00 mov  rax, [rdi + rsi * 8] */
	0x48, 0x85, 0xc0,       /* 04 test rax, rax */
	0x74, 0x05,             /* 07 je   0e */
	0x48, 0x83, 0xc6, 0x01, /* 09 add  rsi, 1 */
	0x90,                   /* 0d nop */
	0xff, 0xd0,             /* 0e call rax */
	0x48, 0x39, 0xce,       /* 10 cmp  rsi, rcx */
	0x75, 0xeb,             /* 13 jne  00 */
	0xf3, 0x48, 0xab,       /* 15 rep stosq */
	0xf0, 0xff, 0x07,       /* 18 lock inc dword [rdi] */
	0x75, 0xe3,             /* 1b jne  00: by what another thread does */
	0xc3,                   /* 1d ret */
};

static uint8_t *page;

static uint64_t at(unsigned offset)
{
	return (uint64_t)(uintptr_t)page + offset;
}

static unsigned wanted(const LodeProbeAim *aims, unsigned n, unsigned offset)
{
	for (unsigned i = 0; i < n; i++)
		if (aims[i].address == at(offset))
			return aims[i].n;
	return 0;
}

static LodeProbePlaces *sampled_places(void)
{
	LodeProbePlaces *places = lode_probe_places_new(getpid());

	for (unsigned i = 0; i < 100; i++)
		lode_probe_places_add_sample(places, i % 3 == 0 ? 8 : 7, at(0));
	g_assert_true(lode_probe_places_refresh(places));
	return places;
}

/* Access, branches, call and string instruction; not the branch after the atomic one. */
static void test_kinds(void)
{
	g_autoptr(LodeProbePlaces) places = sampled_places();
	LodeProbeAim aims[16];
	unsigned n = lode_probe_places_choose(places, aims, G_N_ELEMENTS(aims));

	g_assert_cmpuint(n, ==, 5);
	for (size_t i = 0; i < n; i++)
		g_assert_cmpfloat(aims[i].line_weight, ==, 1);
	g_assert_cmpuint(wanted(aims, n, 0x00), >, 0);
	g_assert_cmpuint(wanted(aims, n, 0x07), >, 0);
	g_assert_cmpuint(wanted(aims, n, 0x0e), >, 0);
	g_assert_cmpuint(wanted(aims, n, 0x13), >, 0);
	g_assert_cmpuint(wanted(aims, n, 0x15), >, 0);
	g_assert_cmpint(lode_probe_places_thread(places), ==, 7);
}

/* A branch of two ways is asked more; one that went one way less, and what never comes not at all.
 */
static void test_doubt(void)
{
	g_autoptr(LodeProbePlaces) places = sampled_places();
	LodeProbeHit hit = {.address = at(0x07)};
	LodeProbeAim aims[16];
	uint64_t target;

	lode_probe_places_choose(places, aims, 1);
	for (unsigned i = 0; i < 8; i++) {
		hit.flags = 0;
		g_assert_true(lode_probe_places_take_hit(places, &hit, &target));
		g_assert_cmphex(target, ==, at(0x09));
	}
	unsigned n = lode_probe_places_choose(places, aims, G_N_ELEMENTS(aims));
	unsigned one_way = wanted(aims, n, 0x07);
	g_assert_cmphex(aims[0].address, !=, at(0x07));
	hit.flags = 1 << 6;
	g_assert_true(lode_probe_places_take_hit(places, &hit, &target));
	g_assert_cmphex(target, ==, at(0x0e));
	n = lode_probe_places_choose(places, aims, G_N_ELEMENTS(aims));
	g_assert_cmpuint(wanted(aims, n, 0x07), >, one_way);
	for (unsigned i = 0; i < 3; i++)
		lode_probe_places_take_end(places, at(0x07), 0);
	n = lode_probe_places_choose(places, aims, G_N_ELEMENTS(aims));
	g_assert_cmpuint(wanted(aims, n, 0x07), ==, 0);
	/* an access leads nowhere else */
	hit.address = at(0);
	g_assert_false(lode_probe_places_take_hit(places, &hit, &target));
}

/* Samples of no code at all, and of the kernel. */
static void test_nowhere(void)
{
	g_autoptr(LodeProbePlaces) places = lode_probe_places_new(getpid());
	LodeProbeAim aims[4];

	g_assert_cmpuint(lode_probe_places_choose(places, aims, 4), ==, 0);
	g_assert_cmpint(lode_probe_places_thread(places), ==, 0);
	lode_probe_places_add_sample(places, 1, 0x10);
	lode_probe_places_add_sample(places, 1, UINT64_C(0xffffffff81000000));
	g_assert_true(lode_probe_places_refresh(places));
	g_assert_cmpuint(lode_probe_places_choose(places, aims, 4), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	g_assert_true(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
	g_test_add_func("/record/probe_places/kinds", test_kinds);
	g_test_add_func("/record/probe_places/doubt", test_doubt);
	g_test_add_func("/record/probe_places/nowhere", test_nowhere);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "machine/figures/memory_rates.h"

#include "base/monotonic_clock.h"
#include "machine/figures/kept_figures.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	BEST_OF = 20,
	BEST_OF_MEMORY = 8,    /* others may use it, too */
	LEAST_NS = 100 * 1000, /* of a run */
	MOST_RUNS = 1 << 16,
	MIB = 1 << 20,
	SMALLEST_MEMORY_MIB = 32, /* where the last level is unknown, or small */
	LARGEST_MEMORY_MIB = 256,
};

const char *lode_rate_level_name(LodeRateLevel level)
{
	static const char *const names[LODE_N_RATES] = {"l1", "l2", "l3", "memory"};

	return (unsigned)level < LODE_N_RATES ? names[level] : NULL;
}

typedef uint64_t Wide __attribute__((vector_size(32), may_alias));

/* Eight vectors in a round; the compiler makes two instructions of each where the processor has no
 * registers of 32 bytes. */
#define READ(name, attributes)                                                                     \
	attributes static void name(void *buffer, size_t size)                                     \
	{                                                                                          \
		const Wide *at = buffer, *end = at + size / sizeof(Wide);                          \
		for (; at < end; at += 8)                                                          \
			for (int i = 0; i < 8; i++) {                                              \
				Wide value = at[i];                                                \
				__asm__ volatile("" : : "x"(value));                               \
			}                                                                          \
	}
#define WRITE(name, attributes)                                                                    \
	attributes static void name(void *buffer, size_t size)                                     \
	{                                                                                          \
		Wide *at = buffer, *end = at + size / sizeof(Wide), value = {1, 2, 3, 4};          \
		for (; at < end; at += 8) {                                                        \
			for (int i = 0; i < 8; i++)                                                \
				at[i] = value;                                                     \
			__asm__ volatile("" : : : "memory");                                       \
		}                                                                                  \
	}

#if defined(__x86_64__)
READ(read_avx, __attribute__((target("avx"))))
WRITE(write_avx, __attribute__((target("avx"))))
#endif

static void read_plain(void *buffer, size_t size)
{
	const volatile uint64_t *at = buffer, *end = at + size / sizeof(*at);

	for (; at < end; at += 8)
		for (int i = 0; i < 8; i++)
			(void)at[i];
}

static void write_plain(void *buffer, size_t size)
{
	volatile uint64_t *at = buffer, *end = at + size / sizeof(*at);

	for (; at < end; at += 8)
		for (int i = 0; i < 8; i++)
			at[i] = 1;
}

typedef void (*Pass)(void *buffer, size_t size);

/* Bytes per nanosecond: the best of runs of passes over the buffer. */
static double rate_of(Pass pass, void *buffer, size_t size, unsigned best_of)
{
	double best = 0;
	unsigned n_passes = 1;

	for (unsigned i = 0; i < best_of;) {
		uint64_t begin_ns = lode_now_ns();
		for (unsigned k = 0; k < n_passes; k++)
			pass(buffer, size);
		double time_ns = (double)(lode_now_ns() - begin_ns);
		if (time_ns < LEAST_NS && n_passes < MOST_RUNS) {
			n_passes *= 2;
			continue;
		}
		best = MAX(best, time_ns > 0 ? (double)size * n_passes / time_ns : 0);
		i++;
	}
	return best;
}

/* A file of a cache of the first processor; "": there is none. The caller frees it. */
static char *cache_text(unsigned index, const char *name)
{
	g_autofree char *path = g_strdup_printf(
		"/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? g_strstrip(text) : g_strdup("");
}

/* As one processor has it: sysconf() has the sum of all. */
static size_t size_of_level(LodeRateLevel level)
{
	enum { MAX_CACHES = 8 };

	for (unsigned i = 0; i < MAX_CACHES; i++) {
		g_autofree char *number = cache_text(i, "level");
		g_autofree char *type = cache_text(i, "type");
		g_autofree char *size = cache_text(i, "size");
		char *unit = NULL;
		guint64 value = g_ascii_strtoull(size, &unit, 10);
		if (g_ascii_strtoull(number, NULL, 10) != (guint64)level + 1 ||
			strcmp(type, "Instruction") == 0)
			continue;
		value *= *unit == 'M' ? MIB : *unit == 'K' ? 1024 : 1;
		return (size_t)MIN(value, (guint64)LARGEST_MEMORY_MIB * MIB);
	}
	return 0;
}

static size_t memory_size(void)
{
	size_t last = MAX(size_of_level(LODE_RATE_L2), size_of_level(LODE_RATE_L3));
	size_t wanted = CLAMP(
		4 * last, (size_t)SMALLEST_MEMORY_MIB * MIB, (size_t)LARGEST_MEMORY_MIB * MIB);
	size_t available = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	return MIN(wanted, available / 4 & ~(size_t)(MIB - 1));
}

LodeMemoryRates lode_memory_rates_measure(void)
{
	LodeMemoryRates rates = {0};
	size_t size = memory_size();
	Pass read_pass = read_plain, write_pass = write_plain;
	void *buffer = size > 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
	                        : MAP_FAILED;

	if (buffer == MAP_FAILED)
		return rates;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx")) {
		read_pass = read_avx;
		write_pass = write_avx;
	}
#endif
	madvise(buffer, size, MADV_HUGEPAGE);
	memset(buffer, 1, size);
	for (LodeRateLevel i = LODE_RATE_L1; i < LODE_N_RATES; i++) {
		size_t part = i < LODE_RATE_MEMORY ? size_of_level(i) / 2 & ~(size_t)255 : size;
		unsigned best_of = i < LODE_RATE_MEMORY ? BEST_OF : BEST_OF_MEMORY;
		if (part == 0 || part > size)
			continue;
		rates.read[i] = rate_of(read_pass, buffer, part, best_of);
		rates.write[i] = rate_of(write_pass, buffer, part, best_of);
	}
	munmap(buffer, size);
	return rates;
}

/* --- what is kept --- */

LodeMemoryRates lode_memory_rates_of_machine(const char *path)
{
	g_auto(LodeKeptFigures) kept = {0};
	LodeMemoryRates rates = {0};

	lode_kept_figures_init(&kept, path, "memory-rates.ini");
	if (lode_kept_figures_are_new(&kept) &&
		lode_kept_figures_read(&kept, "read", rates.read, LODE_N_RATES) &&
		lode_kept_figures_read(&kept, "write", rates.write, LODE_N_RATES))
		return rates;
	rates = lode_memory_rates_measure();
	lode_kept_figures_set(&kept, "read", rates.read, LODE_N_RATES);
	lode_kept_figures_set(&kept, "write", rates.write, LODE_N_RATES);
	lode_kept_figures_write(&kept);
	return rates;
}

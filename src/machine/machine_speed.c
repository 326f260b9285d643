/* SPDX-License-Identifier: MIT */
#include "machine/machine_speed.h"

#include "base/arrays/sort_order.h"
#include "base/monotonic_clock.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	PERIOD_US = G_USEC_PER_SEC / 2,
	FIRST_PERIOD_US = 25000, /* so many more for each run, until it is the whole period */
	ADDITIONS_IN_ROUND = 16, /* of the chain's loop */
	LINE = 64,
	LINES = 256, /* of the walk: in any first cache, where alone the addresses that the kernel
	                gives do not matter */
	STEPS = 4096,
	BEST_OF = 3,
	MOST_RUNS = 4096, /* then every second one is dropped, and the period doubled */
};

typedef struct {
	double chain_ns, walk_ns;
} Run;

typedef struct {
	double total, busy, steal; /* ticks of all processors */
} Ticks;

struct LodeSpeedMeter {
	const char *proc;
	char *walk;   /* LINES lines; the first four bytes are the number of the next one */
	GArray *runs; /* Run */
	gint64 start_us, due_us, period_us;
	Ticks ticks;        /* at the start */
	double own_seconds; /* likewise */
};

/* Register to register: additions of a constant may be computed before they are executed (Intel,
 * from the twelfth generation on). */
void lode_chain_run(void)
{
	uint64_t sum = 0, addend = 3;

	for (unsigned i = 0; i < LODE_CHAIN_ADDITIONS / ADDITIONS_IN_ROUND; i++) {
#if defined(__x86_64__)
		__asm__ volatile(".rept 16\n\tadd %1, %0\n\t.endr"
				 : "+r"(sum)
				 : "r"(addend)
				 : "cc");
#elif defined(__aarch64__)
		__asm__ volatile(".rept 16\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(addend));
#else
		for (unsigned k = 0; k < ADDITIONS_IN_ROUND; k++)
			__asm__ volatile("" : "+r"(sum) : "r"(addend));
#endif
	}
}

static void walk(const char *lines)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < STEPS; i++)
		at = *(const volatile uint32_t *)(lines + (size_t)at * LINE);
}

/* One cycle through all lines (S. Sattolo, "An algorithm to generate a random cyclic permutation",
 * 1986), the same in each recording. */
static char *make_walk(void)
{
	char *lines = g_aligned_alloc0(LINES, LINE, 4096);
	GRand *random = g_rand_new_with_seed(1);
	uint32_t next[LINES];

	for (uint32_t i = 0; i < LINES; i++)
		next[i] = i;
	for (uint32_t i = LINES - 1; i > 0; i--) {
		uint32_t k = (uint32_t)g_rand_int_range(random, 0, (gint32)i), kept = next[i];
		next[i] = next[k];
		next[k] = kept;
	}
	for (uint32_t i = 0; i < LINES; i++)
		*(uint32_t *)(void *)(lines + (size_t)i * LINE) = next[i];
	g_rand_free(random);
	return lines;
}

/* Interrupts and other programs only make a run longer. */
static double best_ns(void (*run)(const char *), const char *argument)
{
	double best = HUGE_VAL;

	for (unsigned i = 0; i < BEST_OF; i++) {
		uint64_t begin_ns = lode_now_ns();
		run(argument);
		best = fmin(best, (double)(lode_now_ns() - begin_ns));
	}
	return best;
}

static void run_chain(const char *unused)
{
	(void)unused;
	lode_chain_run();
}

/* "cpu  user nice system idle iowait irq softirq steal …" */
static Ticks read_ticks(const char *proc)
{
	g_autofree char *path = g_build_filename(proc, "stat", NULL);
	g_autofree char *text = NULL;
	double user, nice, system, idle, wait, irq, soft, steal = 0;

	if (!g_file_get_contents(path, &text, NULL, NULL) ||
		sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
			&wait, &irq, &soft, &steal) < 7)
		return (Ticks){0};
	double busy = user + nice + system + irq + soft;
	return (Ticks){busy + idle + wait + steal, busy, steal};
}

static double own_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / G_USEC_PER_SEC;
}

LodeSpeedMeter *lode_speed_meter_new(const char *proc)
{
	LodeSpeedMeter *self = g_new0(LodeSpeedMeter, 1);

	self->proc = proc;
	self->walk = make_walk();
	self->runs = g_array_new(FALSE, FALSE, sizeof(Run));
	self->start_us = g_get_monotonic_time();
	self->period_us = PERIOD_US;
	self->ticks = read_ticks(proc);
	self->own_seconds = own_seconds();
	return self;
}

void lode_speed_meter_free(LodeSpeedMeter *self)
{
	if (self == NULL)
		return;
	g_aligned_free(self->walk);
	g_array_unref(self->runs);
	g_free(self);
}

static void thin_out(LodeSpeedMeter *self)
{
	for (guint i = 0; i < MOST_RUNS / 2; i++)
		g_array_index(self->runs, Run, i) = g_array_index(self->runs, Run, 2 * i);
	g_array_set_size(self->runs, MOST_RUNS / 2);
	self->period_us *= 2;
}

void lode_speed_meter_update(LodeSpeedMeter *self)
{
	gint64 now_us = g_get_monotonic_time();

	if (now_us < self->due_us)
		return;
	/* Fetched first: how long that takes depends on what the program left in the caches. */
	for (unsigned i = 0; i < LINES; i++)
		(void)*(const volatile char *)(self->walk + (size_t)i * LINE);
	const Run run = {
		best_ns(run_chain, NULL) / LODE_CHAIN_ADDITIONS, best_ns(walk, self->walk) / STEPS};
	g_array_append_val(self->runs, run);
	self->due_us = now_us + MIN((gint64)self->runs->len * FIRST_PERIOD_US, self->period_us);
	if (self->runs->len >= MOST_RUNS)
		thin_out(self);
}

/* The median of values above 0, and their scatter. */
static void find_median(GArray *values, double *out_median, double *out_scatter)
{
	const double sigma_of_mad = 1.4826;
	double median = lode_median((double *)(void *)values->data, values->len);

	for (guint i = 0; i < values->len; i++) {
		double *value = &g_array_index(values, double, i);
		*value = fabs(log(*value / median));
	}
	*out_median = median;
	*out_scatter = sigma_of_mad * lode_median((double *)(void *)values->data, values->len);
}

LodeMachineSpeed lode_speed_meter_end(const LodeSpeedMeter *self, uint64_t program_ns)
{
	g_autoptr(GArray) chains = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) walks = g_array_new(FALSE, FALSE, sizeof(double));
	const Ticks end = read_ticks(self->proc);
	LodeMachineSpeed found = {0};

	for (guint i = 0; i < self->runs->len; i++) {
		const Run *run = &g_array_index(self->runs, Run, i);
		if (!(run->chain_ns > 0) || !(run->walk_ns > 0))
			continue;
		g_array_append_val(chains, run->chain_ns);
		g_array_append_val(walks, run->walk_ns);
	}
	if (chains->len == 0)
		return found;
	found.runs = chains->len;
	find_median(chains, &found.chain_ns, &found.chain_scatter);
	find_median(walks, &found.walk_ns, &found.walk_scatter);
	double total = end.total - self->ticks.total;
	if (!(total > 0))
		return found;
	double known = ((double)program_ns / 1e9 + own_seconds() - self->own_seconds) *
	               (double)sysconf(_SC_CLK_TCK);
	found.steal = CLAMP((end.steal - self->ticks.steal) / total, 0, 1);
	found.others = CLAMP((end.busy - self->ticks.busy - known) / total, 0, 1);
	return found;
}

uint64_t lode_speed_meter_wall_ns(const LodeSpeedMeter *self)
{
	return (uint64_t)(g_get_monotonic_time() - self->start_us) * 1000;
}

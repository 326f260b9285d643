/* SPDX-License-Identifier: MIT */
#include "record/events/perf_event_set.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Events of which each one is a sample come in bursts: memory that is filled, page by page; or are
 * large, where switches have a stack. */
enum { DEFAULT_PAGES = 128, SWITCH_PAGES = 256, BURST_PAGES = 1024, MAX_CPUS = 1 << 16 };

static void add_range(GArray *cpus, const char *text)
{
	char *end;
	guint64 first = g_ascii_strtoull(text, &end, 10);
	guint64 last = *end == '-' ? g_ascii_strtoull(end + 1, NULL, 10) : first;

	for (guint64 i = first; i <= last && cpus->len < MAX_CPUS; i++) {
		const LodePerfCpu cpu = {.cpu = (int)i, .polled = G_MAXUINT};
		g_array_append_val(cpus, cpu);
	}
}

/* The kernel gives no ring to an inherited event that is not of one CPU (EINVAL of mmap()): so each
 * event is opened on each CPU. */
static GArray *online_cpus(void)
{
	GArray *cpus = g_array_new(FALSE, TRUE, sizeof(LodePerfCpu));
	g_autofree char *text = NULL;

	if (!g_file_get_contents("/sys/devices/system/cpu/online", &text, NULL, NULL))
		text = g_strdup_printf("0-%ld", MAX(sysconf(_SC_NPROCESSORS_CONF), 1) - 1);
	g_auto(GStrv) ranges = g_strsplit(g_strstrip(text), ",", -1);
	for (size_t i = 0; ranges[i] != NULL; i++)
		add_range(cpus, ranges[i]);
	return cpus;
}

/* A program that we run does not see it, as it was forked before. */
static void raise_descriptor_limit(LodePerfEventSet *self, size_t n)
{
	struct rlimit raised = self->limit;

	self->n_wanted += n;
	raised.rlim_cur = MIN((rlim_t)self->n_wanted + 64, raised.rlim_max);
	if (self->limit.rlim_cur < raised.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &raised);
}

typedef struct {
	LodePerfEventSet *set;
	const GArray *threads;
	GArray *n_opened;  /* by event */
	int first_refusal; /* of a CPU that lacks the event */
	unsigned n_skipped;
	bool is_further; /* there are threads already: these may all have ended */
} Opening;

/*
 * A thread may have ended, a CPU gone or, where the CPUs are of several kinds, lack the event: the
 * others go on.
 */
static bool is_skippable(const Opening *self, int code)
{
	return code == ENODEV || code == ENOENT ||
	       (code == ESRCH && (self->threads->len > 1 || self->is_further));
}

static bool has_stretch(const LodePerfEventSet *self, LodePerfStretch stretch)
{
	for (guint i = 0; i < self->choices->len; i++)
		if (((const LodePerfChoice *)self->choices->pdata[i])->stretch == stretch)
			return true;
	return false;
}

static const LodePerfChoice *choice_of(const LodePerfEventSet *self, guint descriptor)
{
	return self->choices
	        ->pdata[g_array_index(self->descriptors, LodePerfDescriptor, descriptor).event];
}

/* Whether the next descriptor is to own the ring: the first, or one that is not closed before it.
 */
static bool is_better_owner(
	const LodePerfEventSet *self, const LodePerfCpu *place, const LodePerfChoice *choice)
{
	return place->polled == G_MAXUINT ||
	       (place->ring.base == NULL && choice->stretch == LODE_PERF_IN_SLICES &&
		       choice_of(self, place->polled)->stretch != LODE_PERF_IN_SLICES);
}

static bool open_one(Opening *self, pid_t thread, unsigned cpu, unsigned event, GError **error)
{
	LodePerfEventSet *set = self->set;
	LodePerfChoice *choice = set->choices->pdata[event];
	LodePerfCpu *place = &g_array_index(set->cpus, LodePerfCpu, cpu);
	struct perf_event_attr attr = choice->attr;
	const LodePerfDescriptor opened = {
		.descriptor = set->kernel->open(&attr, thread, place->cpu, set->kernel->user_data),
		.event = event,
		.cpu = cpu,
	};

	if (opened.descriptor >= 0) {
		if (is_better_owner(set, place, choice))
			place->polled = set->descriptors->len;
		g_array_append_val(set->descriptors, opened);
		g_array_index(self->n_opened, unsigned, event)++;
		return true;
	}
	const LodePerfRefusal refusal = {
		.attr = &choice->attr,
		.event = choice->name,
		.pid = self->threads->len > 0 ? thread : 0,
		.code = errno,
		.n_wanted = set->n_wanted,
	};
	if (is_skippable(self, refusal.code)) {
		self->first_refusal = refusal.code;
		self->n_skipped += refusal.code == ENOENT;
		return true;
	}
	lode_perf_kernel_refuse(set->kernel, &refusal, error);
	return false;
}

static bool open_each(Opening *self, GError **error)
{
	LodePerfEventSet *set = self->set;

	raise_descriptor_limit(
		set, (size_t)set->cpus->len * self->threads->len * set->choices->len);
	for (unsigned cpu = 0; cpu < set->cpus->len; cpu++)
		for (guint i = 0; i < self->threads->len; i++)
			for (unsigned event = 0; event < set->choices->len; event++)
				if (!open_one(self, g_array_index(self->threads, pid_t, i), cpu,
					    event, error))
					return false;
	return true;
}

/* The mappings of a process must not fail for want of the first event on one kind of CPU. */
static bool open_all(Opening *self, GError **error)
{
	LodePerfEventSet *set = self->set;

	if (!open_each(self, error))
		return false;
	for (unsigned event = 0; event < set->choices->len; event++) {
		const LodePerfChoice *choice = set->choices->pdata[event];
		const LodePerfRefusal refusal = {
			.attr = &choice->attr,
			.event = choice->name,
			.pid = g_array_index(self->threads, pid_t, 0),
			.code = self->first_refusal,
		};
		if (g_array_index(self->n_opened, unsigned, event) > 0)
			continue;
		lode_perf_kernel_refuse(set->kernel, &refusal, error);
		return false;
	}
	return true;
}

static int owner(const LodePerfEventSet *self, unsigned cpu)
{
	guint index = g_array_index(self->cpus, LodePerfCpu, cpu).polled;

	return index == G_MAXUINT
	               ? -1
	               : g_array_index(self->descriptors, LodePerfDescriptor, index).descriptor;
}

static void unmap_all(LodePerfEventSet *self)
{
	for (unsigned cpu = 0; cpu < self->cpus->len; cpu++)
		lode_perf_ring_unmap(&g_array_index(self->cpus, LodePerfCpu, cpu).ring);
}

/* 0 or errno. */
static int map_all(LodePerfEventSet *self, size_t pages)
{
	for (unsigned cpu = 0; cpu < self->cpus->len; cpu++) {
		LodePerfRing *ring = &g_array_index(self->cpus, LodePerfCpu, cpu).ring;
		if (owner(self, cpu) >= 0 && !lode_perf_ring_map(ring, owner(self, cpu), pages)) {
			int code = errno;
			unmap_all(self);
			return code;
		}
	}
	self->pages = pages;
	return 0;
}

static size_t default_pages(const LodePerfEventSet *self)
{
	size_t pages = DEFAULT_PAGES;

	for (guint i = 0; i < self->choices->len; i++) {
		const LodePerfChoice *choice = self->choices->pdata[i];
		if (!choice->is_tracking && !choice->attr.freq && choice->attr.sample_period == 1)
			return BURST_PAGES;
		if (choice->is_switching && choice->attr.sample_stack_user > 0)
			pages = SWITCH_PAGES;
	}
	return pages;
}

static bool map_rings(LodePerfEventSet *self, size_t wanted, GString *note, GError **error)
{
	size_t pages = wanted > 0 ? wanted : default_pages(self);
	int code = map_all(self, pages);

	/* EPERM: over what perf_event_mlock_kb and RLIMIT_MEMLOCK allow; a smaller one may do */
	while ((code == EPERM || code == ENOMEM) && pages > 1)
		code = map_all(self, pages /= 2);
	if (code == 0 && wanted > pages)
		lode_perf_note(note,
			"the buffers have %" G_GSIZE_FORMAT " pages each, not %" G_GSIZE_FORMAT
			": kernel.perf_event_mlock_kb is %" G_GINT64_FORMAT,
			pages, wanted,
			lode_perf_kernel_setting(self->kernel, "perf_event_mlock_kb", 0));
	if (code == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"the kernel gives no buffer for samples: %s; kernel.perf_event_mlock_kb is "
		"%" G_GINT64_FORMAT " for each CPU and all of a user's recordings, and "
		"RLIMIT_MEMLOCK adds to it; 'sudo sysctl kernel.perf_event_mlock_kb=2048' raises "
		"it",
		g_strerror(code), lode_perf_kernel_setting(self->kernel, "perf_event_mlock_kb", 0));
	return false;
}

/* Events of one CPU can share a ring, no others (perf_event_open(2), PERF_EVENT_IOC_SET_OUTPUT).
 * From `first` on, descriptors are new. */
static bool join_rings(LodePerfEventSet *self, guint first, GError **error)
{
	for (guint i = first; i < self->descriptors->len; i++) {
		LodePerfDescriptor *at = &g_array_index(self->descriptors, LodePerfDescriptor, i);
		const LodePerfChoice *choice = self->choices->pdata[at->event];
		int target = owner(self, at->cpu);
		if ((at->descriptor != target &&
			    ioctl(at->descriptor, PERF_EVENT_IOC_SET_OUTPUT, target) != 0) ||
			ioctl(at->descriptor, PERF_EVENT_IOC_ID, &at->id) != 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
				"'%s': cannot share the buffer of a CPU: %s", choice->name,
				g_strerror(errno));
			return false;
		}
		g_array_append_val(choice->ids, at->id);
	}
	return true;
}

static LodePerfEventSet *set_new(GPtrArray *choices)
{
	LodePerfEventSet *self = g_new0(LodePerfEventSet, 1);

	self->choices = choices;
	self->stretch = LODE_PERF_AT_FIRST;
	self->closed = g_array_new(FALSE, TRUE, sizeof(LodePerfCounts));
	g_array_set_size(self->closed, choices->len);
	return self;
}

LodePerfEventSet *lode_perf_event_set_open(const LodePerfKernel *kernel, GPtrArray *choices,
	const GArray *threads, size_t pages, GString *note, GError **error)
{
	g_autoptr(LodePerfEventSet) self = set_new(choices);
	g_autoptr(GArray) n_opened = g_array_new(FALSE, TRUE, sizeof(unsigned));

	self->kernel = kernel;
	self->cpus = online_cpus();
	self->descriptors = g_array_new(FALSE, FALSE, sizeof(LodePerfDescriptor));
	g_array_set_size(n_opened, choices->len);
	getrlimit(RLIMIT_NOFILE, &self->limit);
	Opening opening = {.set = self, .threads = threads, .n_opened = n_opened};
	if (!open_all(&opening, error))
		return NULL;
	if (opening.n_skipped > 0)
		lode_perf_note(note,
			"some CPUs do not have every event: what ran there is missing from it");
	if (!map_rings(self, pages, note, error) || !join_rings(self, 0, error))
		return NULL;
	return g_steal_pointer(&self);
}

LodePerfEventSet *lode_perf_event_set_of_memory(GPtrArray *choices, size_t pages, GError **error)
{
	g_autoptr(LodePerfEventSet) self = set_new(choices);
	const LodePerfCpu place = {.polled = G_MAXUINT};

	self->cpus = g_array_new(FALSE, TRUE, sizeof(LodePerfCpu));
	self->descriptors = g_array_new(FALSE, FALSE, sizeof(LodePerfDescriptor));
	self->pages = pages;
	getrlimit(RLIMIT_NOFILE, &self->limit);
	g_array_append_val(self->cpus, place);
	for (guint i = 0; i < choices->len; i++) {
		uint64_t id = i + 1;
		g_array_append_val(((LodePerfChoice *)choices->pdata[i])->ids, id);
	}
	if (lode_perf_ring_make(&g_array_index(self->cpus, LodePerfCpu, 0).ring, pages))
		return g_steal_pointer(&self);
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "no memory for a buffer of samples: %s",
		g_strerror(errno));
	return NULL;
}

/* Where no thread that was there before ran on a CPU with the event, that CPU has no ring. */
static bool map_new_rings(LodePerfEventSet *self, GError **error)
{
	for (unsigned cpu = 0; cpu < self->cpus->len; cpu++) {
		LodePerfRing *ring = &g_array_index(self->cpus, LodePerfCpu, cpu).ring;
		if (ring->base != NULL || owner(self, cpu) < 0 ||
			lode_perf_ring_map(ring, owner(self, cpu), self->pages))
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"the kernel gives no buffer for samples: %s", g_strerror(errno));
		return false;
	}
	return true;
}

bool lode_perf_event_set_add(LodePerfEventSet *self, const GArray *threads, GError **error)
{
	g_autoptr(GArray) n_opened = g_array_new(FALSE, TRUE, sizeof(unsigned));
	Opening opening = {
		.set = self, .threads = threads, .n_opened = n_opened, .is_further = true};
	guint first = self->descriptors->len;

	g_array_set_size(n_opened, self->choices->len);
	return open_each(&opening, error) && map_new_rings(self, error) &&
	       join_rings(self, first, error);
}

void lode_perf_event_set_close(LodePerfEventSet *self)
{
	if (self == NULL)
		return;
	unmap_all(self);
	for (guint i = 0; i < self->descriptors->len; i++)
		close(g_array_index(self->descriptors, LodePerfDescriptor, i).descriptor);
	setrlimit(RLIMIT_NOFILE, &self->limit);
	g_array_unref(self->cpus);
	g_array_unref(self->descriptors);
	g_array_unref(self->closed);
	g_free(self);
}

static bool has_samples(const LodePerfChoice *choice)
{
	return !choice->is_tracking;
}

static bool is_tracking(const LodePerfChoice *choice)
{
	return choice->is_tracking;
}

static bool is_switching(const LodePerfChoice *choice)
{
	return choice->is_switching;
}

static void command(LodePerfEventSet *self, bool (*is_meant)(const LodePerfChoice *choice),
	unsigned long request)
{
	for (guint i = 0; i < self->descriptors->len; i++) {
		const LodePerfDescriptor *at = &g_array_index(
			self->descriptors, LodePerfDescriptor, i);
		if (is_meant(self->choices->pdata[at->event]))
			ioctl(at->descriptor, request, 0);
	}
}

void lode_perf_event_set_enable(LodePerfEventSet *self, bool is_on)
{
	for (guint i = 0; i < self->descriptors->len; i++) {
		const LodePerfDescriptor *at = &g_array_index(
			self->descriptors, LodePerfDescriptor, i);
		const LodePerfChoice *choice = self->choices->pdata[at->event];
		bool is_wanted = is_on && (choice->stretch == LODE_PERF_ALWAYS ||
						  choice->stretch == self->stretch);
		if (!choice->is_tracking)
			ioctl(at->descriptor,
				is_wanted ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	}
}

void lode_perf_event_set_begin_stretch(LodePerfEventSet *self, LodePerfStretch stretch, bool is_on)
{
	bool is_known = stretch == LODE_PERF_BETWEEN_SLICES || has_stretch(self, stretch);

	if (stretch == self->stretch || !is_known)
		return;
	self->stretch = stretch;
	lode_perf_event_set_enable(self, is_on);
}

void lode_perf_event_set_enable_switches(LodePerfEventSet *self, bool is_on)
{
	command(self, is_switching, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
}

void lode_perf_event_set_begin(LodePerfEventSet *self)
{
	const LodePerfChoice *first = self->choices->pdata[0];

	command(self, is_tracking, PERF_EVENT_IOC_ENABLE);
	if (first->attr.mmap2)
		command(self, has_samples, PERF_EVENT_IOC_ENABLE);
}

static LodePerfCounts read_counts(const LodePerfDescriptor *at)
{
	LodePerfCounts counts = {0};

	return read(at->descriptor, &counts, sizeof(counts)) > 0 ? counts : (LodePerfCounts){0};
}

/* The sums over all descriptors of an event; the id stays 0. */
static LodePerfCounts sum_counts(const LodePerfEventSet *self, unsigned event)
{
	LodePerfCounts sum = g_array_index(self->closed, LodePerfCounts, event);

	for (guint i = 0; i < self->descriptors->len; i++) {
		const LodePerfDescriptor *at = &g_array_index(
			self->descriptors, LodePerfDescriptor, i);
		LodePerfCounts counts = at->event == event ? read_counts(at) : (LodePerfCounts){0};
		sum.value += counts.value;
		sum.lost += counts.lost;
	}
	return sum;
}

uint64_t lode_perf_event_set_count(const LodePerfEventSet *self, unsigned event)
{
	return sum_counts(self, event).value;
}

uint64_t lode_perf_event_set_lost(const LodePerfEventSet *self, unsigned event)
{
	const LodePerfChoice *choice = self->choices->pdata[event];

	return (choice->attr.read_format & PERF_FORMAT_LOST) != 0 ? sum_counts(self, event).lost
	                                                          : 0;
}

size_t lode_perf_event_set_count_optional(const LodePerfEventSet *self)
{
	size_t n = 0;

	for (guint i = 0; has_stretch(self, LODE_PERF_IN_SLICES) && i < self->descriptors->len; i++)
		n += lode_perf_choice_is_optional(choice_of(self, i));
	return n;
}

/* Each CPU waits for the first of its descriptors that is left. */
static void find_polled(LodePerfEventSet *self)
{
	for (unsigned cpu = 0; cpu < self->cpus->len; cpu++)
		g_array_index(self->cpus, LodePerfCpu, cpu).polled = G_MAXUINT;
	for (guint i = self->descriptors->len; i-- > 0;) {
		unsigned cpu = g_array_index(self->descriptors, LodePerfDescriptor, i).cpu;
		g_array_index(self->cpus, LodePerfCpu, cpu).polled = i;
	}
}

void lode_perf_event_set_close_optional(LodePerfEventSet *self)
{
	guint n_left = 0;

	for (guint i = 0; i < self->descriptors->len; i++) {
		LodePerfDescriptor at = g_array_index(self->descriptors, LodePerfDescriptor, i);
		LodePerfCounts *closed = &g_array_index(self->closed, LodePerfCounts, at.event);
		if (!lode_perf_choice_is_optional(self->choices->pdata[at.event])) {
			g_array_index(self->descriptors, LodePerfDescriptor, n_left++) = at;
			continue;
		}
		LodePerfCounts counts = read_counts(&at);
		closed->value += counts.value;
		closed->lost += counts.lost;
		close(at.descriptor);
	}
	g_array_set_size(self->descriptors, n_left);
	find_polled(self);
}

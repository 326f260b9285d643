/* SPDX-License-Identifier: MIT */
#include "record/events/perf_attachment.h"

#include "record/events/perf_existing.h"

/* A program that makes threads faster than they can be listed is not waited for. */
enum { MAX_PASSES = 64 };

typedef struct {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
} ForkRecord;

typedef struct {
	LodePerfEventSet *events;
	const LodeProcessTree *tree;
	GHashTable *covered; /* threads that have all events, and so give them to those they start
	                      */
	uint64_t *seen;      /* of each ring: how far its records were examined */
} Attachment;

static bool is_covered(const Attachment *self, uint32_t tid)
{
	return g_hash_table_contains(self->covered, GUINT_TO_POINTER(tid));
}

static void cover(Attachment *self, const GArray *threads)
{
	for (guint i = 0; i < threads->len; i++)
		g_hash_table_add(
			self->covered, GUINT_TO_POINTER((guint)g_array_index(threads, pid_t, i)));
}

/* The births in a ring that were not examined yet; the records stay in it. */
static void take_births(Attachment *self, unsigned cpu, GArray *births)
{
	LodePerfRing *ring = &g_array_index(self->events->cpus, LodePerfCpu, cpu).ring;
	ForkRecord record;
	size_t size;

	if (ring->base == NULL || !lode_perf_ring_update(ring))
		return;
	for (uint64_t at = MAX(self->seen[cpu], ring->tail); at < ring->head;) {
		const struct perf_event_header *header = lode_perf_ring_at(ring, at, &size);
		if (header->size < sizeof(*header))
			break;
		if (header->type == PERF_RECORD_FORK && header->size >= sizeof(record)) {
			lode_perf_ring_copy(ring, at, &record, sizeof(record));
			g_array_append_val(births, record);
		}
		at += header->size;
	}
	self->seen[cpu] = ring->head;
}

/* Threads whose creator had all events have them; in rings of several CPUs a thread's own birth may
 * come after those of the threads that it started. */
static void cover_births(Attachment *self)
{
	g_autoptr(GArray) births = g_array_new(FALSE, FALSE, sizeof(ForkRecord));
	bool has_more = true;

	for (unsigned cpu = 0; cpu < self->events->cpus->len; cpu++)
		take_births(self, cpu, births);
	while (has_more) {
		has_more = false;
		for (guint i = 0; i < births->len; i++) {
			const ForkRecord *birth = &g_array_index(births, ForkRecord, i);
			if (is_covered(self, birth->parent_tid))
				has_more |= g_hash_table_add(
					self->covered, GUINT_TO_POINTER(birth->tid));
		}
	}
}

/* The threads of all processes of the tree; NULL: the first process does not run. */
static GArray *list_threads(const LodeProcessTree *tree, GError **error)
{
	g_autoptr(GArray) processes = lode_process_tree_list(tree, "/proc");
	GArray *threads = lode_perf_existing_threads(tree->pid, error);

	for (guint i = 1; i < processes->len && threads != NULL; i++) {
		g_autoptr(GArray)
			more = lode_perf_existing_threads(g_array_index(processes, pid_t, i), NULL);
		if (more != NULL)
			g_array_append_vals(threads, more->data, more->len);
	}
	return threads;
}

/* The threads that are listed and not covered; NULL: the process has ended. */
static GArray *uncovered_threads(Attachment *self)
{
	g_autoptr(GArray) threads = list_threads(self->tree, NULL);

	/* Threads that began before the list was made have reported it by now. */
	cover_births(self);
	for (guint i = threads != NULL ? threads->len : 0; i-- > 0;)
		if (is_covered(self, (uint32_t)g_array_index(threads, pid_t, i)))
			g_array_remove_index_fast(threads, i);
	return g_steal_pointer(&threads);
}

static bool follow_births(Attachment *self, GString *note, bool *out_has_doubles, GError **error)
{
	for (unsigned pass = 0; pass < MAX_PASSES; pass++) {
		g_autoptr(GArray) threads = uncovered_threads(self);
		if (threads == NULL || threads->len == 0)
			return true;
		*out_has_doubles = true;
		if (!lode_perf_event_set_add(self->events, threads, error))
			return false;
		lode_perf_event_set_begin(self->events);
		/* Threads that they started before that are not covered by it. */
		cover_births(self);
		cover(self, threads);
	}
	lode_perf_note(
		note, "threads began faster than they could be followed: some may be missing");
	return true;
}

LodePerfEventSet *lode_perf_attachment_open(const LodePerfKernel *kernel, GPtrArray *choices,
	const LodeProcessTree *tree, size_t pages, GString *note, bool *out_has_doubles,
	GError **error)
{
	g_autoptr(GArray) threads = list_threads(tree, error);

	*out_has_doubles = false;
	if (threads == NULL)
		return NULL;
	g_autoptr(LodePerfEventSet)
		events = lode_perf_event_set_open(kernel, choices, threads, pages, note, error);
	if (events == NULL)
		return NULL;
	g_autoptr(GHashTable) covered = g_hash_table_new(NULL, NULL);
	g_autofree uint64_t *seen = g_new0(uint64_t, MAX(events->cpus->len, 1));
	Attachment self = {events, tree, covered, seen};
	lode_perf_event_set_begin(events);
	cover(&self, threads);
	return follow_births(&self, note, out_has_doubles, error) ? g_steal_pointer(&events) : NULL;
}

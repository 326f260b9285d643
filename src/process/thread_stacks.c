/* SPDX-License-Identifier: MIT */
#include "process/thread_stacks.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/process.h"

/* The kernel reports a thread's end a moment after its stack is free for a new one. */
#define MAX_LATE_NS (UINT64_C(20) * 1000 * 1000)

/* The bytes that a thread library and its first function keep above the first sampled stack
 * pointer. */
enum { NEAR_END = 256 << 10, NEAR_END_SHARE = 8 };

/* Where the stack pointer of one thread was in one mapping. */
typedef struct {
	uint32_t mapping, thread;
	uint64_t high;
	uint64_t first_ns, last_ns;
} Visit;

struct LodeThreadStacks {
	GArray *visits;    /* Visit */
	GHashTable *index; /* mapping and thread → index + 1 */
};

LodeThreadStacks *lode_thread_stacks_new(void)
{
	LodeThreadStacks *self = g_new0(LodeThreadStacks, 1);

	self->visits = g_array_new(FALSE, FALSE, sizeof(Visit));
	self->index = g_hash_table_new(lode_hash_pair, g_direct_equal);
	return self;
}

void lode_thread_stacks_free(LodeThreadStacks *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->visits);
	g_hash_table_unref(self->index);
	g_free(self);
}

void lode_thread_stacks_note(LodeThreadStacks *self, uint32_t mapping, uint32_t thread,
	uint64_t pointer, uint64_t time_ns)
{
	void *key = GSIZE_TO_POINTER((gsize)mapping << 32 | thread);
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->index, key));
	const Visit added = {mapping, thread, pointer, time_ns, time_ns};

	if (found == 0) {
		g_array_append_val(self->visits, added);
		g_hash_table_insert(self->index, key, GUINT_TO_POINTER(self->visits->len));
		return;
	}
	Visit *visit = &g_array_index(self->visits, Visit, found - 1);
	visit->high = MAX(visit->high, pointer);
	visit->first_ns = MIN(visit->first_ns, time_ns);
	visit->last_ns = MAX(visit->last_ns, time_ns);
}

LODE_ORDER(compare_visits, Visit, LODE_ASCENDING(mapping), LODE_ASCENDING(first_ns),
	LODE_ASCENDING(thread))

/* Whether two threads were in a mapping at the same time; `left` began first. A thread that has not
 * ended goes on to use its own stack. */
static bool is_shared(const Visit *left, const Visit *right, const GArray *threads)
{
	const LodeThread *first = &LODE_AT(threads, LodeThread, left->thread);
	const LodeThread *second = &LODE_AT(threads, LodeThread, right->thread);

	if (right->first_ns <= left->last_ns)
		return true;
	return first->end_ns != UINT64_MAX && first->end_ns > second->begin_ns &&
	       first->end_ns - second->begin_ns > MAX_LATE_NS;
}

/* Stacks grow from the end of their mapping; a thread library puts a guard below. */
static bool has_shape(const Visit *visits, guint n, const LodeStackMapping *mapping)
{
	uint64_t size = mapping->end - mapping->start, high = 0;

	for (guint i = 0; i < n; i++)
		high = MAX(high, visits[i].high);
	return mapping->has_guard ||
	       (high < mapping->end && mapping->end - high <= MAX(NEAR_END, size / NEAR_END_SHARE));
}

static void append_owners(
	GArray *out, const Visit *visits, guint n, const GArray *threads, bool is_stack)
{
	for (guint i = 0; i < n && is_stack; i++) {
		const LodeThread *thread = &LODE_AT(threads, LodeThread, visits[i].thread);

		is_stack = thread->tid != thread->pid &&
		           (i == 0 || !is_shared(&visits[i - 1], &visits[i], threads));
	}
	for (guint i = 0; i < n && is_stack; i++) {
		uint64_t begin = LODE_AT(threads, LodeThread, visits[i].thread).begin_ns;
		LodeThreadStack owner = {visits[i].mapping, visits[i].thread, 0};

		if (i > 0)
			owner.since_ns = begin > visits[i - 1].last_ns &&
			                                 begin <= visits[i].first_ns
			                         ? begin
			                         : visits[i].first_ns;
		g_array_append_val(out, owner);
	}
}

GArray *lode_thread_stacks_find(const LodeThreadStacks *self, const GArray *threads,
	LodeStackMappingOf mapping_of, void *data)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(LodeThreadStack));
	g_autoptr(GArray) sorted = g_array_copy(self->visits);
	const Visit *visits = (const Visit *)(const void *)sorted->data;

	g_array_sort(sorted, compare_visits);
	for (guint i = 0, n; i < sorted->len; i += n) {
		for (n = 1; i + n < sorted->len && visits[i + n].mapping == visits[i].mapping;)
			n++;
		const LodeStackMapping mapping = mapping_of(
			data, visits[i].mapping, visits[i].first_ns);
		append_owners(found, &visits[i], n, threads, has_shape(&visits[i], n, &mapping));
	}
	return found;
}

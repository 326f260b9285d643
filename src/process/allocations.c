/* SPDX-License-Identifier: MIT */
/*
 * Selects the log of a process at a time: a process that executes another program begins a new log
 * under the same number, so that logs, and their threads, are sorted by owner and beginning.
 */
#include "process/allocations.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/index.h"

#include <stdlib.h>

/* A log or a thread, and its search key. */
typedef struct {
	uint32_t owner, id; /* of a log: its process, 0; of a thread: its log, its number */
	uint64_t begin_ns;
	uint64_t value; /* a log's number, or a thread's pointer */
} Row;

struct LodeAllocations {
	GPtrArray *all;
	GPtrArray *unread;      /* GError */
	GArray *logs, *threads; /* Row, by owner, id and begin once something was looked for */
	bool is_sorted;
};

static void free_log(void *data)
{
	lode_allocation_log_free(data);
}

static void free_error(void *data)
{
	g_error_free(data);
}

LodeAllocations *lode_allocations_new(void)
{
	LodeAllocations *self = g_new0(LodeAllocations, 1);

	self->all = g_ptr_array_new_with_free_func(free_log);
	self->unread = g_ptr_array_new_with_free_func(free_error);
	self->logs = g_array_new(FALSE, FALSE, sizeof(Row));
	self->threads = g_array_new(FALSE, FALSE, sizeof(Row));
	return self;
}

void lode_allocations_free(LodeAllocations *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->all);
	g_ptr_array_unref(self->unread);
	g_array_unref(self->logs);
	g_array_unref(self->threads);
	g_free(self);
}

void lode_allocations_take(LodeAllocations *self, LodeAllocationLog *log)
{
	const Row row = {lode_allocation_log_pid(log), 0,
		lode_allocation_log_summary(log)->begin_ns, self->all->len};
	size_t n;
	const LodeLoggedThread *threads = lode_allocation_log_threads(log, &n);

	for (size_t i = 0; i < n; i++) {
		const Row thread = {
			self->all->len, threads[i].tid, threads[i].begin_ns, threads[i].pointer};
		g_array_append_val(self->threads, thread);
	}
	g_array_append_val(self->logs, row);
	g_ptr_array_add(self->all, log);
	self->is_sorted = false;
}

void lode_allocations_note_unreadable(LodeAllocations *self, const GError *why)
{
	g_ptr_array_add(self->unread, g_error_copy(why));
}

static void account_log(const LodeAllocationLogSummary *log, LodeRecording *recording)
{
	const struct {
		const char *reason;
		uint64_t n;
	} lacks[] = {
		{"allocation calls that the recorder could not note", log->n_unseen},
		{"allocation records that there was no room for", log->n_dropped},
		{"allocations by a malloc of the program's own, which is not followed",
			log->has_own_malloc},
		{"allocation log that is cut short", log->is_truncated},
	};
	g_autofree char *example = g_strdup_printf("process %u", log->pid);

	for (size_t i = 0; i < G_N_ELEMENTS(lacks); i++)
		if (lacks[i].n > 0)
			lode_recording_add_unresolved(
				recording, lacks[i].reason, example, (double)lacks[i].n, 0);
}

void lode_allocations_account(const LodeAllocations *self, LodeRecording *recording)
{
	for (guint i = 0; i < self->all->len; i++)
		account_log(lode_allocation_log_summary(self->all->pdata[i]), recording);
	for (guint i = 0; i < self->unread->len; i++) {
		const GError *why = self->unread->pdata[i];
		bool is_too_large = g_error_matches(why, LODE_ERROR, LODE_ERROR_LIMIT);
		lode_recording_add_unresolved(recording,
			is_too_large ? "allocation log that is too large"
				     : "allocation log that is damaged",
			why->message, 1, 0);
	}
}

const GPtrArray *lode_allocations_all(const LodeAllocations *self)
{
	return self->all;
}

LODE_ORDER(compare_rows, Row, LODE_ASCENDING(owner), LODE_ASCENDING(id), LODE_ASCENDING(begin_ns))

static void sort(LodeAllocations *self)
{
	if (self->is_sorted)
		return;
	g_array_sort(self->logs, compare_rows);
	g_array_sort(self->threads, compare_rows);
	self->is_sorted = true;
}

/* The last of this owner and id that had begun; NULL: none. */
static const Row *find_last(const GArray *rows, uint32_t owner, uint32_t id, uint64_t time_ns)
{
	const Row key = {owner, id, time_ns, 0};
	guint n = LODE_PARTITION_POINT(
		rows->len, i, compare_rows(&g_array_index(rows, Row, i), &key) <= 0);
	const Row *found = n > 0 ? &g_array_index(rows, Row, n - 1) : NULL;
	return found != NULL && found->owner == owner && found->id == id ? found : NULL;
}

uint32_t lode_allocations_find(
	LodeAllocations *self, uint32_t pid, uint64_t since_ns, uint64_t time_ns)
{
	sort(self);
	const Row *found = find_last(self->logs, pid, 0, time_ns);
	return found != NULL && found->begin_ns >= since_ns ? (uint32_t)found->value : LODE_NONE;
}

bool lode_allocations_find_thread_pointer(
	LodeAllocations *self, uint32_t log, uint32_t tid, uint64_t time_ns, uint64_t *out_pointer)
{
	sort(self);
	const Row *found = find_last(self->threads, log, tid, time_ns);
	if (found == NULL)
		return false;
	*out_pointer = found->value;
	return true;
}

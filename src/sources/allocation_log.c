/* SPDX-License-Identifier: MIT */
#include "sources/allocation_log.h"

#include "base/error.h"
#include "sources/allocation_log_reader.h"

static LodeAllocationLog *log_new(void)
{
	LodeAllocationLog *self = g_new0(LodeAllocationLog, 1);

	self->allocations = g_array_new(FALSE, FALSE, sizeof(LodeLoggedAllocation));
	self->stacks = g_array_new(FALSE, FALSE, sizeof(LodeAllocationStack));
	self->frames = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->threads = g_array_new(FALSE, FALSE, sizeof(LodeLoggedThread));
	self->blocks = lode_allocation_index_new();
	self->maps = lode_allocation_index_new();
	return self;
}

static int compare_threads(const void *a, const void *b)
{
	const LodeLoggedThread *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static bool read_mapped(LodeAllocationLog *self, GMappedFile *file, GError **error)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(LodeLogEvent));
	LodeAllocationLogReader reader = {
		.log = self,
		.events = events,
		.budget = {.limit_bytes = lode_memory_budget_available()},
	};
	const char *data = g_mapped_file_get_contents(file);

	/* nothing is mapped of an empty file, but a cursor needs a place to start from */
	if (!lode_allocation_log_read_bytes(&reader, (const uint8_t *)(data != NULL ? data : ""),
		    g_mapped_file_get_length(file), error) ||
		!lode_allocation_log_find_lives(&reader, error))
		return false;
	g_array_sort(self->threads, compare_threads);
	return true;
}

LodeAllocationLog *lode_allocation_log_read(const char *path, GError **error)
{
	g_autoptr(LodeAllocationLog) self = log_new();
	g_autoptr(GError) cause = NULL;
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, &cause);

	if (file == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", cause->message);
		return NULL;
	}
	if (!read_mapped(self, file, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&self);
}

void lode_allocation_log_free(LodeAllocationLog *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->allocations);
	g_array_unref(self->stacks);
	g_array_unref(self->frames);
	g_array_unref(self->threads);
	lode_allocation_index_free(self->blocks);
	lode_allocation_index_free(self->maps);
	g_free(self);
}

const LodeAllocationLogSummary *lode_allocation_log_summary(const LodeAllocationLog *self)
{
	return &self->summary;
}

uint32_t lode_allocation_log_pid(const LodeAllocationLog *self)
{
	return self->summary.pid;
}

bool lode_allocation_log_is_truncated(const LodeAllocationLog *self)
{
	return self->summary.is_truncated;
}

const LodeLoggedAllocation *lode_allocation_log_allocations(
	const LodeAllocationLog *self, size_t *out_n)
{
	*out_n = self->allocations->len;
	return (const LodeLoggedAllocation *)self->allocations->data;
}

static bool holds(const LodeLoggedAllocation *self, uint64_t address, uint64_t time_ns)
{
	bool is_there = time_ns == UINT64_MAX || time_ns < self->end_ns;

	return address >= self->address && address - self->address < self->size && is_there;
}

/* Of several the one that began last. */
static const LodeLoggedAllocation *find_in(const LodeAllocationLog *self,
	const LodeAllocationIndex *index, uint64_t address, uint64_t time_ns)
{
	uint32_t owners[LODE_ALLOCATION_INDEX_LEVELS];
	size_t n = lode_allocation_index_find(index, address, time_ns, owners);
	const LodeLoggedAllocation *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const LodeLoggedAllocation *at = &g_array_index(
			self->allocations, LodeLoggedAllocation, owners[i]);
		if (holds(at, address, time_ns) && (best == NULL || at->begin_ns > best->begin_ns))
			best = at;
	}
	return best;
}

const LodeLoggedAllocation *lode_allocation_log_find(
	const LodeAllocationLog *self, uint64_t address, uint64_t time_ns)
{
	const LodeLoggedAllocation *found = find_in(self, self->blocks, address, time_ns);

	return found != NULL ? found : find_in(self, self->maps, address, time_ns);
}

size_t lode_allocation_log_n_stacks(const LodeAllocationLog *self)
{
	return self->stacks->len;
}

LodeAllocationStack lode_allocation_log_stack(const LodeAllocationLog *self, size_t index)
{
	return g_array_index(self->stacks, LodeAllocationStack, index);
}

const LodeLoggedThread *lode_allocation_log_threads(const LodeAllocationLog *self, size_t *out_n)
{
	*out_n = self->threads->len;
	return (const LodeLoggedThread *)self->threads->data;
}

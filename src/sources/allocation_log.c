/* SPDX-License-Identifier: MIT */
#include "sources/allocation_log.h"

#include "base/error.h"
#include "base/hash.h"
#include "sources/allocation_log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static LodeAllocationLog *log_new(void)
{
	LodeAllocationLog *self = g_new0(LodeAllocationLog, 1);

	self->allocations = g_array_new(FALSE, FALSE, sizeof(LodeLoggedAllocation));
	self->stacks = g_array_new(FALSE, FALSE, sizeof(LodeAllocationStack));
	self->frames = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->threads = g_array_new(FALSE, FALSE, sizeof(LodeLoggedThread));
	self->blocks = lode_allocation_index_new();
	self->maps = lode_allocation_index_new();
	self->given_back = g_hash_table_new(lode_hash_pair, NULL);
	self->replaced = lode_live_ranges_new();
	self->replaced_ns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

static int compare_threads(const void *a, const void *b)
{
	const LodeLoggedThread *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static bool read_open(LodeAllocationLog *self, int descriptor, uint64_t size, GError **error)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(LodeLogEvent));
	LodeAllocationLogReader reader = {
		.log = self,
		.events = events,
		.budget = {.limit_bytes = lode_memory_budget_available()},
	};

	if (!lode_allocation_log_read_file(&reader, descriptor, size, error) ||
		!lode_allocation_log_find_lives(&reader, error))
		return false;
	g_array_sort(self->threads, compare_threads);
	return true;
}

static bool read_path(LodeAllocationLog *self, const char *path, GError **error)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	bool is_read = false;

	if (descriptor < 0 || fstat(descriptor, &status) != 0)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, g_strerror(errno));
	else if (!S_ISREG(status.st_mode))
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, "is not a regular file");
	else
		is_read = read_open(self, descriptor, (uint64_t)status.st_size, error);
	if (descriptor >= 0)
		close(descriptor);
	return is_read;
}

LodeAllocationLog *lode_allocation_log_read(const char *path, GError **error)
{
	g_autoptr(LodeAllocationLog) self = log_new();

	if (read_path(self, path, error))
		return g_steal_pointer(&self);
	g_prefix_error(error, "%s: ", path);
	return NULL;
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
	g_hash_table_unref(self->given_back);
	lode_live_ranges_free(self->replaced);
	g_array_unref(self->replaced_ns);
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
	/* a heap lies in mappings of its own: the block in one says more than the mapping */
	const LodeLoggedAllocation *found = find_in(self, self->blocks, address, time_ns);

	return found != NULL ? found : find_in(self, self->maps, address, time_ns);
}

bool lode_allocation_log_has_given_back(const LodeAllocationLog *self,
	const LodeLoggedAllocation *inherited, uint64_t address, uint64_t time_ns)
{
	void *freed_ns;

	if (inherited->kind == LODE_ALLOCATION_MAP) {
		const LodeLiveRange *range = lode_live_ranges_find(self->replaced, address);
		return range != NULL &&
		       g_array_index(self->replaced_ns, uint64_t, range->owner) <= time_ns;
	}
	return g_hash_table_lookup_extended(
		       self->given_back, GSIZE_TO_POINTER(inherited->address), NULL, &freed_ns) &&
	       GPOINTER_TO_SIZE(freed_ns) <= time_ns;
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

/* SPDX-License-Identifier: MIT */
/* The memory of the flat rows between a callgrind file's text and its recording. */
#include "sources/callgrind_records.h"

#include "base/error.h"

#include <string.h>
#include <sys/mman.h>

bool lode_callgrind_rows_reserve(LodeCallgrindRows *self, size_t size, GError **error)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *data = self->data == NULL ? mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0)
	                                : mremap(self->data, self->room, size, MREMAP_MAYMOVE);

	if (data == MAP_FAILED) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for %zu bytes of rows", size);
		return false;
	}
	madvise(data, size, MADV_HUGEPAGE);
	self->data = data;
	self->room = size;
	return true;
}

void lode_callgrind_rows_release(LodeCallgrindRows *self)
{
	if (self->data != NULL)
		munmap(self->data, self->room);
	memset(self, 0, sizeof(*self));
}

/* A line of self cost has at least two bytes, as has a value; a jump 11 and a call 12. */
bool lode_callgrind_records_init(LodeCallgrindRecords *self, size_t text_size, GError **error)
{
	size_t margin = 1 << 12;

	memset(self, 0, sizeof(*self));
	self->recording = lode_recording_new();
	self->name_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->object_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->has_totals = true;
	return lode_callgrind_rows_reserve(&self->places,
		       (text_size / 4 + margin) * sizeof(LodeCallgrindPlace), error) &&
	       lode_callgrind_rows_reserve(&self->costs,
		       (text_size / 2 + margin) * sizeof(LodeCallgrindCostRecord), error) &&
	       lode_callgrind_rows_reserve(
		       &self->values, (text_size / 2 + margin) * sizeof(double), error) &&
	       lode_callgrind_rows_reserve(
		       &self->jumps, (text_size / 11 + margin) * sizeof(LodeRecordedJump), error) &&
	       lode_callgrind_rows_reserve(
		       &self->calls, (text_size / 12 + margin) * sizeof(LodeRecordedCall), error);
}

void lode_callgrind_records_clear(LodeCallgrindRecords *self)
{
	lode_recording_free(self->recording);
	g_clear_pointer(&self->name_ids, g_hash_table_unref);
	g_clear_pointer(&self->object_ids, g_hash_table_unref);
	lode_callgrind_rows_release(&self->places);
	lode_callgrind_rows_release(&self->costs);
	lode_callgrind_rows_release(&self->values);
	lode_callgrind_rows_release(&self->jumps);
	lode_callgrind_rows_release(&self->calls);
}

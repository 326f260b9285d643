/* SPDX-License-Identifier: MIT */
#include "record/perf/record_queue.h"

static void free_batch(void *data)
{
	g_byte_array_unref(data);
}

void lode_record_queue_init(LodeRecordQueue *self, guint max_bytes)
{
	*self = (LodeRecordQueue){
		.batches = g_async_queue_new_full(free_batch),
		.open = g_byte_array_new(),
		.max_bytes = max_bytes,
	};
}

void lode_record_queue_clear(LodeRecordQueue *self)
{
	g_clear_pointer(&self->batches, g_async_queue_unref);
	g_clear_pointer(&self->open, g_byte_array_unref);
}

static bool has_room(const LodeRecordQueue *self, size_t size)
{
	size_t queued = (size_t)g_atomic_int_get(&self->queued_bytes);

	return queued + self->open->len + size <= self->max_bytes;
}

void lode_record_queue_put(LodeRecordQueue *self, const void *record, size_t size)
{
	if (!has_room(self, size)) {
		g_atomic_int_inc(&self->n_dropped);
		return;
	}
	g_byte_array_append(self->open, record, (guint)size);
}

void lode_record_queue_end_batch(LodeRecordQueue *self)
{
	if (self->open->len == 0)
		return;
	g_atomic_int_add(&self->queued_bytes, (gint)self->open->len);
	g_async_queue_push(self->batches, self->open);
	self->open = g_byte_array_new();
}

GByteArray *lode_record_queue_take(LodeRecordQueue *self)
{
	GByteArray *batch = g_async_queue_try_pop(self->batches);

	if (batch != NULL)
		g_atomic_int_add(&self->queued_bytes, -(gint)batch->len);
	return batch;
}

uint64_t lode_record_queue_n_dropped(const LodeRecordQueue *self)
{
	return (uint64_t)(guint)g_atomic_int_get(&self->n_dropped);
}

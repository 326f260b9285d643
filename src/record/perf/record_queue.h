/* SPDX-License-Identifier: MIT */
/*
 * Records on their way from one thread to a slower one: the producer never waits, and records that
 * do not fit are dropped and counted.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	GAsyncQueue *batches; /* GByteArray */
	GByteArray *open;     /* being filled; the putting thread's */
	gint queued_bytes, n_dropped;
	guint max_bytes;
} LodeRecordQueue;

/* At most so many bytes wait. */
void lode_record_queue_init(LodeRecordQueue *self, guint max_bytes);
void lode_record_queue_clear(LodeRecordQueue *self);

/* Adds a record to the batch that is being filled; ends the batch. */
void lode_record_queue_put(LodeRecordQueue *self, const void *record, size_t size);
void lode_record_queue_end_batch(LodeRecordQueue *self);

/* The next batch, or NULL; the caller frees it. */
GByteArray *lode_record_queue_take(LodeRecordQueue *self);

/* Records that were left out. */
uint64_t lode_record_queue_n_dropped(const LodeRecordQueue *self);

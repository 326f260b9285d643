/* SPDX-License-Identifier: MIT */
/* What is put is taken whole and in order, and what has no room is counted: nobody waits. */
#include "record/perf/record_queue.h"

#include <string.h>

enum { RECORD = 64, MAX_BYTES = RECORD * 100, N_RECORDS = 20000, PER_BATCH = 7 };

typedef struct {
	uint64_t number, rest[RECORD / 8 - 1];
} Record;

static void test_full(void)
{
	LodeRecordQueue queue;
	const Record record = {0};

	lode_record_queue_init(&queue, MAX_BYTES);
	for (int i = 0; i < 130; i++) {
		lode_record_queue_put(&queue, &record, sizeof(record));
		if (i % 20 == 19)
			lode_record_queue_end_batch(&queue);
	}
	g_assert_cmpuint(lode_record_queue_n_dropped(&queue), ==, 30);
	for (int i = 0; i < 5; i++) {
		g_autoptr(GByteArray) batch = lode_record_queue_take(&queue);
		g_assert_nonnull(batch);
		g_assert_cmpuint(batch->len, ==, 20 * RECORD);
	}
	g_assert_null(lode_record_queue_take(&queue));
	/* There is room again. */
	lode_record_queue_put(&queue, &record, sizeof(record));
	lode_record_queue_end_batch(&queue);
	lode_record_queue_end_batch(&queue);
	g_autoptr(GByteArray) batch = lode_record_queue_take(&queue);
	g_assert_cmpuint(batch->len, ==, RECORD);
	g_assert_null(lode_record_queue_take(&queue));
	g_assert_cmpuint(lode_record_queue_n_dropped(&queue), ==, 30);
	lode_record_queue_clear(&queue);
}

static gint is_done;

static void *put_all(void *data)
{
	LodeRecordQueue *queue = data;

	for (uint64_t i = 0; i < N_RECORDS; i++) {
		const Record record = {.number = i};
		lode_record_queue_put(queue, &record, sizeof(record));
		if (i % PER_BATCH == 0)
			lode_record_queue_end_batch(queue);
	}
	lode_record_queue_end_batch(queue);
	g_atomic_int_set(&is_done, TRUE);
	return NULL;
}

/* Numbers ascend, and those that do not come are those that were dropped. */
static uint64_t count_batch(const GByteArray *batch, uint64_t *next)
{
	uint64_t n = batch->len / sizeof(Record);

	g_assert_cmpuint(batch->len % sizeof(Record), ==, 0);
	for (uint64_t i = 0; i < n; i++) {
		Record record;
		memcpy(&record, batch->data + i * sizeof(record), sizeof(record));
		g_assert_cmpuint(record.number, >=, *next);
		*next = record.number + 1;
	}
	return n;
}

static void test_two_threads(void)
{
	LodeRecordQueue queue;
	uint64_t n_taken = 0, next = 0;
	bool was_done;

	lode_record_queue_init(&queue, MAX_BYTES);
	GThread *thread = g_thread_new("put", put_all, &queue);
	do {
		GByteArray *batch;
		was_done = g_atomic_int_get(&is_done);
		while ((batch = lode_record_queue_take(&queue)) != NULL) {
			n_taken += count_batch(batch, &next);
			g_byte_array_unref(batch);
		}
	} while (!was_done);
	g_thread_join(thread);
	g_assert_cmpuint(n_taken + lode_record_queue_n_dropped(&queue), ==, N_RECORDS);
	lode_record_queue_clear(&queue);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record_queue/full", test_full);
	g_test_add_func("/record_queue/two_threads", test_two_threads);
	return g_test_run();
}

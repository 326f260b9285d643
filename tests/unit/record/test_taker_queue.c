/* SPDX-License-Identifier: MIT */
/* Traces of many processes that are taken while they are made. */
#include "record/qemu/taker_queue.h"
#include "traces/trace_stream.h"

#include <malloc.h>

enum { PROCESSES = 500, REFERENCES = 4000 };

typedef struct {
	unsigned n_begun, n_ended;
	uint64_t n_references;
} Taken;

static void *begin(const LodeTraceDescription *description, void *user_data, GError **error)
{
	Taken *self = user_data;

	(void)description;
	(void)error;
	self->n_begun++;
	return self;
}

static bool take(void *trace, LodeTraceFrame **frame, GError **error)
{
	Taken *self = trace;

	(void)error;
	self->n_references += (*frame)->n_references;
	return true;
}

static bool end(void *trace, const LodeTraceDescription *description, GError **error)
{
	Taken *self = trace;

	(void)description;
	(void)error;
	self->n_ended++;
	return true;
}

/* A process like others: code that runs once. */
static void add_process(LodeTraceStream *stream)
{
	LodeReference references[REFERENCES];

	for (uint64_t i = 0; i < REFERENCES; i++)
		references[i] = (LodeReference){
			.address = i % 2 == 0 ? 0x400000 + i * 16 : 0x10000000 + i * 64,
			.size = 4,
			.kind = i % 2 == 0 ? LODE_REFERENCE_FETCH : LODE_REFERENCE_LOAD,
		};
	g_assert_true(lode_trace_stream_add(stream, references, REFERENCES, NULL));
	g_assert_true(lode_trace_stream_finish(stream, NULL, NULL));
	lode_trace_stream_free(stream);
}

/* What a process took is not kept until the last one has ended. */
static void test_many_processes(void)
{
	Taken taken = {0};
	const LodeTraceTaker taker = {
		.begin = begin, .take = take, .end = end, .user_data = &taken};
	g_autoptr(LodeTakerQueue) queue = lode_taker_queue_new(&taker);
	g_autoptr(LodeTraceStreamGroup) group = lode_trace_stream_group_new(0);
	LodeTraceDescription *descriptions[PROCESSES];
	size_t after_first = 0;

	for (unsigned i = 0; i < PROCESSES; i++) {
		descriptions[i] = lode_trace_description_new();
		add_process(lode_trace_stream_new(
			lode_taker_queue_front(queue), descriptions[i], group, NULL));
		lode_taker_queue_wait(queue);
		if (i == 0)
			after_first = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	size_t after_last = mallinfo2().uordblks + mallinfo2().hblkhd;
	g_test_message("%zu KiB for each", (after_last - after_first) / PROCESSES / 1024);
	g_assert_cmpuint(after_last, <, after_first + (size_t)PROCESSES * (8 << 10));
	g_assert_true(lode_taker_queue_finish(queue, NULL));
	g_assert_cmpuint(taken.n_begun, ==, PROCESSES);
	g_assert_cmpuint(taken.n_ended, ==, PROCESSES);
	g_assert_cmpuint(taken.n_references, ==, (uint64_t)PROCESSES * REFERENCES);
	for (unsigned i = 0; i < PROCESSES; i++)
		lode_trace_description_free(descriptions[i]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/taker-queue/many-processes", test_many_processes);
	return g_test_run();
}

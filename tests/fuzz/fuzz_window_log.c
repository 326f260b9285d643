/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a log of windows of a process that executes /bin/true: read, resolved to its code
 * and summed up. No more steps come out than were in it, each at code that is there, in order.
 */
#include "fuzz_target.h"
#include "ingest/windows/window_reading.h"

#include <stdlib.h>

enum { PID = 7 };

static const uint64_t LOADED_AT = UINT64_C(0x555555554000);

typedef struct {
	LodeCodeImages *images;
	LodePlaces *places;
	LodeThreads threads;
} Process;

/* Not g_error(): libFuzzer does not catch its SIGTRAP and would not keep the input. */
static void fail(const char *message)
{
	g_printerr("%s\n", message);
	abort();
}

/* The same for all inputs. */
static Process *process(void)
{
	static Process self;
	const LodePerfRecord exec = {
		.kind = LODE_PERF_COMMAND, .pid = PID, .tid = PID, .is_exec = true, .text = "true"};
	const LodePerfRecord map = {.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = PID,
		.mapping = {.start = LOADED_AT,
			.size = 1 << 20,
			.protection = PROT_READ | PROT_EXEC,
			.path = "/bin/true"}};

	if (self.places != NULL)
		return &self;
	self.images = lode_code_images_new(NULL, false);
	const LodePlacesOptions options = {.images = self.images};
	self.places = lode_places_new(&options);
	lode_threads_init(&self.threads, 0);
	lode_places_begin(self.places);
	lode_places_note(self.places, &exec, 1);
	lode_places_note(self.places, &map, 2);
	lode_threads_note(&self.threads, &exec, 1);
	lode_places_freeze(self.places, NULL, NULL, NULL);
	lode_threads_freeze(&self.threads);
	return &self;
}

static void check_steps(const LodeRecording *recording, uint64_t n)
{
	const LodeRecordedStep *steps =
		(const LodeRecordedStep *)(const void *)recording->steps->data;
	uint64_t sum = 0;

	for (guint i = 0; i < recording->steps->len; i++) {
		sum += steps[i].steps;
		if (steps[i].object >= recording->objects->len ||
			steps[i].target_object >= recording->objects->len)
			fail("a step of no object");
		if (steps[i].windows == 0 || steps[i].windows > steps[i].steps)
			fail("more windows than steps");
		if (i > 0 &&
			(steps[i - 1].source > steps[i].source ||
				(steps[i - 1].source == steps[i].source &&
					steps[i - 1].target >= steps[i].target)) &&
			steps[i - 1].object == steps[i].object &&
			steps[i - 1].target_object == steps[i].target_object)
			fail("steps out of order");
	}
	if (sum > n)
		fail("more steps between instructions than were read");
}

static void check_facts(LodeWindowReading *reading, uint64_t n)
{
	uint32_t n_codes = lode_window_steps_n_codes(reading->steps);
	uint64_t sum = 0;

	if (reading->facts->len > n_codes)
		fail("facts of no code");
	for (guint i = 0; i < reading->facts->len; i++)
		sum += lode_window_facts_at(reading->facts, i)->steps;
	if (sum > n)
		fail("more executions than were read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Process *of = process();
	g_autoptr(LodeWindowReading) reading = lode_window_reading_new(of->places);
	g_autoptr(LodeRecording) recording = lode_recording_new();
	g_autoptr(GBytes) bytes = g_bytes_new(data, size);
	g_autoptr(GError) error = NULL;
	LodeWindowTimes times;
	const LodeWindowLogOptions options = {
		.recording = recording, .threads = &of->threads, .times = &times};

	lode_window_times_init(&times);
	if (!lode_window_reading_add(reading, bytes, &options, NULL, &error) || error != NULL)
		fail("a log that was not counted");
	lode_window_times_freeze(&times);
	lode_window_times_has(&times, PID, 1000);
	lode_window_reading_finish(reading, recording);
	const LodeWindowFigures *figures = lode_window_steps_figures(reading->steps);
	if (figures->n_steps > size)
		fail("more steps than bytes");
	/* one may be inserted after each */
	check_steps(recording, 2 * figures->n_steps);
	check_facts(reading, 2 * figures->n_steps);
	if (reading->processes->len + recording->unresolved->len == 0)
		fail("a log that left nothing");
	lode_window_times_clear(&times);
	return 0;
}

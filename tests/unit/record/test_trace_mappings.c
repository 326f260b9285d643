/* SPDX-License-Identifier: MIT */
#include "record/qemu/trace_mappings.h"

#include <sys/mman.h>

typedef struct {
	LodeTraceDescription *description;
	LodeTraceMappings *mappings;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->description = lode_trace_description_new();
	self->mappings = lode_trace_mappings_new(self->description, NULL, NULL);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_trace_mappings_free(self->mappings);
	lode_trace_description_free(self->description);
}

static void note(Fixture *self, TraceEventKind kind, const TraceEvent *event, uint64_t reference)
{
	lode_trace_mappings_note(self->mappings, kind, event, reference);
}

static void expect(const Fixture *self, const char *expected)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < self->description->mappings->len; i++) {
		const LodeTraceMapping *at = &g_array_index(
			self->description->mappings, LodeTraceMapping, i);
		g_string_append_printf(text,
			"%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER
			"x %u %s @%" G_GUINT64_FORMAT "\n",
			at->start, at->end, at->offset, at->protection, at->path,
			at->first_reference);
	}
	g_assert_cmpstr(text->str, ==, expected);
}

static void test_same_again(Fixture *self, const void *data)
{
	const TraceEvent event = {.start = 0x1000,
		.size = 0x3000,
		.protection = PROT_READ,
		.kind = TRACE_MAPPING_ANONYMOUS};

	(void)data;
	note(self, TRACE_EVENT_MAP, &event, 5);
	note(self, TRACE_EVENT_MAP, &event, 6);
	expect(self, "1000-4000 0 1 [anon] @5\n");
}

static void test_protection_of_a_part(Fixture *self, const void *data)
{
	const TraceEvent file = {.start = 0x10000,
		.size = 0x4000,
		.offset = 0x2000,
		.protection = PROT_READ,
		.path = "/no/such/file"};
	const TraceEvent part = {
		.start = 0x11000, .size = 0x1000, .protection = PROT_READ | PROT_EXEC};

	(void)data;
	note(self, TRACE_EVENT_MAP, &file, 0);
	note(self, TRACE_EVENT_PROTECT, &part, 9);
	note(self, TRACE_EVENT_PROTECT, &part, 10);
	expect(self, "10000-14000 2000 1 /no/such/file @0\n"
		     "11000-12000 3000 5 /no/such/file @9\n");
}

static void test_moved(Fixture *self, const void *data)
{
	const TraceEvent heap = {.start = 0x1000,
		.size = 0x2000,
		.protection = PROT_READ | PROT_WRITE,
		.kind = TRACE_MAPPING_HEAP};
	const TraceEvent moved = {
		.start = 0x9000, .size = 0x4000, .offset = 0x1000, .kind = TRACE_MAPPING_MOVED};
	const TraceEvent unknown = {
		.start = 0x90000, .size = 0x4000, .offset = 0x70000, .kind = TRACE_MAPPING_MOVED};

	(void)data;
	note(self, TRACE_EVENT_MAP, &heap, 1);
	note(self, TRACE_EVENT_MAP, &moved, 2);
	note(self, TRACE_EVENT_MAP, &unknown, 3);
	expect(self, "1000-3000 0 3 [heap] @1\n9000-d000 0 3 [heap] @2\n");
}

/* What a program writes over the shared memory must not bring us down. */
static void test_nonsense(Fixture *self, const void *data)
{
	const TraceEvent endless = {.start = UINT64_MAX - 5, .size = UINT64_MAX, .kind = 77};
	const TraceEvent empty = {.start = 5};

	(void)data;
	note(self, TRACE_EVENT_MAP, &endless, 1);
	note(self, TRACE_EVENT_MAP, &empty, 1);
	note(self, TRACE_EVENT_NAME, &empty, 1);
	g_assert_cmpuint(self->description->mappings->len, ==, 1);
}

static void test_bound(Fixture *self, const void *data)
{
	TraceEvent event = {.size = 0x1000, .kind = TRACE_MAPPING_ANONYMOUS};

	(void)data;
	for (uint64_t i = 0; i < 70000; i++) {
		event.start = i * 0x2000;
		note(self, TRACE_EVENT_MAP, &event, i);
	}
	g_assert_cmpuint(self->description->mappings->len, ==, 65536);
	g_assert_cmpuint(lode_trace_mappings_n_lost(self->mappings), ==, 70000 - 65536);
}

#define ADD(name, function) g_test_add(name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("/trace_mappings/same_again", test_same_again);
	ADD("/trace_mappings/protection_of_a_part", test_protection_of_a_part);
	ADD("/trace_mappings/moved", test_moved);
	ADD("/trace_mappings/nonsense", test_nonsense);
	ADD("/trace_mappings/bound", test_bound);
	return g_test_run();
}

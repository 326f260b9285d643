/* SPDX-License-Identifier: MIT */
/*
 * One access of each group of `interval` is kept, at random inside it, so that loops whose length
 * divides the interval are not always met at the same place. When there is no more room the
 * interval doubles and of each two rows one stays: the sample is as if it had been taken with the
 * longer interval from the start, and memory is bounded however long the trace is.
 */
#include "ingest/traced/traced_memory.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/data/data_access.h"
#include "ingest/memory/memory_reading.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST_ROOM = 1024 };

typedef struct {
	LodeTracedStore store;
	uint32_t row;
	uint64_t n;
} CountedStore;

typedef struct {
	GArray *rows; /* LodeTracedAccess, one of each group of `interval`, in order */
	uint64_t interval, seen;
	uint64_t next;            /* of all that are seen, counted from 0, the next that is kept */
	GArray *counts;           /* uint64_t, of each row; NULL: rows are a sample */
	LodeIdCache known;        /* rows by their content, where they are counted */
	GArray *stores;           /* CountedStore; NULL: none yet */
	LodeIdCache known_stores; /* likewise */
	uint32_t last_row;        /* that was counted last; UINT32_MAX: it was left out */
	uint64_t n_left_out;
} Stream;

struct LodeTracedMemory {
	Stream *streams;
	uint32_t n_streams;
	guint n_rows; /* of all streams */
	guint room;   /* for so many */
};

LodeTracedMemory *lode_traced_memory_new(uint32_t n_streams)
{
	LodeTracedMemory *self = g_new0(LodeTracedMemory, 1);

	self->n_streams = n_streams;
	self->room = LODE_TRACED_MEMORY_ROWS;
	self->streams = g_new0(Stream, MAX(n_streams, 1));
	for (uint32_t i = 0; i < n_streams; i++) {
		self->streams[i].rows = g_array_new(FALSE, FALSE, sizeof(LodeTracedAccess));
		self->streams[i].interval = 1;
	}
	return self;
}

void lode_traced_memory_free(LodeTracedMemory *self)
{
	if (self == NULL)
		return;
	for (uint32_t i = 0; i < self->n_streams; i++) {
		g_array_unref(self->streams[i].rows);
		if (self->streams[i].counts == NULL)
			continue;
		g_array_unref(self->streams[i].counts);
		lode_id_cache_clear(&self->streams[i].known);
		if (self->streams[i].stores == NULL)
			continue;
		g_array_unref(self->streams[i].stores);
		lode_id_cache_clear(&self->streams[i].known_stores);
	}
	g_free(self->streams);
	g_free(self);
}

/* The same numbers in each run (splitmix64). */
static uint64_t mix(uint64_t seed)
{
	seed += UINT64_C(0x9e3779b97f4a7c15);
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	return seed ^ seed >> 31;
}

/* Whether of the groups 2 × pair and 2 × pair + 1 the second is kept. Not by the bits that
 * choose within a group. */
static bool is_second_kept(const Stream *self, uint64_t pair)
{
	return mix(pair ^ self->interval << 32) >> 63 != 0;
}

/* Within a group, which are those from group × interval on. */
static uint64_t choose_in(const Stream *self, uint64_t group)
{
	return group * self->interval + mix(group ^ self->interval << 32) % self->interval;
}

/* The access of one of two successive groups stays, as that of a group twice as long. The access of
 * the last group is still to come: in an odd number of rows its pair is the last row, else it is
 * the first of the next pair. */
static void halve(Stream *self)
{
	guint n = self->rows->len / 2;
	bool is_odd = self->rows->len % 2 != 0, is_second = is_second_kept(self, n);

	for (guint i = 0; i < n; i++) {
		guint kept = 2 * i + is_second_kept(self, i);
		g_array_index(self->rows, LodeTracedAccess, i) = g_array_index(
			self->rows, LodeTracedAccess, kept);
	}
	if (is_odd && !is_second) {
		g_array_index(self->rows, LodeTracedAccess, n) = g_array_index(
			self->rows, LodeTracedAccess, 2 * n);
		n++;
	} else if (!is_odd && is_second) {
		self->next = choose_in(self, 2 * (uint64_t)n + 1);
	}
	g_array_set_size(self->rows, n);
	self->interval *= 2;
	if (is_odd && !is_second)
		self->next = choose_in(self, n);
}

static Stream *longest(const LodeTracedMemory *self)
{
	Stream *found = NULL;

	for (uint32_t i = 0; i < self->n_streams; i++) {
		Stream *it = &self->streams[i];
		if (it->counts == NULL && (found == NULL || it->rows->len > found->rows->len))
			found = it;
	}
	return found;
}

static void make_room(LodeTracedMemory *self)
{
	Stream *stream = longest(self);

	self->n_rows -= stream->rows->len;
	halve(stream);
	self->n_rows += stream->rows->len;
}

void lode_traced_memory_set_share(LodeTracedMemory *self, double share)
{
	self->room = (guint)CLAMP(
		share * LODE_TRACED_MEMORY_ROWS, SMALLEST_ROOM, LODE_TRACED_MEMORY_ROWS);
	while (self->n_rows >= self->room)
		make_room(self);
}

uint64_t lode_traced_memory_n_rows(const LodeTracedMemory *self)
{
	return self->n_rows;
}

uint64_t lode_traced_memory_distance(const LodeTracedMemory *self, uint32_t stream)
{
	return self->streams[stream].next - self->streams[stream].seen;
}

void lode_traced_memory_pass(LodeTracedMemory *self, uint32_t stream, uint64_t n)
{
	self->streams[stream].seen += n;
}

void lode_traced_memory_keep(
	LodeTracedMemory *self, uint32_t stream, const LodeTracedAccess *access)
{
	Stream *it = &self->streams[stream];

	g_array_append_vals(it->rows, access, 1);
	it->seen++;
	it->next = choose_in(it, it->rows->len);
	if (++self->n_rows >= self->room)
		make_room(self);
}

void lode_traced_memory_set_counted(LodeTracedMemory *self, uint32_t stream)
{
	self->streams[stream].counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	lode_id_cache_init(&self->streams[stream].known);
}

void lode_traced_memory_count(
	LodeTracedMemory *self, uint32_t stream, const LodeTracedAccess *access)
{
	Stream *it = &self->streams[stream];
	const LodeIdKey key = {{access->address, (uint64_t)access->instruction << 32 | access->size,
		(uint64_t)access->thread << 16 | (uint64_t)access->kind << 8 | access->ordinal}};
	const uint64_t one = 1;
	bool is_new;

	it->seen++;
	LodeIdSlot *slot = lode_id_cache_find(&it->known, &key, &is_new);
	if (is_new)
		slot->id = it->rows->len;
	if (slot->id >= it->rows->len && it->rows->len == self->room) {
		slot->id = UINT32_MAX;
		it->n_left_out++;
	} else if (is_new) {
		g_array_append_vals(it->rows, access, 1);
		g_array_append_val(it->counts, one);
	} else {
		g_array_index(it->counts, uint64_t, slot->id)++;
	}
	it->last_row = slot->id;
}

void lode_traced_memory_count_store(
	LodeTracedMemory *self, uint32_t stream, const LodeTracedStore *store)
{
	Stream *it = &self->streams[stream];
	const LodeIdKey key = {{(uint64_t)it->last_row << 32 | store->instruction, store->address,
		(uint64_t)store->thread << 16 | store->size}};
	const CountedStore added = {*store, it->last_row, 0};
	bool is_new;

	if (it->stores == NULL) {
		it->stores = g_array_new(FALSE, FALSE, sizeof(CountedStore));
		lode_id_cache_init(&it->known_stores);
	}
	if (it->last_row == UINT32_MAX)
		return;
	LodeIdSlot *slot = lode_id_cache_find(&it->known_stores, &key, &is_new);
	if (is_new)
		slot->id = it->stores->len < LODE_TRACED_MEMORY_ROWS ? it->stores->len : UINT32_MAX;
	if (is_new && slot->id != UINT32_MAX)
		g_array_append_val(it->stores, added);
	if (slot->id != UINT32_MAX)
		g_array_index(it->stores, CountedStore, slot->id).n++;
}

uint64_t lode_traced_memory_left_out(const LodeTracedMemory *self, uint32_t stream)
{
	return self->streams[stream].n_left_out;
}

uint64_t lode_traced_memory_interval(const LodeTracedMemory *self, uint32_t stream)
{
	return self->streams[stream].interval;
}

uint64_t lode_traced_memory_seen(const LodeTracedMemory *self, uint32_t stream)
{
	return self->streams[stream].seen;
}

const GArray *lode_traced_memory_rows(const LodeTracedMemory *self, uint32_t stream)
{
	return self->streams[stream].rows;
}

/* The data of each thread and instruction, found once. */
typedef struct {
	const LodeTracedMemory *memory;
	const LodeTracedMemoryContext *context;
	LodeMemoryReading *reading;
	uint32_t *events; /* of each stream */
	GArray *threads;  /* uint32_t: the reading's number of each; LODE_NONE */
} Filling;

/* If the system's thread id is unknown, one is made of its number. */
static uint32_t tid_of(const Filling *self, uint16_t thread)
{
	const GArray *threads = self->context->description->threads;
	uint32_t tid = thread < threads->len ? g_array_index(threads, LodeTraceThread, thread).tid
	                                     : 0;

	return tid != 0 ? tid : self->context->pid + thread;
}

static void note_mappings(const Filling *self)
{
	const GArray *mappings = self->context->description->mappings;

	for (guint i = 0; i < mappings->len; i++) {
		const LodeTraceMapping *mapping = &g_array_index(mappings, LodeTraceMapping, i);
		lode_places_note_traced(self->reading->options.places, self->context->pid, mapping,
			self->context->first_time_ns + mapping->first_reference);
		self->reading->has_fixed_addresses |= lode_memory_reading_is_fixed(
			mapping->start, mapping->end);
	}
}

/* "gzip" of "/usr/bin/gzip -k x"; the caller frees it. */
static char *program_name(const LodeTraceDescription *description)
{
	g_autofree char *file = description->command != NULL
	                                ? g_strndup(description->command,
						  strcspn(description->command, " "))
	                                : g_strdup("");

	return *file != '\0' ? g_path_get_basename(file) : NULL;
}

static void note_threads(const Filling *self)
{
	const LodeTracedMemoryContext *context = self->context;
	const GArray *threads = context->description->threads;
	g_autofree char *program = context->is_one_of_many ? program_name(context->description)
	                                                   : NULL;

	for (guint i = 0; i < threads->len; i++) {
		const char *own = g_array_index(threads, LodeTraceThread, i).name;
		const char *name = own != NULL ? own : program;
		LodePerfRecord record = {.kind = name != NULL ? LODE_PERF_COMMAND : LODE_PERF_FORK,
			.pid = context->pid,
			.tid = tid_of(self, (uint16_t)i),
			.parent_pid = context->pid,
			.parent_tid = context->pid,
			.text = name};
		lode_memory_reading_note(self->reading, &record, context->first_time_ns);
		/* The process may become a different program, whose threads have the same numbers.
		 */
		record.kind = LODE_PERF_EXIT;
		if (context->is_one_of_many)
			lode_memory_reading_note(self->reading, &record, context->end_time_ns);
	}
}

static uint32_t find_thread(Filling *self, const LodeTracedAccess *access)
{
	const uint32_t unknown = LODE_NONE;

	while (self->threads->len <= access->thread)
		g_array_append_val(self->threads, unknown);
	uint32_t *thread = &g_array_index(self->threads, uint32_t, access->thread);
	if (*thread == LODE_NONE)
		*thread = lode_threads_find(&self->reading->threads, self->context->pid,
			tid_of(self, access->thread),
			self->context->first_time_ns + access->reference + 1);
	return *thread;
}

static uint32_t find_image(const Filling *self, uint32_t object)
{
	return g_array_index(self->context->recording->objects, LodeRecordedObject, object).image;
}

static uint8_t access_of(LodeReferenceKind kind)
{
	return kind == LODE_REFERENCE_LOAD    ? LODE_ACCESS_LOAD
	       : kind == LODE_REFERENCE_STORE ? LODE_ACCESS_STORE
	                                      : LODE_ACCESS_LOAD | LODE_ACCESS_STORE;
}

/* The instruction's bytes, or NULL. */
static const uint8_t *code_of(Filling *self, const LodeReadAccess *row, size_t *out_size)
{
	if (row->image == LODE_NONE)
		return NULL;
	const LodeCodeImage *image = lode_code_images_at(
		lode_places_images(self->reading->options.places), row->image);
	return image->binary != NULL
	               ? lode_binary_image_bytes(image->binary, row->image_access_pc, out_size)
	               : NULL;
}

/* The operand of an access of the trace: among operands of the same kind of access, in their order.
 * An access wider than a reference may be comes in pieces, of which the last operand has the rest.
 */
static void find_operand(Filling *self, const LodeTracedAccess *access, LodeReadAccess *row)
{
	LodeDataOperand operands[LODE_MAX_DATA_OPERANDS];
	uint8_t wanted = access_of(access->kind);
	size_t size;
	unsigned ordinal = access->ordinal;
	const uint8_t *code = code_of(self, row, &size);
	unsigned n = code != NULL ? lode_data_access_operands(code, size, operands) : 0;

	row->has_no_operand = true;
	for (unsigned i = 0; i < n; i++) {
		if ((operands[i].access & wanted) != wanted)
			continue;
		row->operand = operands[i].operand;
		row->has_no_operand = false;
		if (ordinal-- == 0)
			break;
	}
	row->is_push = code != NULL && row->has_no_operand && wanted == LODE_ACCESS_STORE;
}

static void place_row(Filling *self, uint32_t number, LodeReadAccess *row)
{
	if (number == LODE_NONE)
		return;
	const LodeTracedInstruction *instruction = lode_traced_rows_instruction(
		self->context->rows, number);
	row->sample.pc = row->sample.access_pc = instruction->run_time_address;
	row->image = find_image(self, instruction->object);
	row->image_pc = row->image_access_pc = instruction->address;
}

/* Adds the store of the row that was added last. */
static void add_store(Filling *self, const LodeReadAccess *missed, const CountedStore *counted)
{
	const LodeTracedAccess access = {
		.reference = missed->sample.time_ns - self->context->first_time_ns - 1,
		.thread = counted->store.thread};
	LodeReadLineStore store = {
		.access =
			{
				.sample = {.thread = find_thread(self, &access)},
				.image = LODE_NONE,
			},
		.address = counted->store.address,
		.size = counted->store.size,
		.n = counted->n,
	};

	place_row(self, counted->store.instruction, &store.access);
	if (self->reading->is_full || self->reading->accesses->len == 0)
		return;
	store.row = self->reading->accesses->len - 1;
	g_array_append_val(self->reading->line_stores, store);
}

LODE_ORDER(compare_stores, CountedStore, LODE_ASCENDING(row))

static void add_stores(Filling *self, const LodeReadAccess *missed, const Stream *stream, guint row)
{
	const GArray *stores = stream->stores;
	guint i = LODE_PARTITION_POINT(
		stores->len, j, g_array_index(stores, CountedStore, j).row < row);

	for (; i < stores->len && g_array_index(stores, CountedStore, i).row == row; i++)
		add_store(self, missed, &g_array_index(stores, CountedStore, i));
}

static void add_row(Filling *self, uint32_t stream, guint number)
{
	const Stream *source = &self->memory->streams[stream];
	const LodeTracedAccess *access = &g_array_index(source->rows, LodeTracedAccess, number);
	uint64_t first_ns = self->context->first_time_ns;
	LodeReadAccess row = {
		.sample =
			{
				.weight = source->counts != NULL
	                                          ? (double)g_array_index(
							    source->counts, uint64_t, number)
	                                          : (double)source->seen / source->rows->len,
				.time_ns = first_ns + access->reference + 1,
				.address = access->address,
				.thread = find_thread(self, access),
				.event = self->events[stream],
				.instruction = LODE_NONE,
				.access_instruction = LODE_NONE,
				.access_function = LODE_NONE,
				.access_location = LODE_NONE,
				.object = LODE_NONE,
				.allocation = LODE_NONE,
				.cpu = UINT32_MAX,
				.node = UINT32_MAX,
				.size = access->size,
				.rule = LODE_RULE_TRACED,
				.access = access_of(access->kind),
			},
		.image = LODE_NONE,
	};

	place_row(self, access->instruction, &row);
	find_operand(self, access, &row);
	lode_memory_reading_add_traced(self->reading, self->context->pid, &row);
	if (source->stores != NULL)
		add_stores(self, &row, source, number);
}

/* The stream whose next row comes first in the trace; n_streams: there is none. */
static uint32_t first_stream(const Filling *self, const guint *next)
{
	const LodeTracedMemory *memory = self->memory;
	uint32_t first = memory->n_streams;
	uint64_t reference = UINT64_MAX;

	for (uint32_t i = 0; i < memory->n_streams; i++) {
		const GArray *rows = memory->streams[i].rows;
		if (next[i] == rows->len)
			continue;
		uint64_t own = g_array_index(rows, LodeTracedAccess, next[i]).reference;
		if (first < memory->n_streams && own >= reference)
			continue;
		first = i;
		reference = own;
	}
	return first;
}

static void add_rows(Filling *self)
{
	g_autofree guint *next = g_new0(guint, MAX(self->memory->n_streams, 1));
	uint32_t stream;

	for (stream = 0; stream < self->memory->n_streams; stream++)
		if (self->memory->streams[stream].stores != NULL)
			g_array_sort(self->memory->streams[stream].stores, compare_stores);

	while ((stream = first_stream(self, next)) < self->memory->n_streams)
		add_row(self, stream, next[stream]++);
}

void lode_traced_memory_finish(const LodeTracedMemory *self, const LodeTracedMemoryContext *context,
	LodeMemoryReading *reading)
{
	Filling filling = {.memory = self, .context = context, .reading = reading};
	const char *tool = context->description->tool;

	lode_memory_reading_select(reading, context->input);
	/* The process may have been, and may become, a different program. */
	if (context->is_one_of_many)
		lode_places_limit(reading->options.places, context->pid, context->first_time_ns,
			context->end_time_ns);
	note_mappings(&filling);
	note_threads(&filling);
	/* It lays out the program's memory by itself. */
	if (tool != NULL && g_str_has_prefix(tool, "qemu"))
		reading->has_fixed_addresses = true;
	lode_places_freeze(reading->options.places, NULL, NULL, NULL);
	lode_memory_reading_freeze(reading, NULL);
	filling.events = g_new(uint32_t, MAX(self->n_streams, 1));
	filling.threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < self->n_streams; i++)
		filling.events[i] = lode_memory_reading_event(reading, context->stream_names[i]);
	add_rows(&filling);
	g_free(filling.events);
	g_array_unref(filling.threads);
}

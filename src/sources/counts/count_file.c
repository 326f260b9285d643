/* SPDX-License-Identifier: MIT */
#include "sources/counts/count_file.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/sort_order.h"
#include "base/byte_cursor.h"
#include "base/error.h"
#include "base/files/input_file.h"

#include <inttypes.h>
#include <string.h>

enum {
	ALIGNMENT = 8,
	MAX_EXITS = 1 << 25, /* different ones */
	EXIT_SLOTS = 2,
};

typedef struct {
	LodeCountFile *result;
	LodeInputFile *file;
	CountHeader *header;
	uint32_t n_segments;
	uint64_t n_log_bytes;
	LodeIdCache exit_ids, interruption_ids;
	LodeIdCache fault_ids; /* source, handler → index in its faults */
} Reading;

static uint64_t segment_offset(uint32_t segment)
{
	return COUNT_HEADER_BYTES + (uint64_t)segment * COUNT_SEGMENT_BYTES;
}

static bool corrupt(const Reading *self, uint64_t offset, const char *what, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: offset %" PRIu64 ": %s",
		self->file->path, offset, what);
	return false;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

bool lode_count_file_is_format(const char *data, size_t size)
{
	uint64_t magic;

	if (size < sizeof(magic))
		return false;
	memcpy(&magic, data, sizeof(magic));
	return magic == COUNT_FILE_MAGIC;
}

/* ---- header ---- */

static bool read_names(Reading *self, GError **error)
{
	CountHeader *header = self->header;

	if (header->n_events > COUNT_FILE_MAX_EVENTS)
		return corrupt(self, offsetof(CountHeader, n_events), "too many events", error);
	for (uint32_t i = 0; i < header->n_events; i++) {
		char *name = header->event_names[i];
		name[COUNT_EVENT_NAME_BYTES - 1] = '\0';
		for (const char *at = name; *at != '\0'; at++)
			if (!g_ascii_isgraph(*at) || strchr(",\"'", *at) != NULL)
				return corrupt(self, offsetof(CountHeader, event_names),
					"the name of an event is not valid", error);
		for (uint32_t j = 0; j <= i; j++)
			if (*name == '\0' || strcmp(name, "Ir") == 0 ||
				(j < i && strcmp(name, header->event_names[j]) == 0))
				return corrupt(self, offsetof(CountHeader, event_names),
					"a name of an event is missing or there twice", error);
		g_ptr_array_add(self->result->event_names,
			g_string_chunk_insert(self->result->strings, name));
	}
	return true;
}

/* Segments that two entries would claim the same part of an array for. */
static bool check_segments(const Reading *self, GError **error)
{
	g_autoptr(GHashTable)
		known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (uint32_t i = 0; i < self->n_segments; i++) {
		const CountSegment *segment = &self->header->segments[i];
		uint64_t offset = offsetof(CountHeader, segments) + i * sizeof(*segment);
		if (segment->kind == COUNT_SEGMENT_NONE)
			continue;
		if (segment->kind >= COUNT_N_SEGMENT_KINDS ||
			segment->owner >= COUNT_FILE_MAX_OWNERS ||
			segment->sequence >= COUNT_FILE_MAX_SEGMENTS ||
			(segment->kind == COUNT_SEGMENT_LOG && segment->owner != 0))
			return corrupt(self, offset, "not a segment", error);
		uint64_t key = ((uint64_t)segment->kind * COUNT_FILE_MAX_OWNERS + segment->owner) *
		                       COUNT_FILE_MAX_SEGMENTS +
		               segment->sequence;
		if (!g_hash_table_add(known, g_memdup2(&key, sizeof(key))))
			return corrupt(self, offset, "a segment is there twice", error);
	}
	return true;
}

static bool read_header(Reading *self, GError **error)
{
	LodeCountFile *result = self->result;
	CountHeader *header = self->header;

	if (self->file->size < COUNT_HEADER_BYTES)
		return corrupt(self, self->file->size, "the header is cut short", error);
	if (!lode_input_file_read(self->file, 0, header, sizeof(*header), error))
		return false;
	if (header->magic != COUNT_FILE_MAGIC)
		return corrupt(self, 0, "not a counts file", error);
	uint64_t n_there = (self->file->size - COUNT_HEADER_BYTES) / COUNT_SEGMENT_BYTES;
	self->n_segments = MIN(header->n_segments, COUNT_FILE_MAX_SEGMENTS);
	if (self->n_segments > n_there || self->n_segments != header->n_segments)
		return corrupt(self, offsetof(CountHeader, n_segments),
			"there are fewer segments than the header says", error);
	self->n_log_bytes = header->log_bytes;
	result->pid = header->pid;
	result->parent_pid = header->parent_pid;
	result->start_ns = header->start_ns;
	result->is_forked = header->is_forked != 0;
	result->n_lost_threads = header->n_lost_threads;
	result->n_lost_blocks = header->n_lost_blocks;
	result->n_lost_records = header->n_lost_records;
	return read_names(self, error) && check_segments(self, error);
}

/* ---- log ---- */

static bool load_log(Reading *self, GError **error)
{
	uint64_t n = self->n_log_bytes, n_found = 0;

	if (n > (uint64_t)self->n_segments * COUNT_SEGMENT_BYTES || n % ALIGNMENT != 0)
		return corrupt(self, offsetof(CountHeader, log_bytes), "no such log", error);
	self->result->log = g_try_malloc(MAX(n, 1));
	if (self->result->log == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: not enough memory for a log of %" PRIu64 " bytes", self->file->path,
			n);
		return false;
	}
	for (uint32_t i = 0; i < self->n_segments; i++) {
		const CountSegment *segment = &self->header->segments[i];
		uint64_t at = (uint64_t)segment->sequence * COUNT_SEGMENT_BYTES;
		if (segment->kind != COUNT_SEGMENT_LOG || at >= n)
			continue;
		if (!lode_input_file_read(self->file, segment_offset(i), self->result->log + at,
			    MIN(n - at, COUNT_SEGMENT_BYTES), error))
			return false;
		n_found += MIN(n - at, COUNT_SEGMENT_BYTES);
	}
	return n_found == n || corrupt(self, offsetof(CountHeader, log_bytes),
				       "a part of the log is missing", error);
}

/* Where a place in the log lies in the file, for a message. */
static uint64_t file_offset(const Reading *self, uint64_t at)
{
	for (uint32_t i = 0; i < self->n_segments; i++) {
		const CountSegment *segment = &self->header->segments[i];
		if (segment->kind == COUNT_SEGMENT_LOG &&
			segment->sequence == at / COUNT_SEGMENT_BYTES)
			return segment_offset(i) + at % COUNT_SEGMENT_BYTES;
	}
	return 0;
}

static bool add_block(LodeCountFile *result, LodeByteCursor *cursor, uint32_t time)
{
	LodeCountBlock block = {
		.address = lode_byte_cursor_u64(cursor),
		.time_ns = lode_byte_cursor_u64(cursor),
		.first_instruction = lode_byte_cursor_u32(cursor),
		.n_instructions = lode_byte_cursor_u16(cursor),
		.n_bytes = lode_byte_cursor_u16(cursor),
		.time = time,
	};
	unsigned n_bytes = 0;

	block.sizes = lode_byte_cursor_bytes(cursor, block.n_instructions);
	block.bytes = lode_byte_cursor_bytes(cursor, block.n_bytes);
	if (cursor->is_overrun || block.n_instructions == 0 ||
		block.n_instructions > COUNT_BLOCK_MAX_INSTRUCTIONS ||
		block.first_instruction != result->n_instructions ||
		result->blocks->len == COUNT_FILE_MAX_BLOCKS ||
		block.address > UINT64_MAX - block.n_bytes)
		return false;
	for (unsigned i = 0; i < block.n_instructions; i++)
		n_bytes += block.sizes[i];
	if (n_bytes != block.n_bytes || n_bytes == 0)
		return false;
	result->n_instructions += block.n_instructions;
	g_array_append_val(result->blocks, block);
	return true;
}

static bool add_fixed_events(LodeCountFile *result, LodeByteCursor *cursor)
{
	LodeCountBlock *block = &g_array_index(
		result->blocks, LodeCountBlock, result->blocks->len - 1);
	size_t n_bytes = lode_byte_cursor_left(cursor);
	CountFixedEvent event;

	if (n_bytes % sizeof(event) != 0)
		return false;
	block->n_fixed = (uint32_t)(n_bytes / sizeof(event));
	block->fixed = lode_byte_cursor_bytes(cursor, n_bytes);
	for (uint32_t i = 0; i < block->n_fixed; i++) {
		memcpy(&event, block->fixed + i * sizeof(event), sizeof(event));
		if (event.instruction >= block->n_instructions ||
			event.event >= result->event_names->len)
			return false;
	}
	return true;
}

static bool add_mapping(LodeCountFile *result, LodeByteCursor *cursor, uint32_t time)
{
	LodeCountMapping added = {.time = time};
	const uint8_t *bytes = lode_byte_cursor_bytes(cursor, sizeof(added.mapping));

	added.path = lode_byte_cursor_text(cursor);
	if (bytes == NULL || added.path == NULL)
		return false;
	memcpy(&added.mapping, bytes, sizeof(added.mapping));
	g_array_append_val(result->mappings, added);
	return true;
}

static bool add_arguments(LodeCountFile *result, LodeByteCursor *cursor)
{
	g_ptr_array_set_size(result->arguments, 0);
	while (lode_byte_cursor_left(cursor) > 1) {
		const char *text = lode_byte_cursor_text(cursor);
		if (text == NULL)
			return false;
		g_ptr_array_add(result->arguments, (char *)text);
	}
	return true;
}

/* Records of an unknown kind are skipped. */
static bool add_record(LodeCountFile *result, uint32_t kind, LodeByteCursor *cursor, uint32_t time)
{
	switch (kind) {
	case 0:
		return false;
	case COUNT_RECORD_PROGRAM:
		return add_arguments(result, cursor);
	case COUNT_RECORD_MAPPING:
		return add_mapping(result, cursor, time);
	case COUNT_RECORD_BLOCK:
		return add_block(result, cursor, time);
	case COUNT_RECORD_EXEC:
		result->executed = lode_byte_cursor_text(cursor);
		return result->executed != NULL;
	case COUNT_RECORD_NO_EXEC:
		result->executed = NULL;
		return true;
	case COUNT_RECORD_FORK:
		result->n_forks++;
		return true;
	case COUNT_RECORD_EVENTS:
		return add_fixed_events(result, cursor);
	case COUNT_RECORD_SIMULATED:
		result->caches = lode_byte_cursor_text(cursor);
		result->branches = result->caches != NULL ? lode_byte_cursor_text(cursor) : NULL;
		return result->branches != NULL;
	default:
		return true;
	}
}

static bool read_log(Reading *self, GError **error)
{
	LodeByteCursor cursor;
	const uint8_t *start = (const uint8_t *)self->result->log;

	lode_byte_cursor_init(&cursor, start, self->n_log_bytes, false);
	for (uint32_t time = 0; lode_byte_cursor_left(&cursor) > 0; time++) {
		uint64_t at = (uint64_t)(cursor.at - start);
		uint32_t kind = lode_byte_cursor_u32(&cursor);
		uint32_t n_bytes = lode_byte_cursor_u32(&cursor);
		LodeByteCursor record;
		const uint8_t *bytes = lode_byte_cursor_bytes(&cursor, n_bytes);
		if (bytes == NULL)
			return corrupt(self, file_offset(self, at), "a record is cut short", error);
		lode_byte_cursor_init(&record, bytes, n_bytes, false);
		if (!add_record(self->result, kind, &record, time))
			return corrupt(self, file_offset(self, at), "not a record", error);
		lode_byte_cursor_skip(&cursor, -(uint64_t)n_bytes % ALIGNMENT);
	}
	return !cursor.is_overrun ||
	       corrupt(self, offsetof(CountHeader, log_bytes), "a record is cut short", error);
}

/* ---- counts ---- */

static bool is_block(const Reading *self, uint32_t block)
{
	return block < self->result->blocks->len;
}

static void add_exit(Reading *self, uint32_t source, uint32_t target, uint64_t count)
{
	GArray *exits = self->result->exits;
	const LodeIdKey key = {{(uint64_t)source << 32 | target, 0, 0}};
	bool is_new;

	if (count == 0)
		return;
	if (target == 0 || !is_block(self, source) || !is_block(self, target) ||
		exits->len == MAX_EXITS) {
		self->result->n_late = sum_of(self->result->n_late, count);
		return;
	}
	LodeIdSlot *slot = lode_id_cache_find(&self->exit_ids, &key, &is_new);
	if (is_new) {
		const LodeCountExit added = {source, target, 0};
		slot->id = exits->len;
		g_array_append_val(exits, added);
	}
	LodeCountExit *exit = &g_array_index(exits, LodeCountExit, slot->id);
	LodeCountBlock *block = &g_array_index(self->result->blocks, LodeCountBlock, target);
	exit->count = sum_of(exit->count, count);
	block->count = sum_of(block->count, count);
}

/* They hint at where blocks end, so that those of unknown blocks are nothing lost. */
static void add_interruption(Reading *self, const CountTarget *target)
{
	GArray *interruptions = self->result->interruptions;
	bool is_fault = target->kind == COUNT_TARGET_FAULTED, is_new;
	const LodeIdKey key = {
		{(uint64_t)target->source << 32 | target->target, target->handler, is_fault}};

	if (target->count == 0 || !is_block(self, target->source) ||
		!is_block(self, target->target) || !is_block(self, target->handler) ||
		interruptions->len == MAX_EXITS)
		return;
	LodeIdSlot *slot = lode_id_cache_find(&self->interruption_ids, &key, &is_new);
	if (is_new) {
		const LodeCountInterruption added = {
			target->source, target->handler, target->target, is_fault, 0};
		slot->id = interruptions->len;
		g_array_append_val(interruptions, added);
	}
	LodeCountInterruption *found = &g_array_index(
		interruptions, LodeCountInterruption, slot->id);
	found->count = sum_of(found->count, target->count);
}

static void add_fault(Reading *self, const CountTarget *target)
{
	GArray *faults = self->result->faults;
	const LodeIdKey key = {{(uint64_t)target->source << 32 | target->handler, 0, 0}};
	bool is_new;

	if (target->count == 0 || !is_block(self, target->source) ||
		!is_block(self, target->handler) || faults->len == MAX_EXITS)
		return;
	LodeIdSlot *slot = lode_id_cache_find(&self->fault_ids, &key, &is_new);
	if (is_new) {
		const LodeCountFault added = {target->source, target->handler, 0};
		slot->id = faults->len;
		g_array_append_val(faults, added);
	}
	LodeCountFault *found = &g_array_index(faults, LodeCountFault, slot->id);
	found->count = sum_of(found->count, target->count);
}

static void add_exits(Reading *self, const uint8_t *bytes, uint64_t first)
{
	for (uint32_t i = 0; i < COUNT_SEGMENT_BYTES / sizeof(CountExits); i++) {
		CountExits exits;
		memcpy(&exits, bytes + i * sizeof(exits), sizeof(exits));
		for (int j = 0; j < EXIT_SLOTS; j++)
			add_exit(self, (uint32_t)MIN(first + i, UINT32_MAX), exits.targets[j],
				exits.counts[j]);
	}
}

/* Targets may begin in one segment and end in the next one: all of an owner at once. */
static bool add_targets(Reading *self, uint32_t owner, GError **error)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	uint8_t buffer[4096];

	for (uint32_t i = 0; i < self->n_segments; i++) {
		const CountSegment *segment = &self->header->segments[i];
		if (segment->kind != COUNT_SEGMENT_TARGETS || segment->owner != owner)
			continue;
		/* In their order, as one owner's are made. */
		if (segment->sequence != bytes->len / COUNT_SEGMENT_BYTES)
			return corrupt(self, offsetof(CountHeader, segments) + i * sizeof(*segment),
				"a segment of targets is missing", error);
		for (uint32_t at = 0; at < COUNT_SEGMENT_BYTES; at += sizeof(buffer)) {
			if (!lode_input_file_read(self->file, segment_offset(i) + at, buffer,
				    sizeof(buffer), error))
				return false;
			g_byte_array_append(bytes, buffer, sizeof(buffer));
		}
	}
	for (guint at = 0; at + sizeof(CountTarget) <= bytes->len; at += sizeof(CountTarget)) {
		CountTarget target;
		memcpy(&target, bytes->data + at, sizeof(target));
		if (target.kind == COUNT_TARGET_NONE)
			break;
		if (target.kind == COUNT_TARGET_EXIT)
			add_exit(self, target.source, target.target, target.count);
		else if (target.kind == COUNT_TARGET_FAULT)
			add_fault(self, &target);
		else
			add_interruption(self, &target);
	}
	return true;
}

static void add_events(Reading *self, const uint8_t *bytes, uint64_t first)
{
	uint64_t n = (uint64_t)self->result->n_instructions * self->result->event_names->len;

	for (uint64_t i = 0; i < COUNT_SEGMENT_BYTES / sizeof(uint64_t) && first + i < n; i++) {
		uint64_t value;
		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		self->result->events[first + i] = sum_of(self->result->events[first + i], value);
	}
}

static bool make_events(Reading *self, GError **error)
{
	uint64_t n = (uint64_t)self->result->n_instructions * self->result->event_names->len;

	if (n == 0)
		return true;
	self->result->events = g_try_new0(uint64_t, n);
	if (self->result->events != NULL)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"%s: not enough memory for the events of %u instructions", self->file->path,
		self->result->n_instructions);
	return false;
}

static bool read_counts(Reading *self, GError **error)
{
	g_autofree uint8_t *bytes = g_malloc(COUNT_SEGMENT_BYTES);
	g_autofree bool *has_targets = g_new0(bool, COUNT_FILE_MAX_OWNERS);

	if (!make_events(self, error))
		return false;
	for (uint32_t i = 0; i < self->n_segments; i++) {
		const CountSegment *segment = &self->header->segments[i];
		bool is_events = segment->kind == COUNT_SEGMENT_EVENTS;
		has_targets[segment->owner % COUNT_FILE_MAX_OWNERS] |= segment->kind ==
		                                                       COUNT_SEGMENT_TARGETS;
		if (segment->kind != COUNT_SEGMENT_EXITS && !is_events)
			continue;
		if (!lode_input_file_read(
			    self->file, segment_offset(i), bytes, COUNT_SEGMENT_BYTES, error))
			return false;
		uint64_t size = is_events ? sizeof(uint64_t) : sizeof(CountExits);
		uint64_t first = (uint64_t)segment->sequence * COUNT_SEGMENT_BYTES / size;
		if (is_events)
			add_events(self, bytes, first);
		else
			add_exits(self, bytes, first);
	}
	for (uint32_t i = 0; i < COUNT_FILE_MAX_OWNERS; i++)
		if (has_targets[i] && !add_targets(self, i, error))
			return false;
	return true;
}

LODE_ORDER(compare_exits, LodeCountExit, LODE_ASCENDING(source), LODE_ASCENDING(target))

LODE_ORDER(compare_interruptions, LodeCountInterruption, LODE_ASCENDING(source),
	LODE_ASCENDING(handler), LODE_ASCENDING(target), LODE_ASCENDING(is_fault))

LODE_ORDER(compare_faults, LodeCountFault, LODE_ASCENDING(source), LODE_ASCENDING(handler))

static LodeCountFile *count_file_new(void)
{
	LodeCountFile *self = g_new0(LodeCountFile, 1);
	const LodeCountBlock outside = {0};

	self->arguments = g_ptr_array_new();
	self->mappings = g_array_new(FALSE, FALSE, sizeof(LodeCountMapping));
	self->blocks = g_array_new(FALSE, FALSE, sizeof(LodeCountBlock));
	self->exits = g_array_new(FALSE, FALSE, sizeof(LodeCountExit));
	self->interruptions = g_array_new(FALSE, FALSE, sizeof(LodeCountInterruption));
	self->faults = g_array_new(FALSE, FALSE, sizeof(LodeCountFault));
	self->event_names = g_ptr_array_new();
	self->strings = g_string_chunk_new(256);
	g_array_append_val(self->blocks, outside);
	return self;
}

void lode_count_file_free(LodeCountFile *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->arguments);
	g_array_unref(self->mappings);
	g_array_unref(self->blocks);
	g_array_unref(self->exits);
	g_array_unref(self->interruptions);
	g_array_unref(self->faults);
	g_ptr_array_unref(self->event_names);
	g_string_chunk_free(self->strings);
	g_free(self->events);
	g_free(self->log);
	g_free(self);
}

LodeCountFile *lode_count_file_read(const char *path, GError **error)
{
	g_autoptr(LodeInputFile) file = lode_input_file_open_unpacked(path, error);
	g_autofree CountHeader *header = g_new0(CountHeader, 1);
	g_autoptr(LodeCountFile) result = count_file_new();
	Reading reading = {.result = result, .file = file, .header = header};

	if (file == NULL)
		return NULL;
	lode_id_cache_init(&reading.exit_ids);
	lode_id_cache_init(&reading.interruption_ids);
	lode_id_cache_init(&reading.fault_ids);
	bool is_read = read_header(&reading, error) && load_log(&reading, error) &&
	               read_log(&reading, error) && read_counts(&reading, error);
	lode_id_cache_clear(&reading.exit_ids);
	lode_id_cache_clear(&reading.interruption_ids);
	lode_id_cache_clear(&reading.fault_ids);
	if (!is_read)
		return NULL;
	g_array_sort(result->exits, compare_exits);
	g_array_sort(result->interruptions, compare_interruptions);
	g_array_sort(result->faults, compare_faults);
	return g_steal_pointer(&result);
}

uint64_t lode_count_file_progress(const char *path)
{
	g_autoptr(LodeCountFile) file = lode_count_file_read(path, NULL);
	uint64_t n = 0;

	for (guint i = 1; file != NULL && i < file->blocks->len; i++) {
		const LodeCountBlock *block = &g_array_index(file->blocks, LodeCountBlock, i);
		n += block->count * block->n_instructions;
	}
	return n;
}

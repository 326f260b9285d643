/* SPDX-License-Identifier: MIT */
/*
 * The file's bytes stay in memory, and runs are decoded at each look-up: a heap has millions of
 * objects, and samples lie in few of them.
 */
#include "sources/allocations/heap_log.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/byte_cursor.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "machine/memory_budget.h"
#include "sources/allocations/heap_log_format.h"

#include <string.h>

static const char magic[] = "lodeheap";

enum {
	VERSION = 1,
	HEAP_NAME = 16,
	HEAD_BYTES = 8,
	UNIT = 8,
	MAX_NAME = 1 << 12,
	MAX_STACK = 1 << 14
};
#define MAX_LOG_BYTES ((uint64_t)1 << 29)

typedef struct {
	uint64_t begin_ns, end_ns;
} Move;

typedef struct {
	uint64_t start, end;
} Range;

typedef struct {
	uint64_t time_ns;
	uint32_t first_block, n_blocks;
	uint32_t first_sample, n_samples;
} HeapWalk;

/* An object whose allocation was sampled. */
typedef struct {
	uint64_t address;
	uint32_t site;
} SampledObject;

typedef struct {
	uint64_t address, size; /* from its first object to the end of its last one */
	uint64_t first;         /* number that its first object keeps; 0: none */
	uint64_t runs;          /* their offset in the file */
	uint32_t runs_size;
} Block;

typedef struct {
	uint64_t name, size, count; /* of each of the objects */
} Run;

struct LodeHeapLog {
	uint8_t *bytes;
	uint64_t n_bytes;
	uint32_t pid;
	uint64_t begin_ns, end_ns; /* nothing is known after */
	char heap[HEAP_NAME + 1];
	bool is_cut;
	GArray *moves;   /* Move, by begin */
	GArray *walks;   /* HeapWalk, by time */
	GArray *blocks;  /* Block, those of a walk by address */
	GArray *ranges;  /* Range */
	GArray *samples; /* SampledObject, those of a walk by address */
	GHashTable *names;
	GHashTable *sites; /* number → LodeHeapSite */
};

bool lode_heap_log_is_format(const char *data, size_t size)
{
	return size >= strlen(magic) && memcmp(data, magic, strlen(magic)) == 0;
}

int lode_heap_log_compare(const LodeHeapLog *a, const LodeHeapLog *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

uint32_t lode_heap_log_pid(const LodeHeapLog *self)
{
	return self->pid;
}

uint64_t lode_heap_log_begin_ns(const LodeHeapLog *self)
{
	return self->begin_ns;
}

const char *lode_heap_log_name(const LodeHeapLog *self)
{
	return self->heap;
}

bool lode_heap_log_is_cut(const LodeHeapLog *self)
{
	return self->is_cut;
}

void lode_heap_log_free(LodeHeapLog *self)
{
	if (self == NULL)
		return;
	g_free(self->bytes);
	g_array_unref(self->moves);
	g_array_unref(self->walks);
	g_array_unref(self->blocks);
	g_array_unref(self->ranges);
	g_array_unref(self->samples);
	g_hash_table_unref(self->names);
	g_hash_table_unref(self->sites);
	g_free(self);
}

/* --- reading --- */

/* LEB128; too large a number is an overrun. */
static uint64_t read_number(LodeByteCursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		uint8_t byte = lode_byte_cursor_u8(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->is_overrun = true;
	return 0;
}

/* False at the end, or where there is no run. */
static bool next_run(LodeByteCursor *cursor, Run *out)
{
	if (lode_byte_cursor_left(cursor) == 0)
		return false;
	out->name = read_number(cursor);
	out->size = read_number(cursor);
	out->count = read_number(cursor);
	if (cursor->is_overrun || out->size == 0 || out->count == 0 ||
		out->size > (UINT64_MAX >> 8) / UNIT / out->count) {
		cursor->is_overrun = true;
		return false;
	}
	out->size *= UNIT;
	return true;
}

static LodeByteCursor runs_of(const LodeHeapLog *self, const Block *block)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(
		&cursor, self->bytes + block->runs, block->runs_size, G_BYTE_ORDER == G_BIG_ENDIAN);
	return cursor;
}

static bool read_block(LodeHeapLog *self, LodeByteCursor *record)
{
	Block block = {.address = lode_byte_cursor_u64(record)};
	Run run;

	block.first = lode_byte_cursor_u64(record);
	block.runs = (uint64_t)(record->at - self->bytes);
	block.runs_size = (uint32_t)lode_byte_cursor_left(record);
	LodeByteCursor runs = runs_of(self, &block);
	while (next_run(&runs, &run) && block.size <= UINT64_MAX >> 8)
		block.size += run.size * run.count;
	if (record->is_overrun || runs.is_overrun || self->walks->len == 0 ||
		block.size > UINT64_MAX >> 8 || block.address > UINT64_MAX - block.size)
		return false;
	g_array_append_val(self->blocks, block);
	g_array_index(self->walks, HeapWalk, self->walks->len - 1).n_blocks++;
	return true;
}

static void free_site(void *data)
{
	LodeHeapSite *self = data;

	g_free((char *)self->name);
	g_free((char *)self->stack);
	g_free(self);
}

/* Name and stack are texts with a NUL between them. */
static bool read_site(LodeHeapLog *self, LodeByteCursor *record)
{
	uint32_t id = lode_byte_cursor_u32(record);
	LodeHeapSite site = {.interval = lode_byte_cursor_u32(record)};
	const char *text = (const char *)record->at;
	size_t size = lode_byte_cursor_left(record), n = strnlen(text, size);

	if (record->is_overrun || site.interval == 0 || size == 0)
		return false;
	site.name = g_strndup(text, MIN(n, MAX_NAME));
	if (n + 1 < size)
		site.stack = g_strndup(text + n + 1, MIN(size - n - 1, MAX_STACK));
	g_hash_table_replace(self->sites, GUINT_TO_POINTER(id), g_memdup2(&site, sizeof(site)));
	return true;
}

static bool read_samples(LodeHeapLog *self, LodeByteCursor *record)
{
	SampledObject object = {0};

	if (self->walks->len == 0 ||
		g_array_index(self->walks, HeapWalk, self->walks->len - 1).n_samples > 0)
		return false;
	HeapWalk *walk = &g_array_index(self->walks, HeapWalk, self->walks->len - 1);
	while (lode_byte_cursor_left(record) > 0) {
		uint64_t step = read_number(record), site = read_number(record);
		if (record->is_overrun || step == 0 || site > UINT32_MAX ||
			step > (UINT64_MAX - object.address) / UNIT)
			return false;
		object.address += step * UNIT;
		object.site = (uint32_t)site;
		g_array_append_val(self->samples, object);
	}
	walk->n_samples = self->samples->len - walk->first_sample;
	return true;
}

static bool read_record(LodeHeapLog *self, uint32_t type, LodeByteCursor *record)
{
	HeapWalk walk = {.first_block = self->blocks->len, .first_sample = self->samples->len};
	Range range;
	Move move;
	uint32_t id;

	switch (type) {
	case LODE_HEAP_RECORD_NAME:
		id = lode_byte_cursor_u32(record);
		g_hash_table_replace(self->names, GUINT_TO_POINTER(id),
			g_strndup((const char *)record->at,
				MIN(lode_byte_cursor_left(record), MAX_NAME)));
		return !record->is_overrun;
	case LODE_HEAP_RECORD_MOVE:
		move.begin_ns = lode_byte_cursor_u64(record);
		move.end_ns = lode_byte_cursor_u64(record);
		g_array_append_val(self->moves, move);
		return !record->is_overrun && move.begin_ns <= move.end_ns;
	case LODE_HEAP_RECORD_WALK:
		walk.time_ns = lode_byte_cursor_u64(record);
		g_array_append_val(self->walks, walk);
		return !record->is_overrun;
	case LODE_HEAP_RECORD_BLOCK:
		return read_block(self, record);
	case LODE_HEAP_RECORD_RANGE:
		range.start = lode_byte_cursor_u64(record);
		range.end = lode_byte_cursor_u64(record);
		g_array_append_val(self->ranges, range);
		return !record->is_overrun;
	case LODE_HEAP_RECORD_SITE:
		return read_site(self, record);
	case LODE_HEAP_RECORD_SAMPLES:
		return read_samples(self, record);
	default:
		return false;
	}
}

static void read_header(LodeHeapLog *self, LodeByteCursor *file)
{
	self->pid = lode_byte_cursor_u32(file);
	self->begin_ns = lode_byte_cursor_u64(file);
	self->end_ns = lode_byte_cursor_u64(file);
	const uint8_t *heap = lode_byte_cursor_bytes(file, HEAP_NAME);
	if (heap != NULL)
		memcpy(self->heap, heap, HEAP_NAME);
	if (self->end_ns == 0)
		self->end_ns = UINT64_MAX;
	self->is_cut = file->is_overrun;
}

LODE_ORDER(compare_moves, Move, LODE_ASCENDING(begin_ns), LODE_ASCENDING(end_ns))
LODE_ORDER(compare_walks, HeapWalk, LODE_ASCENDING(time_ns), LODE_ASCENDING(first_block))
LODE_ORDER(compare_blocks, Block, LODE_ASCENDING(address), LODE_ASCENDING(runs))

static void sort(LodeHeapLog *self)
{
	g_array_sort(self->moves, compare_moves);
	g_array_sort(self->walks, compare_walks);
	for (guint i = 0; i < self->walks->len; i++) {
		const HeapWalk *walk = &g_array_index(self->walks, HeapWalk, i);
		if (walk->n_blocks > 1)
			qsort(&g_array_index(self->blocks, Block, walk->first_block),
				walk->n_blocks, sizeof(Block), compare_blocks);
	}
}

/* A record that is cut short ends the log: nothing is known after the last walk or move. */
static bool read_records(LodeHeapLog *self, LodeByteCursor *file, GError **error)
{
	uint64_t last_ns = self->begin_ns;

	while (lode_byte_cursor_left(file) > 0) {
		uint64_t offset = (uint64_t)(file->at - self->bytes);
		uint32_t type = lode_byte_cursor_u32(file), size = lode_byte_cursor_u32(file);
		const uint8_t *bytes = lode_byte_cursor_bytes(
			file, size < HEAD_BYTES ? 0 : size - HEAD_BYTES);
		LodeByteCursor record;

		if (file->is_overrun) {
			self->is_cut = true;
			self->end_ns = MIN(self->end_ns, last_ns);
			return true;
		}
		lode_byte_cursor_init(&record, bytes, (size_t)(file->at - bytes), file->is_swapped);
		if (size < HEAD_BYTES || !read_record(self, type, &record)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"at offset %" G_GUINT64_FORMAT ": not a record of a heap log",
				offset);
			return false;
		}
		if (type == LODE_HEAP_RECORD_MOVE)
			last_ns = g_array_index(self->moves, Move, self->moves->len - 1).end_ns;
		if (type == LODE_HEAP_RECORD_WALK)
			last_ns =
				g_array_index(self->walks, HeapWalk, self->walks->len - 1).time_ns;
	}
	return true;
}

static bool parse(LodeHeapLog *self, GError **error)
{
	LodeByteCursor file;

	lode_byte_cursor_init(&file, self->bytes, self->n_bytes, G_BYTE_ORDER == G_BIG_ENDIAN);
	const uint8_t *start = lode_byte_cursor_bytes(&file, strlen(magic));
	uint32_t version = lode_byte_cursor_u32(&file);
	if (start == NULL || !lode_heap_log_is_format((const char *)start, strlen(magic))) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT, "not a log of a heap");
		return false;
	}
	if (version != VERSION) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"is of version %u, this lode reads %d", version, VERSION);
		return false;
	}
	read_header(self, &file);
	if (!read_records(self, &file, error))
		return false;
	sort(self);
	return true;
}

/* A byte of a sampled object has 8 of its row, one of a block 2, one of a name 1 of its entry. */
static bool read_bytes(LodeHeapLog *self, const char *path, GError **error)
{
	enum { BYTES_FOR_BYTE = 10 };
	g_autoptr(LodeInputFile) file = lode_input_file_open(path, error);

	if (file == NULL)
		return false;
	if (file->size > MAX_LOG_BYTES ||
		file->size > lode_memory_budget_available() / BYTES_FOR_BYTE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: %" G_GUINT64_FORMAT
			" bytes: larger than any heap log, or than the memory allows",
			path, file->size);
		return false;
	}
	self->n_bytes = file->size;
	self->bytes = g_try_malloc(MAX(file->size, 1));
	if (self->bytes == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "%s: not enough memory", path);
		return false;
	}
	return lode_input_file_read(file, 0, self->bytes, file->size, error);
}

LodeHeapLog *lode_heap_log_read(const char *path, GError **error)
{
	g_autoptr(LodeHeapLog) self = g_new0(LodeHeapLog, 1);

	self->moves = g_array_new(FALSE, FALSE, sizeof(Move));
	self->walks = g_array_new(FALSE, FALSE, sizeof(HeapWalk));
	self->ranges = g_array_new(FALSE, FALSE, sizeof(Range));
	self->blocks = g_array_new(FALSE, FALSE, sizeof(Block));
	self->samples = g_array_new(FALSE, FALSE, sizeof(SampledObject));
	self->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->sites = g_hash_table_new_full(NULL, NULL, NULL, free_site);
	if (!read_bytes(self, path, error))
		return NULL;
	if (!parse(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&self);
}

/* --- finding --- */

static guint n_moves_begun(const LodeHeapLog *self, uint64_t time_ns)
{
	return LODE_PARTITION_POINT(
		self->moves->len, i, g_array_index(self->moves, Move, i).begin_ns <= time_ns);
}

/* The block of a walk that has an address; NULL: none. */
static const Block *find_block(const LodeHeapLog *self, guint index, uint64_t address)
{
	const HeapWalk *walk = &g_array_index(self->walks, HeapWalk, index);
	guint n = LODE_PARTITION_POINT(walk->n_blocks, i,
		g_array_index(self->blocks, Block, walk->first_block + i).address <= address);

	if (n == 0)
		return NULL;
	const Block *block = &g_array_index(self->blocks, Block, walk->first_block + n - 1);
	return address - block->address < block->size ? block : NULL;
}

/* Where the object at an address was allocated; NULL: its allocation was not sampled. */
static const LodeHeapSite *find_site(const LodeHeapLog *self, guint index, uint64_t address)
{
	const HeapWalk *walk = &g_array_index(self->walks, HeapWalk, index);
	guint n = LODE_PARTITION_POINT(walk->n_samples, i,
		g_array_index(self->samples, SampledObject, walk->first_sample + i).address <
			address);

	if (n == walk->n_samples)
		return NULL;
	const SampledObject *at = &g_array_index(
		self->samples, SampledObject, walk->first_sample + n);
	return at->address == address ? g_hash_table_lookup(self->sites, GUINT_TO_POINTER(at->site))
	                              : NULL;
}

static bool find_object(const LodeHeapLog *self, guint walk, const Block *block, uint64_t address,
	LodeHeapObject *out)
{
	LodeByteCursor runs = runs_of(self, block);
	uint64_t start = block->address;
	Run run;

	while (next_run(&runs, &run)) {
		if (address - start < run.size * run.count) {
			const char *name = run.name <= UINT32_MAX
			                           ? g_hash_table_lookup(self->names,
							     GUINT_TO_POINTER((guint)run.name))
			                           : NULL;
			uint64_t before = (address - start) / run.size * run.size;
			*out = (LodeHeapObject){name, start + before, run.size,
				g_array_index(self->walks, HeapWalk, walk).time_ns,
				find_site(self, walk, start + before)};
			return name != NULL;
		}
		start += run.size * run.count;
	}
	return false;
}

/* Whether both have the same objects at the same addresses, and the first is the same object: then
 * none of them has moved in between. */
static bool is_same(const LodeHeapLog *self, const Block *a, const Block *b)
{
	return a->first == b->first && a->address == b->address && a->runs_size == b->runs_size &&
	       memcmp(self->bytes + a->runs, self->bytes + b->runs, a->runs_size) == 0;
}

bool lode_heap_log_find(
	const LodeHeapLog *self, uint64_t address, uint64_t time_ns, LodeHeapObject *out_object)
{
	guint n_moves = n_moves_begun(self, time_ns), n_walks = self->walks->len;
	const Move *last = n_moves > 0 ? &g_array_index(self->moves, Move, n_moves - 1) : NULL;

	if (time_ns < self->begin_ns || time_ns > self->end_ns ||
		(last != NULL && time_ns <= last->end_ns))
		return false;
	guint after = LODE_PARTITION_POINT(
		n_walks, i, g_array_index(self->walks, HeapWalk, i).time_ns < time_ns);
	const Block *next = after < n_walks ? find_block(self, after, address) : NULL;
	const Block *before = after > 0 ? find_block(self, after - 1, address) : NULL;
	/* between two collections nothing moves, and no memory is used again */
	if (next != NULL &&
		n_moves_begun(self, g_array_index(self->walks, HeapWalk, after).time_ns) == n_moves)
		return find_object(self, after, next, address, out_object);
	if (before != NULL &&
		n_moves_begun(self, g_array_index(self->walks, HeapWalk, after - 1).time_ns) ==
			n_moves)
		return find_object(self, after - 1, before, address, out_object);
	return next != NULL && before != NULL && is_same(self, before, next) &&
	       find_object(self, after, next, address, out_object);
}

bool lode_heap_log_find_alone(const LodeHeapLog *self, const LodeHeapMemory *memory,
	uint64_t address, LodeHeapObject *out_object)
{
	LodeHeapObject found = {0};

	if (lode_heap_log_is_in(self, memory->start, memory->end))
		return false;
	for (guint i = 0; i < self->walks->len; i++) {
		uint64_t time_ns = g_array_index(self->walks, HeapWalk, i).time_ns;
		const Block *block = time_ns >= memory->begin_ns && time_ns < memory->end_ns
		                             ? find_block(self, i, address)
		                             : NULL;
		LodeHeapObject object;
		if (block == NULL)
			continue;
		if (!find_object(self, i, block, address, &object) ||
			object.size < (memory->end - memory->start) / 2 ||
			(found.name != NULL &&
				(object.address != found.address || object.size != found.size ||
					strcmp(object.name, found.name) != 0)))
			return false;
		found = object;
	}
	if (found.name != NULL)
		*out_object = found;
	return found.name != NULL;
}

bool lode_heap_log_is_in(const LodeHeapLog *self, uint64_t start, uint64_t end)
{
	for (guint i = 0; i < self->ranges->len; i++) {
		const Range *range = &g_array_index(self->ranges, Range, i);
		if (range->start < end && start < range->end)
			return true;
	}
	return false;
}

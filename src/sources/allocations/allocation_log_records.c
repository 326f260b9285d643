/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of an allocation log to events. docs/reference/formats/allocation-log.md is the
 * format.
 *
 * Read, not mapped: a log may be far larger than what is in it, and lie on a disk without room for
 * the rest.
 */
#include "base/byte_cursor.h"
#include "base/error.h"
#include "sources/allocations/allocation_log_reader.h"
#include "traces/rps/varint.h"

#include <errno.h>
#include <unistd.h>

enum {
	OLDEST_VERSION = 2,
	VERSION = 3,
	PAGE = 4096,
	CHUNK_MAGIC = 0x4b4e4843,
	MAX_CHUNK = 1 << 20,
	CHUNK_HEADER_BYTES = 16,
	HEADER_BYTES = 64,
	MAX_FRAMES = 255,
	FLAG_OWN_MALLOC = 1,
};

/* Memory that must be available: an array grows to twice its content, and sorting takes another
 * one. */
enum { ARRAY_SHARE = 2, EVENT_SHARE = ARRAY_SHARE + 1, STACK_ENTRY = 64 };

/* The recorder writes no more. */
#define MAX_LOG_BYTES (UINT64_C(1) << 34)

static const char magic[] = "lodealoc";

/* Addresses of user code end far below; sums do not overflow. */
#define ADDRESS_END (UINT64_C(1) << 56)

enum {
	RECORD_END,
	RECORD_ALLOCATION,
	RECORD_FREE,
	RECORD_UNMAP,
	RECORD_STACK,
	RECORD_THREAD,
	RECORD_THREAD_END,
	RECORD_PAD = 0x7f,
};

/* Bits of the first byte of a packed record. */
enum {
	PACKED = 0x80,
	PACKED_FREE = 0x40,
	PACKED_KIND_SHIFT = 3,
	PACKED_KIND_MASK = 7,
	PACKED_ALLOCATION_TIME_BITS = 3,
	PACKED_FREE_TIME_BITS = 6,
};

typedef struct {
	LodeAllocationLogReader *reader;
	int descriptor;
	uint64_t at, end;   /* of what is left of the file */
	GByteArray *chunk;  /* the one that is read */
	GHashTable *stacks; /* the file's id → index + 1 */
	uint32_t tid;
	uint64_t last_time, last_word; /* of the last packed record of the chunk */
} Parser;

typedef struct {
	uint8_t type, kind, n;
	uint32_t value;
} Head;

bool lode_allocation_log_is_format(const char *data, size_t size)
{
	return size >= sizeof(magic) - 1 && memcmp(data, magic, sizeof(magic) - 1) == 0;
}

static bool corrupt(const Parser *self, const uint8_t *at, const char *what, GError **error)
{
	uint64_t offset = self->at + (uint64_t)(at - self->chunk->data);

	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"record at offset %" G_GUINT64_FORMAT ": %s", offset, what);
	return false;
}

bool lode_allocation_log_charge(LodeAllocationLogReader *self, size_t bytes, GError **error)
{
	if (lode_memory_budget_charge(&self->budget, bytes))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"the allocations need more memory than there is");
	return false;
}

/* Events come before stacks they name, where a thread saw another's: resolved at the end. */
static bool add_event(const Parser *self, LodeLogEvent event, GError **error)
{
	if (!lode_allocation_log_charge(self->reader, EVENT_SHARE * sizeof(event), error))
		return false;
	event.tid = self->tid;
	g_array_append_val(self->reader->events, event);
	return true;
}

static uint64_t shift_time(const LodeAllocationLogReader *self, uint64_t time_ns)
{
	return time_ns + MIN(self->first_time_ns, UINT64_MAX - time_ns);
}

static uint64_t read_time(const LodeAllocationLogReader *self, LodeByteCursor *cursor)
{
	return shift_time(self, lode_byte_cursor_u64(cursor));
}

static bool add_allocation(const Parser *self, const uint8_t *start, LodeLogEvent event,
	const LodeByteCursor *cursor, GError **error)
{
	event.type = LODE_LOG_EVENT_MADE;
	if (cursor->is_overrun)
		return true;
	if (event.kind >= LODE_N_ALLOCATION_KINDS)
		return corrupt(self, start, "unknown kind of allocation", error);
	if (event.address >= ADDRESS_END || event.size >= ADDRESS_END - event.address)
		return corrupt(self, start, "an allocation that ends beyond all addresses", error);
	return add_event(self, event, error);
}

static bool read_allocation(
	const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	const uint8_t *start = cursor->at;
	LodeLogEvent event = {.kind = head->kind, .stack = head->value};

	event.time_ns = read_time(self->reader, cursor);
	event.address = lode_byte_cursor_u64(cursor);
	event.size = lode_byte_cursor_u64(cursor);
	return add_allocation(self, start, event, cursor, error);
}

static bool read_free(const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	LodeLogEvent event = {.type = LODE_LOG_EVENT_FREED};

	(void)head;
	event.time_ns = read_time(self->reader, cursor);
	event.address = lode_byte_cursor_u64(cursor);
	return cursor->is_overrun || add_event(self, event, error);
}

static bool read_unmap(const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	const uint8_t *start = cursor->at;
	LodeLogEvent event = {.type = LODE_LOG_EVENT_UNMAPPED};

	(void)head;
	event.time_ns = read_time(self->reader, cursor);
	event.address = lode_byte_cursor_u64(cursor);
	event.size = lode_byte_cursor_u64(cursor);
	if (event.address >= ADDRESS_END || event.size >= ADDRESS_END - event.address)
		return corrupt(self, start, "what is unmapped ends beyond all addresses", error);
	return cursor->is_overrun || add_event(self, event, error);
}

static bool read_stack(const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	LodeAllocationLog *log = self->reader->log;
	LodeAllocationStack stack = {.n = head->n};
	uint64_t addresses[MAX_FRAMES];

	for (size_t i = 0; i < stack.n; i++)
		addresses[i] = lode_byte_cursor_u64(cursor);
	if (cursor->is_overrun)
		return true;
	size_t bytes = ARRAY_SHARE * (sizeof(stack) + stack.n * sizeof(uint64_t)) + STACK_ENTRY;
	if (!lode_allocation_log_charge(self->reader, bytes, error))
		return false;
	/* Where they lie is known when all are there. */
	stack.addresses = GSIZE_TO_POINTER(log->frames->len);
	g_array_append_vals(log->frames, addresses, (guint)stack.n);
	g_array_append_val(log->stacks, stack);
	g_hash_table_insert(
		self->stacks, GUINT_TO_POINTER(head->value), GUINT_TO_POINTER(log->stacks->len));
	return true;
}

static bool read_thread(
	const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	LodeLoggedThread thread = {.tid = head->value};

	thread.begin_ns = read_time(self->reader, cursor);
	thread.pointer = lode_byte_cursor_u64(cursor);
	if (cursor->is_overrun)
		return true;
	if (!lode_allocation_log_charge(self->reader, ARRAY_SHARE * sizeof(thread), error))
		return false;
	g_array_append_val(self->reader->log->threads, thread);
	return true;
}

/* When it ended is not needed: its blocks live on. */
static bool read_thread_end(
	const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	(void)self;
	(void)head;
	(void)error;
	lode_byte_cursor_skip(cursor, sizeof(uint64_t));
	return true;
}

typedef bool (*ReadRecord)(
	const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error);

static const ReadRecord readers[] = {
	[RECORD_ALLOCATION] = read_allocation,
	[RECORD_FREE] = read_free,
	[RECORD_UNMAP] = read_unmap,
	[RECORD_STACK] = read_stack,
	[RECORD_THREAD] = read_thread,
	[RECORD_THREAD_END] = read_thread_end,
};

static Head read_head(LodeByteCursor *cursor)
{
	Head head = {.type = lode_byte_cursor_u8(cursor)};

	head.kind = lode_byte_cursor_u8(cursor);
	head.n = lode_byte_cursor_u8(cursor);
	lode_byte_cursor_skip(cursor, 1);
	head.value = lode_byte_cursor_u32(cursor);
	return head;
}

/* An allocation or a free. Addresses wrap round: one that is none is found by its size. */
static bool read_packed(Parser *self, LodeByteCursor *cursor, GError **error)
{
	const uint8_t *start = cursor->at;
	uint8_t first = lode_byte_cursor_u8(cursor);
	bool is_free = (first & PACKED_FREE) != 0;
	unsigned time_bits = is_free ? PACKED_FREE_TIME_BITS : PACKED_ALLOCATION_TIME_BITS;

	self->last_time += lode_varint_read(cursor) << time_bits |
	                   (first & ((1U << time_bits) - 1));
	self->last_word += lode_varint_read_signed(cursor);
	LodeLogEvent event = {
		.time_ns = shift_time(self->reader, self->last_time),
		.address = self->last_word * 8,
	};
	if (is_free) {
		event.type = LODE_LOG_EVENT_FREED;
		return cursor->is_overrun || add_event(self, event, error);
	}
	event.kind = first >> PACKED_KIND_SHIFT & PACKED_KIND_MASK;
	event.size = lode_varint_read(cursor);
	uint64_t stack = lode_varint_read(cursor);
	event.stack = (uint32_t)MIN(stack, G_MAXUINT32);
	return add_allocation(self, start, event, cursor, error);
}

static bool read_whole(Parser *self, LodeByteCursor *cursor, GError **error)
{
	const uint8_t *start = cursor->at;
	const Head head = read_head(cursor);

	if (head.type >= G_N_ELEMENTS(readers))
		return corrupt(self, start, "unknown type", error);
	return cursor->is_overrun || readers[head.type](self, &head, cursor, error);
}

/* Records up to the first that was not written. */
static bool read_records(Parser *self, LodeByteCursor cursor, bool is_cut, GError **error)
{
	self->last_time = self->last_word = 0;
	while (lode_byte_cursor_left(&cursor) > 0 && *cursor.at != RECORD_END) {
		const uint8_t *start = cursor.at;
		if (*start == RECORD_PAD)
			lode_byte_cursor_skip(&cursor, 1);
		else if (!((*start & PACKED) != 0 ? read_packed : read_whole)(self, &cursor, error))
			return false;
		if (cursor.is_overrun && !is_cut)
			return corrupt(self, start, "goes beyond its chunk", error);
	}
	return true;
}

/* Bytes of the file from where we are, fewer only at its end. */
static bool fetch(Parser *self, size_t size, LodeByteCursor *out_cursor, GError **error)
{
	size_t wanted = (size_t)MIN(size, self->end - self->at), done = 0;

	g_byte_array_set_size(self->chunk, (guint)MAX(wanted, 1));
	while (done < wanted) {
		ssize_t n = pread(self->descriptor, self->chunk->data + done, wanted - done,
			(off_t)(self->at + done));
		if (n < 0 && errno != EINTR) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, g_strerror(errno));
			return false;
		}
		if (n == 0)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	lode_byte_cursor_init(out_cursor, self->chunk->data, done, G_BYTE_ORDER != G_LITTLE_ENDIAN);
	return true;
}

/* 0: no chunk begins here, for the process was killed before it wrote to the page. */
static size_t read_chunk_header(Parser *self, LodeByteCursor *cursor)
{
	bool is_chunk = lode_byte_cursor_u32(cursor) == CHUNK_MAGIC;
	self->tid = lode_byte_cursor_u32(cursor);
	uint32_t size = lode_byte_cursor_u32(cursor);

	lode_byte_cursor_skip(cursor, sizeof(uint32_t));
	return is_chunk && size % PAGE == 0 && size <= MAX_CHUNK ? size : 0;
}

/* To the next page that was written to (lseek(2)): a file can be a hole of any size. */
static void skip_page(Parser *self)
{
	self->at += PAGE;
	off_t next = lseek(self->descriptor, (off_t)self->at, SEEK_DATA);
	if (next < 0 && errno == ENXIO)
		self->at = self->end;
	else if (next > 0 && (uint64_t)next > self->at)
		self->at = (uint64_t)next / PAGE * PAGE;
}

static bool read_chunk(Parser *self, GError **error)
{
	LodeAllocationLogSummary *summary = &self->reader->log->summary;
	LodeByteCursor cursor;

	if (!fetch(self, CHUNK_HEADER_BYTES, &cursor, error))
		return false;
	size_t size = read_chunk_header(self, &cursor);
	if (size == 0) {
		summary->is_truncated = true;
		skip_page(self);
		return true;
	}
	if (!fetch(self, size, &cursor, error))
		return false;
	bool is_cut = lode_byte_cursor_left(&cursor) < size;
	summary->is_truncated |= is_cut;
	lode_byte_cursor_skip(&cursor, CHUNK_HEADER_BYTES);
	if (!read_records(self, cursor, is_cut, error))
		return false;
	self->at += size;
	return true;
}

static bool read_header(Parser *self, GError **error)
{
	LodeAllocationLogSummary *summary = &self->reader->log->summary;
	LodeByteCursor file;

	if (!fetch(self, HEADER_BYTES, &file, error))
		return false;
	if (!lode_allocation_log_is_format((const char *)file.at, lode_byte_cursor_left(&file))) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_CORRUPT, "not a log of allocations");
		return false;
	}
	lode_byte_cursor_skip(&file, sizeof(magic) - 1);
	uint32_t version = lode_byte_cursor_u32(&file);
	uint32_t page = lode_byte_cursor_u32(&file);
	if (version < OLDEST_VERSION || version > VERSION || page != PAGE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"is of version %u, this lode reads %d", version, VERSION);
		return false;
	}
	summary->pid = lode_byte_cursor_u32(&file);
	summary->parent = lode_byte_cursor_u32(&file);
	summary->begin_ns = read_time(self->reader, &file);
	uint64_t used = lode_byte_cursor_u64(&file);
	summary->n_unseen = lode_byte_cursor_u64(&file);
	summary->n_dropped = lode_byte_cursor_u64(&file);
	summary->has_own_malloc = (lode_byte_cursor_u32(&file) & FLAG_OWN_MALLOC) != 0;
	summary->is_truncated = file.is_overrun || self->end < PAGE || used > self->end;
	self->end = MIN(self->end, MAX(used, PAGE));
	self->at = PAGE;
	return true;
}

static void resolve_stacks(const Parser *self)
{
	for (guint i = 0; i < self->reader->events->len; i++) {
		LodeLogEvent *event = &g_array_index(self->reader->events, LodeLogEvent, i);
		guint index = GPOINTER_TO_UINT(
			g_hash_table_lookup(self->stacks, GUINT_TO_POINTER(event->stack)));
		event->stack = index == 0 ? G_MAXUINT32 : index - 1;
	}
	for (guint i = 0; i < self->reader->log->stacks->len; i++) {
		LodeAllocationStack *stack = &g_array_index(
			self->reader->log->stacks, LodeAllocationStack, i);
		stack->addresses = (const uint64_t *)self->reader->log->frames->data +
		                   GPOINTER_TO_SIZE(stack->addresses);
	}
}

bool lode_allocation_log_read_file(
	LodeAllocationLogReader *self, int descriptor, uint64_t size, GError **error)
{
	g_autoptr(GHashTable) stacks = g_hash_table_new(NULL, NULL);
	g_autoptr(GByteArray) chunk = g_byte_array_new();
	Parser parser = {
		.reader = self,
		.descriptor = descriptor,
		.end = size,
		.chunk = chunk,
		.stacks = stacks,
	};

	if (size > MAX_LOG_BYTES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"is larger than a log of allocations becomes (%" G_GUINT64_FORMAT " bytes)",
			MAX_LOG_BYTES);
		return false;
	}
	if (!read_header(&parser, error))
		return false;
	while (parser.at < parser.end)
		if (!read_chunk(&parser, error))
			return false;
	resolve_stacks(&parser);
	return true;
}

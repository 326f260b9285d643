/* SPDX-License-Identifier: MIT */
/* From the bytes of an allocation log to events. docs/formats/allocation-log.md is the format. */
#include "base/byte_cursor.h"
#include "base/error.h"
#include "sources/allocation_log_reader.h"

enum {
	VERSION = 1,
	PAGE = 4096,
	CHUNK_MAGIC = 0x4b4e4843,
	MAX_FRAMES = 255,
	FLAG_OWN_MALLOC = 1,
};

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
};

typedef struct {
	LodeAllocationLogReader *reader;
	const uint8_t *data;
	GHashTable *stacks; /* the file's id → index + 1 */
	uint32_t tid;
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
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "record at offset %td: %s",
		at - self->data, what);
	return false;
}

/* Charged before it is stored. */
static bool charge(const Parser *self, size_t bytes, GError **error)
{
	if (lode_memory_budget_charge(&self->reader->budget, bytes))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"the allocations need more memory than there is");
	return false;
}

/* Events come before stacks they name, where a thread saw another's: resolved at the end. */
static bool add_event(const Parser *self, LodeLogEvent event, GError **error)
{
	if (!charge(self, sizeof(event), error))
		return false;
	event.tid = self->tid;
	g_array_append_val(self->reader->events, event);
	return true;
}

static bool read_allocation(
	const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	const uint8_t *start = cursor->at;
	LodeLogEvent event = {
		.type = LODE_LOG_EVENT_MADE,
		.kind = head->kind,
		.stack = head->value,
	};

	event.time_ns = lode_byte_cursor_u64(cursor);
	event.address = lode_byte_cursor_u64(cursor);
	event.size = lode_byte_cursor_u64(cursor);
	if (head->kind >= LODE_N_ALLOCATION_KINDS)
		return corrupt(self, start, "an allocation of no known kind", error);
	if (event.address >= ADDRESS_END || event.size >= ADDRESS_END - event.address)
		return corrupt(self, start, "an allocation that ends beyond all addresses", error);
	return cursor->is_overrun || add_event(self, event, error);
}

static bool read_free(const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	LodeLogEvent event = {.type = LODE_LOG_EVENT_FREED};

	(void)head;
	event.time_ns = lode_byte_cursor_u64(cursor);
	event.address = lode_byte_cursor_u64(cursor);
	return cursor->is_overrun || add_event(self, event, error);
}

static bool read_unmap(const Parser *self, const Head *head, LodeByteCursor *cursor, GError **error)
{
	const uint8_t *start = cursor->at;
	LodeLogEvent event = {.type = LODE_LOG_EVENT_UNMAPPED};

	(void)head;
	event.time_ns = lode_byte_cursor_u64(cursor);
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
	if (!charge(self, sizeof(stack) + stack.n * sizeof(uint64_t), error))
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
	const LodeLoggedThread thread = {head->value, lode_byte_cursor_u64(cursor)};

	if (cursor->is_overrun)
		return true;
	if (!charge(self, sizeof(thread), error))
		return false;
	g_array_append_val(self->reader->log->threads, thread);
	return true;
}

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

/* Records up to the first that was not written. */
static bool read_chunk(const Parser *self, LodeByteCursor cursor, bool is_cut, GError **error)
{
	while (lode_byte_cursor_left(&cursor) >= sizeof(uint64_t)) {
		const uint8_t *start = cursor.at;
		const Head head = read_head(&cursor);
		if (head.type == RECORD_END)
			return true;
		if (head.type >= G_N_ELEMENTS(readers))
			return corrupt(self, start, "is of no known type", error);
		if (!readers[head.type](self, &head, &cursor, error))
			return false;
		if (cursor.is_overrun && !is_cut)
			return corrupt(self, start, "goes beyond its chunk", error);
	}
	return true;
}

/* A page that begins no chunk was given out and never written to: the process was killed. */
static bool read_chunks(Parser *self, LodeByteCursor *file, GError **error)
{
	LodeAllocationLogSummary *summary = &self->reader->log->summary;

	while (lode_byte_cursor_left(file) >= 2 * sizeof(uint64_t)) {
		const uint8_t *start = file->at;
		LodeByteCursor cursor = *file;
		bool is_chunk = lode_byte_cursor_u32(&cursor) == CHUNK_MAGIC;
		self->tid = lode_byte_cursor_u32(&cursor);
		uint64_t size = lode_byte_cursor_u32(&cursor);
		lode_byte_cursor_skip(&cursor, sizeof(uint32_t));
		if (!is_chunk || size == 0 || size % PAGE != 0) {
			summary->is_truncated = true;
			lode_byte_cursor_skip(file, PAGE);
			continue;
		}
		bool is_cut = size > lode_byte_cursor_left(file);
		summary->is_truncated |= is_cut;
		cursor.end = is_cut ? file->end : start + size;
		if (!read_chunk(self, cursor, is_cut, error))
			return false;
		lode_byte_cursor_skip(file, size);
	}
	return true;
}

static bool read_header(
	const Parser *self, LodeByteCursor *file, uint64_t *out_used, GError **error)
{
	LodeAllocationLogSummary *summary = &self->reader->log->summary;
	const uint8_t *end = file->end;

	if (!lode_allocation_log_is_format((const char *)file->at, lode_byte_cursor_left(file))) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_CORRUPT, "is no log of allocations");
		return false;
	}
	lode_byte_cursor_skip(file, sizeof(magic) - 1);
	uint32_t version = lode_byte_cursor_u32(file);
	uint32_t page = lode_byte_cursor_u32(file);
	if (version != VERSION || page != PAGE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"is of version %u, this lode reads %d", version, VERSION);
		return false;
	}
	summary->pid = lode_byte_cursor_u32(file);
	summary->parent = lode_byte_cursor_u32(file);
	summary->begin_ns = lode_byte_cursor_u64(file);
	*out_used = lode_byte_cursor_u64(file);
	summary->n_unseen = lode_byte_cursor_u64(file);
	summary->n_dropped = lode_byte_cursor_u64(file);
	summary->has_own_malloc = (lode_byte_cursor_u32(file) & FLAG_OWN_MALLOC) != 0;
	if (file->is_overrun || (size_t)(end - self->data) < PAGE)
		summary->is_truncated = true;
	file->at = self->data + MIN((size_t)(end - self->data), PAGE);
	file->is_overrun = false;
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

bool lode_allocation_log_read_bytes(
	LodeAllocationLogReader *self, const uint8_t *data, size_t size, GError **error)
{
	g_autoptr(GHashTable) stacks = g_hash_table_new(NULL, NULL);
	Parser parser = {.reader = self, .data = data, .stacks = stacks};
	LodeByteCursor file;
	uint64_t used;

	lode_byte_cursor_init(&file, data, size, G_BYTE_ORDER != G_LITTLE_ENDIAN);
	if (!read_header(&parser, &file, &used, error))
		return false;
	if (used > size)
		self->log->summary.is_truncated = true;
	else if (used >= PAGE)
		file.end = data + used;
	if (!read_chunks(&parser, &file, error))
		return false;
	resolve_stacks(&parser);
	return true;
}

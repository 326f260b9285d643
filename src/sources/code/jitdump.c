/* SPDX-License-Identifier: MIT */
/*
 * The whole file is loaded and its records are read in their order. When all are known, units are
 * placed in the order of time, which need not be that of the file.
 */
#include "sources/code/jitdump.h"

#include "base/arrays/sort_order.h"
#include "base/byte_cursor.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "sources/allocations/live_ranges.h"

#include <inttypes.h>

/* --- source lines --- */

/*
 * Source lines, which stand in a record before the code that they belong to:
 *
 *   [address of the code, n] n × [address, line, discriminator, file NUL]
 *
 * V8 (seen in version 11.3, of Node 20) does four things of its own. It counts addresses from 64
 * bytes before the code, where perf's ELF header will stand. It writes a file's name after it has
 * freed it, so that the first 16 bytes may be whatever malloc() keeps there, NULs among them. And
 * it names the file also in the name of the function: `JS:*name FILE:LINE:COLUMN`. For baseline
 * code (`JS:^name`) it writes offsets of bytecodes in place of those of the code that they became,
 * which is some seven to ten times as long: they are stretched to its length.
 *
 * After the lines of lode's agent stands what they were inlined by:
 * docs/reference/formats/jitdump.md.
 */

enum {
	ELF_HEADER_SIZE = 64,
	FREED_SIZE = 16,          /* what malloc() writes into memory that was freed */
	BASELINE_ENTRY_SIZE = 24, /* of baseline code, before that of the first bytecode */
};

/* Text of the file as valid UTF-8, kept once. */
static const char *keep_text(LodeJitdump *self, const char *text)
{
	g_autofree char *valid = NULL;

	if (g_utf8_validate(text, -1, NULL))
		return g_string_chunk_insert_const(self->strings, text);
	valid = g_utf8_make_valid(text, -1);
	return g_string_chunk_insert_const(self->strings, valid);
}

static bool is_of_v8(const LodeJitUnit *unit)
{
	return g_str_has_prefix(unit->name, "JS:");
}

/* The number to subtract from the addresses of these lines. */
static uint64_t line_bias(const LodeJitUnit *unit, GArray *lines, guint first)
{
	if (!is_of_v8(unit))
		return 0;
	for (guint i = first; i < lines->len; i++)
		if (g_array_index(lines, LodeJitLine, i).address < ELF_HEADER_SIZE)
			return 0;
	return ELF_HEADER_SIZE;
}

/* Baseline code has the bytecodes in their order, each as long as its operation needs: a line is
 * found to within one bytecode or two. The last that has a line mostly returns. */
static void stretch_lines(const LodeJitUnit *unit, LodeJitLine *lines, guint n)
{
	uint64_t length = 0;

	if (!g_str_has_prefix(unit->name, "JS:^"))
		return;
	for (guint i = 0; i < n; i++)
		length = MAX(length, lines[i].address + 1);
	if (length + BASELINE_ENTRY_SIZE >= unit->size)
		return;
	for (guint i = 0; i < n; i++)
		if (lines[i].address > 0)
			lines[i].address = BASELINE_ENTRY_SIZE +
			                   lines[i].address * (unit->size - BASELINE_ENTRY_SIZE) /
			                           length;
}

static int compare_lines(const void *a, const void *b, void *data)
{
	const LodeJitLine *x = a, *y = b;

	(void)data;
	return (x->address > y->address) - (x->address < y->address);
}

/* Subtracts the bias, sorts, and keeps of equal addresses the last. False: one is outside. */
static bool settle_lines(LodeJitdump *self, LodeJitUnit *unit, guint first)
{
	uint64_t bias = line_bias(unit, self->lines, first);
	guint n = first;
	LodeJitLine *lines = (LodeJitLine *)(void *)self->lines->data;

	if (first == self->lines->len)
		return true;
	for (guint i = first; i < self->lines->len; i++) {
		lines[i].address -= bias;
		if (lines[i].address > unit->size)
			return false;
	}
	stretch_lines(unit, lines + first, self->lines->len - first);
	/* stable: of equal addresses the last one written stays last */
	g_qsort_with_data(lines + first, (gint)(self->lines->len - first), sizeof *lines,
		compare_lines, NULL);
	for (guint i = first; i < self->lines->len; i++) {
		if (lines[i].address == unit->size)
			continue; /* the end of the code, as the specification allows */
		if (n > first && lines[n - 1].address == lines[i].address)
			n--;
		lines[n++] = lines[i];
	}
	g_array_set_size(self->lines, n);
	unit->first_line = first;
	unit->n_lines = n - first;
	return true;
}

/* Whether an entry of this code may begin here, or the record end. */
static bool is_after_name(
	LodeByteCursor cursor, const LodeJitUnit *unit, uint64_t code_address, bool is_last)
{
	uint64_t address;

	if (is_last)
		return lode_byte_cursor_left(&cursor) < sizeof(uint64_t);
	address = lode_byte_cursor_u64(&cursor);
	return !cursor.is_overrun && address - code_address <= unit->size + ELF_HEADER_SIZE;
}

/*
 * Takes a name and its NUL; the length counts NULs inside, which a name has that was freed. NULL:
 * nothing follows that could be the next entry.
 */
static const char *take_name(LodeByteCursor *cursor, const LodeJitUnit *unit, uint64_t code_address,
	bool is_last, size_t *out_length)
{
	const char *name = lode_byte_cursor_text(cursor);
	LodeByteCursor further = *cursor;

	while (!further.is_overrun && !is_after_name(further, unit, code_address, is_last))
		lode_byte_cursor_text(&further);
	if (name == NULL || (further.is_overrun && !is_last))
		return NULL;
	if (!further.is_overrun)
		*cursor = further;
	*out_length = (size_t)((const char *)cursor->at - name) - 1;
	return name;
}

/* The file in the function's name, if it may be the damaged one; NULL: it is a different one. */
static const char *file_in_name(
	LodeJitdump *self, const LodeJitUnit *unit, const char *damaged, size_t length)
{
	const char *end = strrchr(unit->name, ':'), *file;
	size_t n_damaged = MIN(length, FREED_SIZE);
	g_autofree char *text = NULL;

	while (end != NULL && end > unit->name && *--end != ':')
		;
	if (!is_of_v8(unit) || end == NULL || (size_t)(end - unit->name) <= length)
		return NULL;
	file = end - length;
	if (file[-1] != ' ' ||
		memcmp(file + n_damaged, damaged + n_damaged, length - n_damaged) != 0)
		return NULL;
	text = g_strndup(file, length);
	return keep_text(self, text);
}

static const char *file_of(
	LodeJitdump *self, const LodeJitUnit *unit, const char *name, size_t length)
{
	bool is_text = memchr(name, '\0', length) == NULL;

	if (is_text && (!is_of_v8(unit) || g_utf8_validate(name, (gssize)length, NULL)))
		return keep_text(self, name);
	return file_in_name(self, unit, name, length);
}

/* A dump may name any files. */
#define MOST_OF_SCRIPT (UINT64_C(1) << 24)
#define MOST_SCRIPTS 256

/* How many lines a script has; UINT32_MAX: not known. Counted once. */
static uint32_t lines_of_script(LodeJitdump *self, const char *file)
{
	static const char url[] = "file://";
	const char *path = g_str_has_prefix(file, url) ? file + strlen(url) : file;
	void *known = g_hash_table_lookup(self->script_lines, file);
	uint32_t n = UINT32_MAX;

	if (known != NULL)
		return GPOINTER_TO_UINT(known);
	bool is_counted = path[0] == '/' && g_hash_table_size(self->script_lines) < MOST_SCRIPTS;
	g_autoptr(LodeInputFile) script = is_counted ? lode_input_file_open(path, NULL) : NULL;
	g_autofree char *text = script != NULL && script->size <= MOST_OF_SCRIPT
	                                ? lode_input_file_load(script, 0, script->size, NULL)
	                                : NULL;
	if (text != NULL) {
		n = 1;
		for (uint64_t i = 0; i < script->size; i++)
			n += text[i] == '\n';
	}
	g_hash_table_insert(self->script_lines, (char *)file, GUINT_TO_POINTER(n));
	return n;
}

/* The name that stands for the one before. */
static bool is_repeated(const char *name, size_t length)
{
	return length == 1 && (uint8_t)name[0] == 0xff;
}

enum { MOST_METHODS = 1 << 20 }; /* of a record */

static bool is_of_agent(const LodeJitLine *line)
{
	return line->discriminator == LODE_JIT_LINE_BACK ||
	       line->discriminator == LODE_JIT_LINE_HERE;
}

typedef struct {
	const char *name, *file; /* NULL: unknown */
} InlinedMethod;

/* A name or file of the agent's; NULL: unknown. */
static const char *take_text(LodeJitdump *self, LodeByteCursor *cursor)
{
	const char *text = lode_byte_cursor_text(cursor);

	return text != NULL && *text != '\0' ? keep_text(self, text) : NULL;
}

/* Appends what the lines from `first` on are inlined by; false when it makes no sense. */
static bool append_calls(LodeJitdump *self, LodeByteCursor *cursor, guint first)
{
	g_autoptr(GArray) methods = g_array_new(FALSE, FALSE, sizeof(InlinedMethod));
	g_autoptr(GArray) callees = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint base = self->calls->len;
	uint32_t n = lode_byte_cursor_u32(cursor);

	for (uint32_t i = 0; i < n && !cursor->is_overrun; i++) {
		InlinedMethod method = {.name = take_text(self, cursor)};
		method.file = take_text(self, cursor);
		g_array_append_val(methods, method);
		if (methods->len > MOST_METHODS)
			return false;
	}
	n = lode_byte_cursor_u32(cursor);
	for (uint32_t i = 0; i < n && !cursor->is_overrun; i++) {
		uint32_t method = lode_byte_cursor_u32(cursor), caller = 0;
		LodeJitCall call = {.line = lode_byte_cursor_u32(cursor), .depth = 1};
		call.outer = lode_byte_cursor_u32(cursor);
		if (method >= methods->len || (call.outer != LODE_JIT_NO_CALL && call.outer >= i))
			return false;
		g_array_append_val(callees, method);
		if (call.outer != LODE_JIT_NO_CALL) {
			caller = g_array_index(callees, uint32_t, call.outer);
			call.outer += base;
			call.depth += g_array_index(self->calls, LodeJitCall, call.outer).depth;
		}
		if (call.depth > LODE_JIT_MAX_INLINED)
			return false;
		call.function = g_array_index(methods, InlinedMethod, method).name;
		call.file = g_array_index(methods, InlinedMethod, caller).file;
		if (call.file == NULL)
			call.line = 0;
		g_array_append_val(self->calls, call);
	}
	for (guint i = first; i < self->lines->len; i++) {
		uint32_t call = lode_byte_cursor_u32(cursor);
		if (call != LODE_JIT_NO_CALL && call >= self->calls->len - base)
			return false;
		g_array_index(self->lines, LodeJitLine, i).call = call != LODE_JIT_NO_CALL
		                                                          ? base + call
		                                                          : call;
	}
	return !cursor->is_overrun;
}

/* Appends the entries of a record, relative to the code; false when they do not fit into it. */
static bool append_lines(
	LodeJitdump *self, LodeByteCursor *cursor, const LodeJitUnit *unit, uint64_t code_address)
{
	uint64_t n = lode_byte_cursor_u64(cursor);
	guint first = self->lines->len;
	bool is_agents = false;
	const char *file = NULL;

	for (uint64_t i = 0; i < n && !cursor->is_overrun; i++) {
		LodeJitLine line = {.address = lode_byte_cursor_u64(cursor) - code_address};
		line.line = lode_byte_cursor_u32(cursor);
		line.discriminator = lode_byte_cursor_u32(cursor);
		line.call = LODE_JIT_NO_CALL;
		is_agents = i == 0 ? is_of_agent(&line) : is_agents;
		size_t length = 0;
		const char *name = is_agents ? lode_byte_cursor_text(cursor)
		                             : take_name(cursor, unit, code_address, i + 1 == n,
						       &length);
		if (is_agents && name != NULL)
			length = strlen(name);

		if (name == NULL || (i == 0 && is_repeated(name, length)))
			return false;
		if (!is_repeated(name, length))
			file = file_of(self, unit, name, length);
		/* V8 gives what is inlined from other scripts the file of the function around. */
		bool is_of_other = file != NULL && is_of_v8(unit) &&
		                   line.line > lines_of_script(self, file);
		line.file = is_of_other ? NULL : file;
		if (line.file == NULL)
			line.line = 0;
		g_array_append_val(self->lines, line);
	}
	if (is_agents && !cursor->is_overrun && lode_byte_cursor_left(cursor) > 0)
		return append_calls(self, cursor, first);
	return !cursor->is_overrun;
}

/*
 * Reads the contents of a record of source lines, which are of the code at that address, and gives
 * them to the unit. Lines that make no sense are left out and counted: the code is good without.
 */
static void read_lines(
	LodeJitdump *self, LodeByteCursor cursor, LodeJitUnit *unit, uint64_t code_address)
{
	guint first = self->lines->len, first_call = self->calls->len;

	if (lode_byte_cursor_u64(&cursor) != code_address ||
		!append_lines(self, &cursor, unit, code_address) ||
		!settle_lines(self, unit, first)) {
		g_array_set_size(self->lines, first);
		g_array_set_size(self->calls, first_call);
		self->n_broken_lines++;
	}
}

/* --- records --- */

/*
 * Header and records. A record says its size, so that one of an unknown kind is stepped over; its
 * contents are read through a cursor that ends where the record does.
 *
 *   [id, size, time] ─┬─ 0 load: pid, tid, vma, address, size, index, name, code
 *                     ├─ 1 move: pid, tid, vma, old address, new address, size, index
 *                     ├─ 2 debug info ─┐ both of the load that comes next
 *                     ├─ 4 unwinding ──┘
 *                     └─ 3 close
 */

/* Code that came to lie somewhere, in the order of the file. */
typedef struct {
	uint64_t time_ns, address;
	uint64_t old_address; /* of a move */
	uint64_t index;       /* the compiler's number, of a move */
	uint32_t unit;        /* of a load */
	bool is_move;
} JitEvent;

typedef struct {
	LodeJitdump *dump;
	GArray *events; /* JitEvent */
	/* Records before the load that they belong to; size 0: none. */
	uint64_t lines_offset, lines_size;
	uint64_t unwinding_size;
} JitdumpReader;

#define MAGIC UINT32_C(0x4a695444)
#define MAGIC_SWAPPED UINT32_C(0x4454694a)
#define FLAG_ARCH_TIMESTAMP UINT64_C(1)
#define MAX_UNITS (UINT32_C(1) << 26)
#define MAX_LINES (UINT32_C(1) << 28)

enum {
	VERSION = 1,
	HEADER_SIZE = 40,
	RECORD_HEADER_SIZE = 16,
};

enum {
	RECORD_LOAD,
	RECORD_MOVE,
	RECORD_DEBUG_INFO,
	RECORD_CLOSE,
	RECORD_UNWINDING_INFO,
};

/* A cursor over [offset, end) of the file. */
static LodeByteCursor cursor_at(const LodeJitdump *self, uint64_t offset, uint64_t end)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(
		&cursor, self->data + offset, (size_t)(end - offset), self->is_swapped);
	return cursor;
}

static uint64_t offset_of(const LodeJitdump *self, const LodeByteCursor *cursor)
{
	return (uint64_t)(cursor->at - self->data);
}

static bool error_at(GError **error, int code, uint64_t offset, const char *message)
{
	g_set_error(error, LODE_ERROR, code, "offset %" PRIu64 ": %s", offset, message);
	return false;
}

bool lode_jitdump_is_format(const char *data, size_t size)
{
	uint32_t magic;

	if (size < sizeof magic)
		return false;
	memcpy(&magic, data, sizeof magic);
	return magic == MAGIC || magic == MAGIC_SWAPPED;
}

/* Reads the header; gives the offset of the first record, 0 with an error. */
static uint64_t read_header(LodeJitdump *self, GError **error)
{
	LodeByteCursor cursor = cursor_at(self, 0, self->size);
	uint32_t magic = lode_byte_cursor_u32(&cursor);

	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return error_at(error, LODE_ERROR_CORRUPT, 0, "not a jitdump file");
	self->is_swapped = cursor.is_swapped = magic == MAGIC_SWAPPED;
	uint32_t version = lode_byte_cursor_u32(&cursor);
	uint32_t size = lode_byte_cursor_u32(&cursor);
	self->elf_machine = lode_byte_cursor_u32(&cursor);
	lode_byte_cursor_u32(&cursor); /* reserved */
	self->pid = lode_byte_cursor_u32(&cursor);
	lode_byte_cursor_u64(&cursor); /* when it was made */
	uint64_t flags = lode_byte_cursor_u64(&cursor);
	if (cursor.is_overrun)
		return error_at(error, LODE_ERROR_CORRUPT, self->size, "the header is cut short");
	if (version != VERSION) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"jitdump version %u, this lode reads version %d", version, VERSION);
		return 0;
	}
	if (size < HEADER_SIZE || size > self->size)
		return error_at(error, LODE_ERROR_CORRUPT, 8, "the header's size is wrong");
	self->is_arch_clock = flags & FLAG_ARCH_TIMESTAMP;
	return size;
}

static void read_load(JitdumpReader *self, uint64_t time_ns, LodeByteCursor *cursor)
{
	LodeJitdump *dump = self->dump;
	JitEvent event = {.time_ns = time_ns, .unit = dump->units->len};
	LodeJitUnit unit = {.unwinding_size = self->unwinding_size};

	lode_byte_cursor_skip(cursor, 16); /* pid, tid, and the address once more */
	event.address = lode_byte_cursor_u64(cursor);
	unit.size = lode_byte_cursor_u64(cursor);
	unit.index = lode_byte_cursor_u64(cursor);
	const char *name = lode_byte_cursor_text(cursor);
	unit.code_offset = offset_of(dump, cursor);
	if (lode_byte_cursor_bytes(cursor, unit.size) == NULL ||
		unit.size > UINT64_MAX - event.address) {
		cursor->is_overrun = true;
		return;
	}
	if (unit.size == 0) {
		dump->n_ignored++;
	} else {
		unit.name = keep_text(dump, name);
		if (self->lines_size > 0)
			read_lines(dump,
				cursor_at(dump, self->lines_offset,
					self->lines_offset + self->lines_size),
				&unit, event.address);
		g_array_append_val(dump->units, unit);
		g_array_append_val(self->events, event);
	}
	self->lines_size = self->unwinding_size = 0;
}

static void read_move(JitdumpReader *self, uint64_t time_ns, LodeByteCursor *cursor)
{
	JitEvent event = {.time_ns = time_ns, .is_move = true};

	lode_byte_cursor_skip(cursor, 16); /* pid, tid, and the new address once more */
	event.old_address = lode_byte_cursor_u64(cursor);
	event.address = lode_byte_cursor_u64(cursor);
	lode_byte_cursor_u64(cursor); /* the size, which the unit knows */
	event.index = lode_byte_cursor_u64(cursor);
	if (!cursor->is_overrun)
		g_array_append_val(self->events, event);
}

static void read_contents(
	JitdumpReader *self, uint32_t kind, uint64_t time_ns, LodeByteCursor *cursor)
{
	switch (kind) {
	case RECORD_LOAD:
		read_load(self, time_ns, cursor);
		break;
	case RECORD_MOVE:
		read_move(self, time_ns, cursor);
		break;
	case RECORD_DEBUG_INFO:
		/* its addresses mean something only with the load that follows */
		self->lines_offset = offset_of(self->dump, cursor);
		self->lines_size = lode_byte_cursor_left(cursor);
		break;
	case RECORD_UNWINDING_INFO:
		self->unwinding_size = lode_byte_cursor_u64(cursor);
		break;
	case RECORD_CLOSE:
		break;
	default:
		self->dump->n_unknown_records++;
		break;
	}
}

/* Reads the record at *offset and moves on. False at the end of the file, or with an error. */
static bool read_record(JitdumpReader *self, uint64_t *offset, GError **error)
{
	LodeJitdump *dump = self->dump;
	LodeByteCursor cursor = cursor_at(dump, *offset, dump->size);
	uint32_t kind = lode_byte_cursor_u32(&cursor);
	uint32_t size = lode_byte_cursor_u32(&cursor);
	uint64_t time_ns = lode_byte_cursor_u64(&cursor);

	/* the program ended, or was copied from, while it wrote: what came before is whole */
	if (cursor.is_overrun || size > dump->size - *offset) {
		dump->is_truncated = *offset < dump->size;
		return false;
	}
	if (size < RECORD_HEADER_SIZE)
		return error_at(error, LODE_ERROR_CORRUPT, *offset, "a record of no size");
	if (dump->units->len == MAX_UNITS || dump->lines->len > MAX_LINES ||
		dump->calls->len > MAX_LINES)
		return error_at(error, LODE_ERROR_LIMIT, *offset, "too much code in one file");
	cursor.end = dump->data + *offset + size;
	/* the greatest number stands for "no end" */
	read_contents(self, kind, MIN(time_ns, UINT64_MAX - 1), &cursor);
	if (cursor.is_overrun)
		return error_at(error, LODE_ERROR_CORRUPT, *offset,
			"a record is too short for what it holds");
	*offset += size;
	return true;
}

/* --- placements --- */

/*
 * Where units lay, and when: loads and moves in the order of time, each put over what lay there.
 * The result is an array by address, which is its own interval tree: the middle of a range of the
 * array is the root over it, and `reaches` has the furthest end below each root.
 */

typedef struct {
	LodeJitdump *dump;
	LodeLiveRanges *live;
	GArray *ended;     /* LodeLiveRange, of the event at hand */
	GHashTable *units; /* the compiler's number → unit + 1, the last of that number */
	GArray *origins;   /* uint64_t × units: where each was put last */
} Placer;

LODE_ORDER(compare_events, JitEvent, LODE_ASCENDING(time_ns))

LODE_ORDER(compare_placements, LodeJitPlacement, LODE_ASCENDING(address), LODE_ASCENDING(start_ns))

static void add_placements(Placer *self, uint64_t end_ns)
{
	for (guint i = 0; i < self->ended->len; i++) {
		const LodeLiveRange *range = &g_array_index(self->ended, LodeLiveRange, i);
		LodeJitPlacement placement = {.address = range->start,
			.size = range->end - range->start,
			.offset = range->start - range->origin,
			.start_ns = range->since,
			.end_ns = end_ns,
			.unit = range->owner};

		/* what was overlaid in the moment it came was never there */
		if (placement.start_ns < end_ns)
			g_array_append_val(self->dump->placements, placement);
	}
	g_array_set_size(self->ended, 0);
}

/* The unit that a move means: what begins at the old address, or else has the number. */
static uint32_t moved_unit(const Placer *self, const JitEvent *event)
{
	const LodeLiveRange *range = lode_live_ranges_find(self->live, event->old_address);
	void *found;

	if (range != NULL && range->origin == event->old_address)
		return range->owner;
	found = g_hash_table_lookup(self->units, &event->index);
	return GPOINTER_TO_UINT(found) - 1; /* UINT32_MAX where there is none */
}

static void place_unit(Placer *self, const JitEvent *event, uint32_t unit)
{
	uint64_t size = g_array_index(self->dump->units, LodeJitUnit, unit).size;
	LodeLiveRange range = {.start = event->address,
		.end = event->address + size,
		.origin = event->address,
		.since = event->time_ns,
		.owner = unit};

	lode_live_ranges_put(self->live, &range, self->ended);
	g_array_index(self->origins, uint64_t, unit) = event->address;
}

static void place_moved(Placer *self, const JitEvent *event)
{
	uint32_t unit = moved_unit(self, event);
	uint64_t size;

	if (unit >= self->dump->units->len) {
		self->dump->n_ignored++;
		return;
	}
	size = g_array_index(self->dump->units, LodeJitUnit, unit).size;
	if (size > UINT64_MAX - event->address || size > UINT64_MAX - event->old_address) {
		self->dump->n_ignored++;
		return;
	}
	/* Only where it was put last is it looked for: to search all that is live for it would take
	 * long in a hostile file. */
	if (g_array_index(self->origins, uint64_t, unit) == event->old_address)
		lode_live_ranges_remove(self->live, event->old_address, event->old_address + size,
			unit, self->ended);
	place_unit(self, event, unit);
}

static void place_event(Placer *self, const JitEvent *event)
{
	if (event->is_move) {
		place_moved(self, event);
	} else {
		LodeJitUnit *unit = &g_array_index(self->dump->units, LodeJitUnit, event->unit);
		g_hash_table_insert(self->units, &unit->index, GUINT_TO_POINTER(event->unit + 1));
		place_unit(self, event, event->unit);
	}
	add_placements(self, event->time_ns);
}

static uint64_t find_reaches(LodeJitdump *self, guint low, guint high)
{
	guint middle = low + (high - low) / 2;
	const LodeJitPlacement *placement;
	uint64_t reach, left, right;

	if (low == high)
		return 0;
	placement = &g_array_index(self->placements, LodeJitPlacement, middle);
	reach = placement->address + placement->size;
	left = find_reaches(self, low, middle);
	right = find_reaches(self, middle + 1, high);
	reach = MAX(reach, MAX(left, right));
	g_array_index(self->reaches, uint64_t, middle) = reach;
	return reach;
}

/* Makes the placements from the events, which it sorts. */
static void place(LodeJitdump *self, GArray *events)
{
	g_autoptr(LodeLiveRanges) live = lode_live_ranges_new();
	g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	g_autoptr(GHashTable) units = g_hash_table_new(g_int64_hash, g_int64_equal);
	g_autoptr(GArray) origins = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	Placer placer = {self, live, ended, units, origins};

	g_array_set_size(origins, self->units->len);
	/* Both sorts are stable: where times are equal, the order of the file is that of time. */
	g_array_sort(events, compare_events);
	for (guint i = 0; i < events->len; i++)
		place_event(&placer, &g_array_index(events, JitEvent, i));
	lode_live_ranges_list(live, ended);
	add_placements(&placer, UINT64_MAX);
	g_array_sort(self->placements, compare_placements);
	g_array_set_size(self->reaches, self->placements->len);
	find_reaches(self, 0, self->placements->len);
}

typedef struct Search Search;

struct Search {
	uint64_t address, time_ns;
	void (*visit)(Search *self, const LodeJitPlacement *placement);
	const LodeJitPlacement *best;
};

/* Visits the placements that hold the address, in their order, below the root of [low, high). */
static void search(const LodeJitdump *dump, guint low, guint high, Search *self)
{
	guint middle = low + (high - low) / 2;
	const LodeJitPlacement *placement;

	if (low == high || g_array_index(dump->reaches, uint64_t, middle) <= self->address)
		return;
	search(dump, low, middle, self);
	placement = &g_array_index(dump->placements, LodeJitPlacement, middle);
	if (placement->address > self->address)
		return;
	if (self->address - placement->address < placement->size)
		self->visit(self, placement);
	search(dump, middle + 1, high, self);
}

static void visit_now(Search *self, const LodeJitPlacement *placement)
{
	if (placement->start_ns <= self->time_ns && self->time_ns < placement->end_ns)
		self->best = placement;
}

static void visit_last(Search *self, const LodeJitPlacement *placement)
{
	if (self->best == NULL || placement->end_ns > self->best->end_ns)
		self->best = placement;
}

static void visit_next(Search *self, const LodeJitPlacement *placement)
{
	if (placement->start_ns > self->time_ns &&
		(self->best == NULL || placement->start_ns < self->best->start_ns))
		self->best = placement;
}

const LodeJitPlacement *lode_jitdump_find(
	const LodeJitdump *self, uint64_t address, uint64_t time_ns)
{
	Search now = {.address = address,
		.time_ns = time_ns,
		.visit = time_ns == UINT64_MAX ? visit_last : visit_now};

	search(self, 0, self->placements->len, &now);
	return now.best;
}

const LodeJitPlacement *lode_jitdump_find_next(
	const LodeJitdump *self, uint64_t address, uint64_t time_ns)
{
	Search next = {.address = address, .time_ns = time_ns, .visit = visit_next};

	search(self, 0, self->placements->len, &next);
	return next.best;
}

/* --- the dump --- */

static LodeJitdump *dump_new(const char *path)
{
	LodeJitdump *self = g_new0(LodeJitdump, 1);

	self->path = g_strdup(path);
	self->strings = g_string_chunk_new(1 << 14);
	self->script_lines = g_hash_table_new(g_str_hash, g_str_equal);
	self->units = g_array_new(FALSE, FALSE, sizeof(LodeJitUnit));
	self->lines = g_array_new(FALSE, FALSE, sizeof(LodeJitLine));
	self->calls = g_array_new(FALSE, FALSE, sizeof(LodeJitCall));
	self->placements = g_array_new(FALSE, FALSE, sizeof(LodeJitPlacement));
	self->reaches = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

static bool load_file(LodeJitdump *self, GError **error)
{
	g_autoptr(LodeInputFile) file = lode_input_file_open_unpacked(self->path, error);

	if (file == NULL)
		return false;
	self->data = (uint8_t *)lode_input_file_load(file, 0, file->size, error);
	self->size = file->size;
	return self->data != NULL;
}

static bool read_file(LodeJitdump *self, GError **error)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(JitEvent));
	JitdumpReader reader = {.dump = self, .events = events};
	uint64_t offset = read_header(self, error);
	GError *cause = NULL;

	if (offset == 0)
		return false;
	while (read_record(&reader, &offset, &cause))
		;
	if (cause != NULL) {
		g_propagate_error(error, cause);
		return false;
	}
	place(self, events);
	return true;
}

LodeJitdump *lode_jitdump_open(const char *path, GError **error)
{
	g_autoptr(LodeJitdump) self = dump_new(path);

	if (!load_file(self, error))
		return NULL;
	if (!read_file(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&self);
}

void lode_jitdump_close(LodeJitdump *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->units);
	g_array_unref(self->lines);
	g_array_unref(self->calls);
	g_array_unref(self->placements);
	g_array_unref(self->reaches);
	g_hash_table_unref(self->script_lines);
	g_string_chunk_free(self->strings);
	g_free(self->data);
	g_free(self->path);
	g_free(self);
}

uint64_t lode_jitdump_image_address(
	const LodeJitdump *self, const LodeJitPlacement *placement, uint64_t address)
{
	const LodeJitUnit *unit = &g_array_index(self->units, LodeJitUnit, placement->unit);

	return unit->code_offset + placement->offset + (address - placement->address);
}

/* SPDX-License-Identifier: MIT */
#include "process/interpreters/hotspot_frames.h"

#include "base/text/java_name.h"
#include "model/lines/own_lines.h"
#include "process/interpreters/foreign_memory.h"
#include "process/interpreters/script_codes.h"

#include <string.h>

/* The interpreter's frame, in words from the frame pointer on (OpenJDK, frame_x86.hpp, the same in
 * JDK 11 to 25). */
enum {
	FRAME_BYTECODE = -8,
	FRAME_METHOD = -3,
	FRAME_SENDER = -1,
	FRAME_LINK = 0,
	FRAME_RETURN = 1
};

enum {
	WORD = sizeof(uint64_t),
	FIRST_WORD = FRAME_BYTECODE,
	FRAME_WORDS = FRAME_RETURN - FRAME_BYTECODE + 1,
	MAX_THREADS = 1 << 14,
	MAX_KNOWN = 1 << 16, /* of each table */
	MAX_FRAMES = 1 << 10,
	MAX_TEXT = 1024,
	MAX_LINES_BYTES = 1 << 16,
	MAX_REST_BYTES = 256,
	MAX_STUBS_BYTES = 1 << 28,
	STACK_BYTES = 4096,
	HAS_LINES = 1, /* of a ConstMethod's flags */
	NO_ZEROS_FROM = 20,
};

/* Between two checks of what is known of a
 * method or of code: a look has to take microseconds, and classes are seldom unloaded. */
#define CHECK_NS UINT64_C(1000000000)

typedef struct {
	uint32_t bytecode, line;
} Line;

/* A method as it was read. */
typedef struct {
	uint64_t rest;                /* its ConstMethod */
	uint8_t head[MAX_REST_BYTES]; /* of it: as long as it is the same, so is the method */
	const char *function, *file;  /* kept; NULL: it has no lines */
	uint32_t first_line, last_line, code_size;
	GArray *lines; /* Line, as the table has them */
	uint64_t checked_ns;
} Method;

/* What code at an address is. */
typedef struct {
	LodeHotspotCode code;
	bool is_known;
	uint64_t checked_ns;
} Code;

/* A thread of Java. */
typedef struct {
	uint64_t thread, system; /* JavaThread, its OSThread */
} Known;

typedef struct {
	LodeHotspotLayout layout;
	LodeForeignMemory memory;
	LodeScriptCodes codes;
	GArray *list;         /* uint64_t: JavaThread, of which `threads` are */
	GHashTable *threads;  /* number → Known */
	GHashTable *methods;  /* address → Method */
	GHashTable *codes_at; /* address → Code */
	uint64_t stubs;       /* where the interpreter's code begins, once it is known */
	uint32_t stubs_bytes;
	bool no_zeros;
} Frames;

/* A frame: where the thread is, or returns to. */
typedef struct {
	uint64_t sp, fp, pc;
} Frame;

typedef struct {
	Frames *self;
	LodeScriptLook *look;
	GArray *codes;
	uint64_t now_ns;
	bool has_own;   /* a frame of the user's code */
	uint64_t stack; /* where the copy begins */
	size_t n_stack;
	uint8_t copy[STACK_BYTES];
} Walk;

static void free_method(void *data)
{
	Method *self = data;

	g_array_unref(self->lines);
	g_free(self);
}

static uint64_t pointer_at(const Frames *self, uint64_t address)
{
	return lode_foreign_pointer(&self->memory, address);
}

static uint32_t u32_at(const Frames *self, uint64_t address)
{
	uint32_t value;

	return lode_foreign_read(&self->memory, address, &value, sizeof(value)) ? value : 0;
}

static uint32_t u16_at(const Frames *self, uint64_t address)
{
	uint16_t value;

	return lode_foreign_read(&self->memory, address, &value, sizeof(value)) ? value : 0;
}

void *lode_hotspot_frames_open(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code)
{
	LodeHotspotLayout layout;

	if (!lode_hotspot_layout_read(&layout, symbols, memory) ||
		layout.rest_bytes > MAX_REST_BYTES)
		return NULL;
	Frames *self = g_new0(Frames, 1);
	self->layout = layout;
	self->memory = *memory;
	self->no_zeros = u32_at(self, layout.major_at) >= NO_ZEROS_FROM;
	lode_script_codes_init(&self->codes, "java", next_code);
	self->list = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->methods = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_method);
	self->codes_at = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return self;
}

void lode_hotspot_frames_close(void *frames)
{
	Frames *self = frames;

	if (self == NULL)
		return;
	g_array_unref(self->list);
	g_hash_table_unref(self->threads);
	g_hash_table_unref(self->methods);
	g_hash_table_unref(self->codes_at);
	lode_script_codes_clear(&self->codes);
	g_free(self);
}

/* --- threads --- */

static void list_threads(Frames *self)
{
	const LodeHotspotLayout *layout = &self->layout;

	g_hash_table_remove_all(self->threads);
	for (guint i = 0; i < self->list->len; i++) {
		Known known = {.thread = g_array_index(self->list, uint64_t, i)};
		known.system = known.thread != 0
		                       ? pointer_at(self, known.thread + layout->thread_system)
		                       : 0;
		if (known.system == 0)
			continue;
		uint32_t number = u32_at(self, known.system + layout->system_number);
		g_hash_table_insert(
			self->threads, GUINT_TO_POINTER(number), g_memdup2(&known, sizeof(known)));
	}
}

/* Reads the list of threads; whether it is another than before: that is made anew when a thread
 * begins or ends, perhaps where one was before. */
static bool read_list(Frames *self)
{
	uint64_t list = pointer_at(self, self->layout.threads_at);
	uint64_t n = list != 0 ? u32_at(self, list + self->layout.list_length) : 0;
	uint64_t all = list != 0 ? pointer_at(self, list + self->layout.list_threads) : 0;
	g_autoptr(GArray) before = self->list;

	self->list = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	g_array_set_size(self->list, (guint)MIN(n, MAX_THREADS));
	if (!lode_foreign_read(&self->memory, all, self->list->data, self->list->len * WORD))
		g_array_set_size(self->list, 0);
	return before->len != self->list->len ||
	       memcmp(before->data, self->list->data, before->len * WORD) != 0;
}

/* NULL: it is none of Java's. */
static const Known *find_thread(Frames *self, pid_t tid)
{
	if (read_list(self))
		list_threads(self);
	const Known *known = g_hash_table_lookup(self->threads, GINT_TO_POINTER(tid));
	if (known == NULL ||
		pointer_at(self, known->thread + self->layout.thread_system) == known->system)
		return known;
	/* Another thread's object lies where one was. */
	list_threads(self);
	return g_hash_table_lookup(self->threads, GINT_TO_POINTER(tid));
}

/* --- methods --- */

/* A Symbol's text; empty: it cannot be read. */
static void read_symbol(const Frames *self, uint64_t symbol, char text[MAX_TEXT])
{
	uint32_t length = symbol != 0 ? u16_at(self, symbol + self->layout.symbol_length) : 0;

	text[0] = '\0';
	if (length == 0 || length >= MAX_TEXT ||
		!lode_foreign_read(&self->memory, symbol + self->layout.symbol_text, text, length))
		length = 0;
	text[length] = '\0';
	if (!g_utf8_validate(text, -1, NULL))
		text[0] = '\0';
}

/* The text of a constant of a pool. */
static void read_constant(const Frames *self, uint64_t pool, uint32_t index, char text[MAX_TEXT])
{
	uint32_t n = u32_at(self, pool + self->layout.pool_length);

	read_symbol(self,
		index > 0 && index < n
			? pointer_at(self, pool + self->layout.pool_bytes + index * (uint64_t)WORD)
			: 0,
		text);
}

/* Numbers of either sign are zigzag coded. */
static bool read_signed(
	const Frames *self, const uint8_t *bytes, size_t n, size_t *at, int32_t *out)
{
	uint32_t value;

	if (!lode_hotspot_number_read(bytes, n, self->no_zeros, at, &value))
		return false;
	*out = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
	return true;
}

/* Reads the table behind a method's instructions: a byte has five bits for them, three for lines;
 * 255: two numbers follow; 0: the end. */
static void read_lines(const Frames *self, Method *method)
{
	g_autofree uint8_t *bytes = g_malloc(MAX_LINES_BYTES);
	uint64_t from = method->rest + self->layout.rest_bytes + method->code_size;
	size_t n = self->memory.read(self->memory.data, from, bytes, MAX_LINES_BYTES), at = 0;
	int64_t bytecode = 0, line = 0;

	while (at < n && bytes[at] != 0) {
		uint8_t byte = bytes[at++];
		int32_t more_code = byte >> 3, more_lines = byte & 7;
		if (byte == 0xff && (!read_signed(self, bytes, n, &at, &more_code) ||
					    !read_signed(self, bytes, n, &at, &more_lines)))
			return;
		bytecode += more_code;
		line += more_lines;
		if (bytecode < 0 || bytecode >= method->code_size || line <= 0 ||
			line > LODE_SCRIPT_MAX_LINE)
			return;
		const Line added = {(uint32_t)bytecode, (uint32_t)line};
		g_array_append_val(method->lines, added);
		method->first_line = method->lines->len == 1 ? added.line
		                                             : MIN(method->first_line, added.line);
		method->last_line = MAX(method->last_line, added.line);
	}
}

/* Without its class or its lines it has no function. */
static void read_names(Frames *self, Method *method)
{
	const LodeHotspotLayout *layout = &self->layout;
	char name[MAX_TEXT], signature[MAX_TEXT], source[MAX_TEXT], text[4 * MAX_TEXT];
	uint64_t pool = lode_u64_at(method->head, layout->rest_pool);
	uint64_t holder = pointer_at(self, pool + layout->pool_class);
	uint32_t file = layout->pool_file != LODE_HOTSPOT_LACKS
	                        ? u16_at(self, pool + layout->pool_file)
	                : layout->class_file != LODE_HOTSPOT_LACKS && holder != 0
	                        ? u16_at(self, holder + layout->class_file)
	                        : 0;

	read_symbol(self, holder != 0 ? pointer_at(self, holder + layout->class_name) : 0, name);
	g_autofree char *class = g_strconcat("L", name, ";", NULL);
	bool has_class = name[0] != '\0';
	read_constant(self, pool, u16_at(self, method->rest + layout->rest_name), name);
	read_constant(self, pool, u16_at(self, method->rest + layout->rest_signature), signature);
	read_constant(self, pool, file, source);
	if (!has_class || name[0] == '\0' || source[0] == '\0' || method->lines->len == 0)
		return;
	lode_java_method_name_write(text, sizeof(text), class, name, signature);
	method->function = lode_script_codes_keep(&self->codes, g_strdup(text));
	lode_java_source_path_write(text, sizeof(text), class, source);
	method->file = lode_script_codes_keep(&self->codes, g_strdup(text));
}

/* NULL: it is none. */
static const Method *find_method(Walk *walk, uint64_t address)
{
	Frames *self = walk->self;
	const LodeHotspotLayout *layout = &self->layout;
	Method *known = g_hash_table_lookup(self->methods, &address);
	uint8_t head[MAX_REST_BYTES];

	if (known != NULL && walk->now_ns < known->checked_ns + CHECK_NS)
		return known;
	uint64_t rest = address != 0 ? pointer_at(self, address + layout->method_rest) : 0;
	if (!lode_foreign_read(&self->memory, rest, head, layout->rest_bytes))
		return NULL;
	if (known != NULL && known->rest == rest &&
		memcmp(known->head, head, layout->rest_bytes) == 0) {
		known->checked_ns = walk->now_ns;
		return known;
	}
	if (g_hash_table_size(self->methods) >= MAX_KNOWN)
		g_hash_table_remove_all(self->methods);
	Method *added = g_new0(Method, 1);
	added->rest = rest;
	added->checked_ns = walk->now_ns;
	memcpy(added->head, head, layout->rest_bytes);
	added->code_size = u16_at(self, rest + layout->rest_code_size);
	added->lines = g_array_new(FALSE, FALSE, sizeof(Line));
	if ((u16_at(self, rest + layout->rest_flags) & HAS_LINES) != 0)
		read_lines(self, added);
	read_names(self, added);
	g_hash_table_replace(self->methods, g_memdup2(&address, sizeof(address)), added);
	return added;
}

/* That of the last entry at or before an instruction; entries are in the order of the source. */
static uint32_t line_at(const Method *method, uint32_t bytecode)
{
	const Line *best = NULL;

	for (guint i = 0; i < method->lines->len; i++) {
		const Line *line = &g_array_index(method->lines, Line, i);
		if (line->bytecode <= bytecode &&
			(best == NULL || line->bytecode >= best->bytecode))
			best = line;
	}
	return best != NULL ? best->line : method->first_line;
}

/* --- frames --- */

/* False: it is no method. One without lines has no frame: of native code, and made up. */
static bool add_place(Walk *walk, const LodeHotspotPlace *place)
{
	Frames *self = walk->self;
	LodeScriptLook *look = walk->look;
	const Method *method = find_method(walk, place->method);

	if (method == NULL || place->bytecode > method->code_size)
		return false;
	if (method->function == NULL || method->file == NULL)
		return true;
	if (look->n_frames == LODE_SCRIPT_MAX_FRAMES) {
		look->flags = LODE_SCRIPT_IS_CUT;
		return true;
	}
	const LodeScriptPlace found = {method->function, method->file, method->first_line,
		line_at(method, place->bytecode), method->last_line};
	if (!lode_script_codes_find(
		    &self->codes, &found, &look->frames[look->n_frames], walk->codes))
		return false;
	look->n_frames++;
	walk->has_own |= !lode_is_toolchain_file(method->file);
	return true;
}

/* Words of the stack. */
static bool read_stack(const Walk *walk, uint64_t address, uint64_t *out, size_t n)
{
	uint64_t offset = address - walk->stack;

	if (address >= walk->stack && offset <= walk->n_stack &&
		n * WORD <= walk->n_stack - offset) {
		memcpy(out, walk->copy + offset, n * WORD);
		return true;
	}
	return lode_foreign_read(&walk->self->memory, address, out, n * WORD);
}

static bool is_interpreted(Frames *self, uint64_t pc)
{
	uint64_t stubs = self->stubs == 0 ? pointer_at(self, self->layout.stubs_at) : 0;

	if (stubs != 0) {
		self->stubs = pointer_at(self, stubs + self->layout.stubs_buffer);
		self->stubs_bytes = u32_at(self, stubs + self->layout.stubs_limit);
	}
	return self->stubs != 0 && self->stubs_bytes <= MAX_STUBS_BYTES && pc >= self->stubs &&
	       pc - self->stubs < self->stubs_bytes;
}

/* Whether an instruction is the one after the monitor that is waited for: monitorenter goes on
 * before it is entered. */
static bool is_after_enter(const Frames *self, uint64_t bytecode)
{
	enum { MONITOR_ENTER = 0xc2, INVOKE_FIRST = 0xb6, INVOKE_LAST = 0xba };
	uint8_t codes[2];

	return lode_foreign_read(&self->memory, bytecode - 1, codes, sizeof(codes)) &&
	       codes[0] == MONITOR_ENTER && (codes[1] < INVOKE_FIRST || codes[1] > INVOKE_LAST);
}

/* Adds the method of a frame of the interpreter, and makes it its caller's. */
static bool add_interpreted(Walk *walk, Frame *frame, bool is_first)
{
	const Frames *self = walk->self;
	uint64_t words[FRAME_WORDS];

	if (frame->fp < (uint64_t)-FIRST_WORD * WORD ||
		!read_stack(walk, frame->fp - (uint64_t)-FIRST_WORD * WORD, words, FRAME_WORDS))
		return false;
	uint64_t bytecode = words[FRAME_BYTECODE - FIRST_WORD];
	LodeHotspotPlace place = {words[FRAME_METHOD - FIRST_WORD], 0};
	const Method *method = find_method(walk, place.method);
	if (method == NULL)
		return false;
	uint64_t start = method->rest + self->layout.rest_bytes;
	/* A native method has none. */
	if (bytecode != 0 && (bytecode < start || bytecode - start >= method->code_size))
		return false;
	place.bytecode = bytecode != 0 ? (uint32_t)(bytecode - start) : 0;
	if (is_first && place.bytecode > 0 && is_after_enter(self, bytecode))
		place.bytecode--;
	if (bytecode != 0 && !add_place(walk, &place))
		return false;
	*frame = (Frame){words[FRAME_SENDER - FIRST_WORD], words[FRAME_LINK - FIRST_WORD],
		words[FRAME_RETURN - FIRST_WORD]};
	return true;
}

/* NULL: it is not known. */
static const LodeHotspotCode *find_code(Walk *walk, uint64_t pc)
{
	Frames *self = walk->self;
	Code *known = g_hash_table_lookup(self->codes_at, &pc);
	Code code = {.checked_ns = walk->now_ns};

	if (known != NULL && walk->now_ns < known->checked_ns + CHECK_NS)
		return known->is_known ? &known->code : NULL;
	code.is_known = lode_hotspot_code_read(
		&self->layout, &self->memory, self->no_zeros, pc, &code.code);
	if (g_hash_table_size(self->codes_at) >= MAX_KNOWN)
		g_hash_table_remove_all(self->codes_at);
	known = g_memdup2(&code, sizeof(code));
	g_hash_table_replace(self->codes_at, g_memdup2(&pc, sizeof(pc)), known);
	return known->is_known ? &known->code : NULL;
}

static bool add_compiled(Walk *walk, Frame *frame)
{
	const LodeHotspotCode *code = find_code(walk, frame->pc);
	uint64_t link[2];

	if (code == NULL)
		return false;
	for (unsigned i = 0; i < code->n_places; i++)
		if (!add_place(walk, &code->places[i]))
			return false;
	uint64_t end = frame->sp + code->frame_words * (uint64_t)WORD;
	if (!read_stack(walk, end - sizeof(link), link, G_N_ELEMENTS(link)))
		return false;
	*frame = (Frame){end, link[0], link[1]};
	return true;
}

/* Where the thread left Java code; false: it has not, or is another by now. */
static bool read_anchor(const Frames *self, const Known *thread, Frame *out)
{
	const LodeHotspotLayout *layout = &self->layout;
	uint64_t anchor = thread->thread + layout->thread_anchor, system;
	const LodeForeignPart parts[] = {{anchor + layout->anchor_sp, &out->sp, WORD},
		{anchor + layout->anchor_fp, &out->fp, WORD},
		{anchor + layout->anchor_pc, &out->pc, WORD},
		{thread->thread + layout->thread_system, &system, WORD}};

	return self->memory.read_parts(self->memory.data, parts, G_N_ELEMENTS(parts)) &&
	       system == thread->system && out->sp > WORD;
}

/* Frames of what calls Java code from native code are not followed. */
static void add_frames(Walk *walk, const Frame *anchor)
{
	Frames *self = walk->self;
	Frame frame = *anchor;

	walk->stack = frame.sp - WORD;
	walk->n_stack = self->memory.read(
		self->memory.data, walk->stack, walk->copy, sizeof(walk->copy));
	/* Code that calls by a stub has it below its frame. */
	if (frame.pc == 0 && !read_stack(walk, walk->stack, &frame.pc, 1))
		return;
	for (unsigned i = 0; i < MAX_FRAMES; i++) {
		uint64_t sp = frame.sp;
		bool is_known = is_interpreted(self, frame.pc)
		                        ? add_interpreted(walk, &frame, i == 0)
		                        : add_compiled(walk, &frame);
		if (!is_known || frame.sp <= sp || (walk->look->flags & LODE_SCRIPT_IS_CUT) != 0)
			return;
	}
}

LodeFramesOutcome lode_hotspot_frames_read(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes)
{
	Frames *self = frames;
	Walk walk;
	Frame before, after;

	out_look->kind = LODE_SCRIPT_FRAMES;
	out_look->flags = out_look->n_frames = 0;
	const Known *found = find_thread(self, thread->tid);
	if (found == NULL || !read_anchor(self, found, &before))
		return LODE_FRAMES_NONE;
	walk.self = self;
	walk.look = out_look;
	walk.codes = out_codes;
	walk.now_ns = thread->now_ns;
	walk.has_own = false;
	add_frames(&walk, &before);
	if (!read_anchor(self, found, &after) || memcmp(&before, &after, sizeof(before)) != 0) {
		out_look->n_frames = 0;
		out_look->flags = LODE_SCRIPT_WAS_TORN;
		return LODE_FRAMES_TORN;
	}
	/* Without the user's code nothing is known but what the native frames say. */
	return walk.has_own ? LODE_FRAMES_FOUND : LODE_FRAMES_NONE;
}

/* SPDX-License-Identifier: MIT */
#include "process/interpreters/python_frames.h"

#include "process/interpreters/foreign_memory.h"

#include <string.h>

enum {
	/* What is read at once: some sixty frames. Half a page after a frame is not of its calls.
	 */
	WINDOW_BYTES = 8192,
	PAGE_BYTES = 4096,
	MAX_INTERPRETERS = 64,
	MAX_THREADS = 1 << 14,
	MAX_NAME = 1024, /* characters */
	MAX_TABLE_BYTES = 1 << 18,
	MAX_CODE_BYTES = 1 << 26,
	MAX_CODES = 1 << 18,  /* of a process */
	MAX_HEAD_BYTES = 512, /* of an object */
	MAX_STEPS = 4 * LODE_SCRIPT_MAX_FRAMES,
};

/* A thread is looked for again after this time, and so is the head of code read: others may be
 * where it was. */
#define THREADS_NS UINT64_C(20000000)
#define CODE_NS UINT64_C(20000000)

/* Where a thread's structure in the C library has its number: before 3.11, Python knows only that
 * structure. glibc on x86-64 and AArch64, musl. */
static const uint16_t thread_numbers[] = {720, 208, 48};

typedef struct {
	uint32_t number, first_line, n_bytes;
	uint64_t name, file, lines, instructions; /* where these are; the last up to 3.10 */
	uint64_t checked_ns;
	GArray *table; /* LodePythonLine */
} Code;

struct LodePythonFrames {
	LodePythonSymbols symbols;
	LodeForeignMemory memory;
	LodePythonLayout layout;
	uint32_t *next_code;    /* borrowed */
	GHashTable *codes;      /* address → Code */
	GHashTable *threads;    /* tid → address of its PyThreadState */
	uint16_t thread_number; /* of the above; 0: not yet known */
	GStringChunk *texts;
	uint64_t threads_ns; /* when these were listed */
	uint64_t window_start;
	size_t window_bytes; /* that were read */
	uint8_t window[WINDOW_BYTES];
};

static void free_code(void *data)
{
	Code *self = data;

	g_array_unref(self->table);
	g_free(self);
}

LodePythonFrames *lode_python_frames_new(
	const LodePythonSymbols *symbols, const LodeForeignMemory *memory, uint32_t *next_code)
{
	LodePythonLayout layout;

	if (!lode_python_layout_find(symbols, memory, &layout))
		return NULL;
	LodePythonFrames *self = g_new0(LodePythonFrames, 1);
	self->symbols = *symbols;
	self->memory = *memory;
	self->layout = layout;
	self->next_code = next_code;
	self->codes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_code);
	self->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->texts = g_string_chunk_new(4096);
	return self;
}

void lode_python_frames_free(LodePythonFrames *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->codes);
	g_hash_table_unref(self->threads);
	g_string_chunk_free(self->texts);
	g_free(self);
}

/* --- threads --- */

/* The number of the thread that has a PyThreadState; 0: not known. Where only the C library knows
 * it, the first thread that is `wanted` says where. */
static uint64_t number_of(LodePythonFrames *self, uint64_t thread, pid_t wanted)
{
	const LodePythonLayout *layout = &self->layout;
	uint32_t number = 0;

	if (layout->native_thread != 0)
		return lode_foreign_pointer(&self->memory, thread + layout->native_thread);
	uint64_t posix_thread = lode_foreign_pointer(&self->memory, thread + layout->posix_thread);
	if (self->thread_number != 0)
		return lode_foreign_read(&self->memory, posix_thread + self->thread_number, &number,
			       sizeof(number))
		               ? number
		               : 0;
	for (size_t i = 0; i < G_N_ELEMENTS(thread_numbers); i++) {
		if (!lode_foreign_read(&self->memory, posix_thread + thread_numbers[i], &number,
			    sizeof(number)) ||
			number != (uint32_t)wanted)
			continue;
		self->thread_number = thread_numbers[i];
		return number;
	}
	return 0;
}

static void list_threads_of(LodePythonFrames *self, uint64_t interpreter, pid_t wanted)
{
	const LodePythonLayout *layout = &self->layout;
	uint64_t thread = lode_foreign_pointer(&self->memory, interpreter + layout->threads_head);

	for (unsigned i = 0; i < MAX_THREADS && thread != 0; i++) {
		if (lode_foreign_pointer(&self->memory, thread + layout->interpreter) !=
			interpreter)
			return;
		uint64_t tid = number_of(self, thread, wanted);
		if (tid > 0 && tid <= INT32_MAX)
			g_hash_table_insert(self->threads, GINT_TO_POINTER((gint)tid),
				g_memdup2(&thread, sizeof(thread)));
		thread = lode_foreign_pointer(&self->memory, thread + layout->next_thread);
	}
}

static void list_threads(LodePythonFrames *self, pid_t wanted)
{
	const LodePythonLayout *layout = &self->layout;
	uint64_t interpreter = lode_foreign_pointer(
		&self->memory, self->symbols.runtime + layout->interpreters_head);

	g_hash_table_remove_all(self->threads);
	for (unsigned i = 0; i < MAX_INTERPRETERS && interpreter != 0; i++) {
		list_threads_of(self, interpreter, wanted);
		interpreter = lode_foreign_pointer(
			&self->memory, interpreter + layout->next_interpreter);
	}
}

/* Where the frames of a thread that is known begin, if the state is still that thread's. */
static bool known_thread(LodePythonFrames *self, pid_t tid, uint64_t *out_top)
{
	const uint64_t *thread = g_hash_table_lookup(self->threads, GINT_TO_POINTER(tid));

	if (thread == NULL || number_of(self, *thread, tid) != (uint64_t)tid)
		return false;
	*out_top = *thread + self->layout.top;
	return true;
}

static bool find_thread(LodePythonFrames *self, pid_t tid, uint64_t now_ns, uint64_t *out_top)
{
	if (known_thread(self, tid, out_top))
		return true;
	if (now_ns - self->threads_ns < THREADS_NS)
		return false;
	self->threads_ns = now_ns;
	list_threads(self, tid);
	return known_thread(self, tid, out_top);
}

/* --- code objects --- */

/* A character of text that has so many bytes for each. */
static gunichar character_at(const uint8_t *bytes, size_t i, unsigned width)
{
	uint16_t two;

	if (width == 1)
		return bytes[i];
	if (width == 4)
		return lode_u32_at(bytes, i * 4);
	memcpy(&two, bytes + i * 2, sizeof(two));
	return two;
}

/* A str object in UTF-8, kept as long as the frames; NULL: it is not one. */
static const char *read_text(LodePythonFrames *self, uint64_t address)
{
	const LodePythonLayout *layout = &self->layout;
	uint8_t head[MAX_HEAD_BYTES], bytes[MAX_NAME * 4];

	if (!lode_foreign_read(&self->memory, address, head, layout->ascii_bytes) ||
		lode_u64_at(head, layout->type) != self->symbols.text_type)
		return NULL;
	/* interned, three bits: bytes of a character, one each: compact, ASCII */
	uint32_t state = lode_u32_at(head, layout->text_state);
	/* `interned`, at most 3, has two bits, or in builds without a global lock 8 or 16 */
	if ((state & UINT8_MAX) <= 3)
		state >>= (state & UINT16_MAX) <= 3 ? 14 : 6;
	unsigned width = state >> 2 & 7;
	bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
	uint64_t length = lode_u64_at(head, layout->text_length);
	if (!is_compact || (width != 1 && width != 2 && width != 4) || length > INT64_MAX)
		return NULL;
	size_t n = MIN(length, MAX_NAME);
	if (n > 0 && !lode_foreign_read(&self->memory,
			     address + (is_ascii ? layout->ascii_bytes : layout->text_bytes), bytes,
			     n * width))
		return NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	for (size_t i = 0; i < n; i++) {
		gunichar character = character_at(bytes, i, width);
		g_string_append_unichar(
			text, character != 0 && g_unichar_validate(character) ? character : 0xfffd);
	}
	return g_string_chunk_insert_const(self->texts, text->str);
}

/* Appends nothing where there is no table. */
static void read_lines(LodePythonFrames *self, uint64_t address, Code *code)
{
	const LodePythonLayout *layout = &self->layout;
	uint8_t head[MAX_HEAD_BYTES];

	if (!lode_foreign_read(&self->memory, address, head, layout->bytes_data) ||
		lode_u64_at(head, layout->type) != self->symbols.bytes_type)
		return;
	size_t size = MIN(lode_u64_at(head, layout->size), MAX_TABLE_BYTES);
	uint8_t *bytes = g_malloc(MAX(size, 1));
	g_autoptr(GBytes) table = g_bytes_new_take(bytes, size);
	if (size > 0 && lode_foreign_read(&self->memory, address + layout->bytes_data, bytes, size))
		lode_python_lines_read(
			layout->table, table, code->first_line, code->n_bytes, code->table);
}

static uint32_t last_line_of(const Code *code)
{
	uint32_t last = code->first_line;

	for (guint i = 0; i < code->table->len; i++)
		last = MAX(last, g_array_index(code->table, LodePythonLine, i).line);
	return last;
}

/* What the head of a code object says; false: it is none. */
static bool read_code_head(const LodePythonFrames *self, uint64_t address, Code *out)
{
	const LodePythonLayout *layout = &self->layout;
	uint8_t head[MAX_HEAD_BYTES];

	if (!lode_foreign_read(&self->memory, address, head, layout->code_bytes) ||
		lode_u64_at(head, layout->type) != self->symbols.code_type)
		return false;
	uint64_t instructions = 0, n_bytes = 2 * lode_u64_at(head, layout->size);
	uint32_t first_line = lode_u32_at(head, layout->code_first_line);
	if (layout->code_instructions != 0) {
		instructions = lode_u64_at(head, layout->code_instructions);
		n_bytes = lode_foreign_pointer(&self->memory, instructions + layout->size);
	}
	if (n_bytes > MAX_CODE_BYTES || first_line > LODE_SCRIPT_MAX_LINE)
		return false;
	*out = (Code){
		.first_line = MAX(first_line, 1),
		.n_bytes = (uint32_t)n_bytes,
		.name = lode_u64_at(head, layout->code_name),
		.file = lode_u64_at(head, layout->code_file),
		.lines = lode_u64_at(head, layout->code_lines),
		.instructions = instructions,
	};
	return true;
}

static bool is_same_code(const Code *a, const Code *b)
{
	return a->first_line == b->first_line && a->n_bytes == b->n_bytes && a->name == b->name &&
	       a->file == b->file && a->lines == b->lines && a->instructions == b->instructions;
}

static const Code *add_code(
	LodePythonFrames *self, uint64_t address, const Code *head, GArray *out_codes)
{
	LodeScriptCode told = {.language = "python",
		.function = read_text(self, head->name),
		.file = read_text(self, head->file)};

	if (told.function == NULL || told.file == NULL ||
		g_hash_table_size(self->codes) >= MAX_CODES)
		return NULL;
	Code *added = g_memdup2(head, sizeof(*head));
	added->table = g_array_new(FALSE, FALSE, sizeof(LodePythonLine));
	read_lines(self, head->lines, added);
	added->number = told.number = (*self->next_code)++;
	told.first_line = added->first_line;
	told.last_line = last_line_of(added);
	g_array_append_val(out_codes, told);
	g_hash_table_insert(self->codes, g_memdup2(&address, sizeof(address)), added);
	return added;
}

/* NULL: there is none. */
static const Code *find_code(
	LodePythonFrames *self, uint64_t address, uint64_t now_ns, GArray *out_codes)
{
	Code *known = g_hash_table_lookup(self->codes, &address), head;

	if (known != NULL && now_ns - known->checked_ns < CODE_NS)
		return known;
	if (!read_code_head(self, address, &head))
		return NULL;
	head.checked_ns = now_ns;
	if (known == NULL || !is_same_code(known, &head))
		return add_code(self, address, &head, out_codes);
	known->checked_ns = now_ns;
	return known;
}

/* --- frames --- */

static const uint8_t *in_window(const LodePythonFrames *self, uint64_t address, size_t size)
{
	uint64_t offset = address - self->window_start;

	return address >= self->window_start && self->window_bytes >= size &&
	                       offset <= self->window_bytes - size
	               ? self->window + offset
	               : NULL;
}

/* Reads a frame with what lies before it: the frames that called it, as a rule. Frames that are
 * objects lie anywhere. */
static const uint8_t *read_window(LodePythonFrames *self, uint64_t frame)
{
	size_t size = self->layout.frame_bytes;
	uint64_t starts[] = {
		frame + size - WINDOW_BYTES, frame & ~(uint64_t)(PAGE_BYTES - 1), frame};
	unsigned first = self->layout.frame_owner == 0 ? 2 : frame < WINDOW_BYTES ? 1 : 0;

	for (unsigned i = first; i < G_N_ELEMENTS(starts); i++) {
		size_t wanted = (size_t)(frame + size - starts[i]);
		self->window_start = starts[i];
		self->window_bytes = wanted;
		if (lode_foreign_read(&self->memory, starts[i], self->window, wanted))
			return in_window(self, frame, size);
	}
	self->window_bytes = 0;
	return NULL;
}

/* Whether a frame is still that to which the pointer at `link` led. A generator that has yielded
 * meanwhile leads to none: that changes nothing in what called it. */
static bool is_linked(const LodePythonFrames *self, uint64_t frame, uint64_t link)
{
	uint64_t now = lode_foreign_pointer(&self->memory, link);

	return now == frame || now == 0;
}

/* The bytes of a frame, to which the pointer at `link` led; NULL: that is not there any more. */
static const uint8_t *find_frame(LodePythonFrames *self, uint64_t frame, uint64_t link)
{
	const uint8_t *found = in_window(self, frame, self->layout.frame_bytes);

	if (found != NULL)
		return found;
	found = read_window(self, frame);
	return found != NULL && (link == 0 || is_linked(self, frame, link)) ? found : NULL;
}

/* Where the instruction of a frame lies in its code; beyond it where that is torn. */
static uint64_t find_offset(const LodePythonFrames *self, const uint8_t *frame, uint64_t code)
{
	const LodePythonLayout *layout = &self->layout;
	const uint8_t *at = frame + layout->frame_instruction;
	int64_t last;

	switch (layout->position) {
	case LODE_PYTHON_LAST_BYTE:
	case LODE_PYTHON_LAST_UNIT:
		last = (int32_t)lode_u32_at(at, 0);
		if (last == -1)
			return 0;
		return (uint64_t)last * (layout->position == LODE_PYTHON_LAST_UNIT ? 2 : 1);
	case LODE_PYTHON_POINTER_BEFORE:
		/* Before its first instruction, a frame has the one before that. */
		last = (int64_t)(lode_u64_at(at, 0) - code - layout->code_bytes);
		return last == -2 ? 0 : (uint64_t)last;
	default:
		return lode_u64_at(at, 0) - code - layout->code_bytes;
	}
}

/* False: what is there is no frame. */
static bool add_frame(LodePythonFrames *self, const uint8_t *frame, uint64_t now_ns,
	LodeScriptLook *out_look, GArray *out_codes)
{
	const LodePythonLayout *layout = &self->layout;
	uint64_t address = lode_u64_at(frame, layout->frame_code) & ~(uint64_t)layout->tags;

	if (layout->frame_owner != 0) {
		if (frame[layout->frame_owner] > layout->last_owner)
			return false;
		if (frame[layout->frame_owner] >= layout->first_hidden_owner)
			return true;
	}
	const Code *code = find_code(self, address, now_ns, out_codes);
	if (code == NULL)
		return false;
	uint64_t offset = find_offset(self, frame, address);
	if (offset > code->n_bytes || offset % 2 != 0)
		return false;
	uint32_t line = lode_python_lines_find(code->table, (uint32_t)offset, code->first_line);
	out_look->frames[out_look->n_frames++] = (LodeScriptFrame){code->number, line};
	return true;
}

LodeFramesOutcome lode_python_frames_read(LodePythonFrames *self, pid_t tid, uint64_t now_ns,
	LodeScriptLook *out_look, GArray *out_codes)
{
	const LodePythonLayout *layout = &self->layout;
	uint64_t top, link = 0;

	out_look->kind = LODE_SCRIPT_FRAMES;
	out_look->flags = out_look->n_frames = 0;
	self->window_bytes = 0;
	if (!find_thread(self, tid, now_ns, &top))
		return LODE_FRAMES_NONE;
	uint64_t frame = lode_foreign_pointer(&self->memory, top);
	if (layout->has_cframe && frame != 0)
		frame = lode_foreign_pointer(&self->memory, frame + layout->current_frame);
	for (unsigned i = 0; frame != 0 && i < MAX_STEPS; i++) {
		if (out_look->n_frames == LODE_SCRIPT_MAX_FRAMES)
			break;
		const uint8_t *bytes = find_frame(self, frame, link);
		if (bytes == NULL || !add_frame(self, bytes, now_ns, out_look, out_codes)) {
			out_look->n_frames = 0;
			out_look->flags = LODE_SCRIPT_WAS_TORN;
			return LODE_FRAMES_TORN;
		}
		link = frame + layout->frame_previous;
		frame = lode_u64_at(bytes, layout->frame_previous);
	}
	out_look->flags = frame != 0 ? LODE_SCRIPT_IS_CUT : 0;
	return out_look->n_frames > 0 ? LODE_FRAMES_FOUND : LODE_FRAMES_NONE;
}

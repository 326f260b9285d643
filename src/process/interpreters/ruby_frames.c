/* SPDX-License-Identifier: MIT */
#include "process/interpreters/ruby_frames.h"

#include "base/arrays/partition_point.h"
#include "process/interpreters/foreign_memory.h"
#include "process/interpreters/script_codes.h"

#include <string.h>

enum {
	WINDOW = 48, /* control frames that are read at once */
	MARGIN = 12, /* of these may be added while they are read */
	MAX_FRAMES = 4096,
	MAX_STACK_UNITS = 1 << 24,
	MAX_BYTES = 192, /* of a member or the head of a structure */
	MAX_THREADS = 1 << 14,
	MAX_RACTORS = 64,
	MAX_LEVELS = 64, /* of blocks in a method */
	MAX_VARIABLES = 1 << 10,
	MAX_UNITS = 1 << 20,
	MAX_LINES = 1 << 18,
	MAX_KNOWN = 1 << 16,
	MOST_TRIES = 64, /* to find the class of a method */
};

/* Threads are listed again after this time. */
#define THREADS_NS UINT64_C(20000000)

/* Values that are the same in all versions: enum ruby_value_type, enum imemo_type, flags of objects
 * and environments. */
enum {
	TYPE_MASK = 0x1f,
	TYPE_CLASS = 2,
	TYPE_MODULE = 3,
	TYPE_STRING = 5,
	TYPE_ARRAY = 7,
	TYPE_INNER = 0x1a,
	INNER_SHIFT = 12,
	INNER_MASK = 0xf,
	INNER_VARIABLES = 2, /* special ones of a frame, which lead on to the entry */
	INNER_ENTRY = 6,
	INNER_ISEQ = 7,
	IS_SINGLETON = 0x1000,
	IS_NOT_EMBEDDED = 0x2000, /* of a string; of an array the opposite */
	LENGTH_SHIFT = 14,
	LENGTH_MASK = 0x1f,
	IS_LOCAL = 2, /* the environment of a method, not of a block in it */
	LINK_MASK = 3,
};

/* Of an environment, in words before its flags. */
enum { BEFORE_ENTRY = 16, BEFORE_LINK = 8 };

typedef struct {
	uint32_t offset, line;
} Line;

/* What the head of an iseq says. */
typedef struct {
	uint64_t body, units, label, path, lines, positions, local;
	uint32_t type, n_units, n_lines, first_line;
} Head;

typedef struct {
	Head head;
	uint64_t checked_ns;
	const char *function, *file; /* kept */
	uint32_t last_line;
	bool is_of_start; /* what is below all before the program's file is run */
	GArray *lines;    /* Line */
} Iseq;

typedef struct {
	const LodeRubyLayout *layout;
	LodeForeignMemory memory;
	uint64_t vm_at, object_at;             /* where the pointers to these are */
	uint64_t class_path_key, attached_key; /* of the variables of classes; 0: not known */
	LodeScriptCodes codes;
	GHashTable *iseqs;   /* address → Iseq */
	GHashTable *threads; /* tid → address */
	GHashTable *tries;   /* body of an iseq whose class was not found → how often */
	uint64_t threads_ns; /* when these were listed */
	uint64_t loop;       /* where an instruction is executed, 0: not known */
	uint8_t window[WINDOW * MAX_BYTES];
} Frames;

typedef struct {
	Frames *self;
	uint64_t now_ns;
	LodeScriptLook *look;
	GArray *codes;
} Walk;

static void free_iseq(void *data)
{
	Iseq *self = data;

	g_array_unref(self->lines);
	g_free(self);
}

void *lode_ruby_frames_open(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code)
{
	const LodeRubyLayout *layout = NULL;

	for (unsigned i = 0; i < lode_n_ruby_layouts && layout == NULL; i++) {
		char begin[8] = {0};
		size_t n = MIN(strlen(lode_ruby_layouts[i].version), sizeof(begin) - 1);
		if (lode_foreign_read(memory, symbols[LODE_RUBY_VERSION], begin, n) &&
			strcmp(begin, lode_ruby_layouts[i].version) == 0)
			layout = &lode_ruby_layouts[i];
	}
	if (layout == NULL)
		return NULL;
	Frames *self = g_new0(Frames, 1);
	self->layout = layout;
	self->memory = *memory;
	self->vm_at = symbols[LODE_RUBY_VM];
	self->object_at = symbols[LODE_RUBY_OBJECT];
	lode_script_codes_init(&self->codes, "ruby", next_code);
	self->iseqs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_iseq);
	self->threads = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->tries = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return self;
}

void lode_ruby_frames_close(void *frames)
{
	Frames *self = frames;

	if (self == NULL)
		return;
	g_hash_table_unref(self->iseqs);
	g_hash_table_unref(self->threads);
	g_hash_table_unref(self->tries);
	lode_script_codes_clear(&self->codes);
	g_free(self);
}

uint64_t lode_ruby_frames_loop(const void *frames)
{
	return ((const Frames *)frames)->loop;
}

/* --- threads --- */

static uint64_t pointer_at(const Frames *self, uint64_t address)
{
	return lode_foreign_pointer(&self->memory, address);
}

static void list_threads_of(Frames *self, uint64_t ractor)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t list = ractor + layout->threads, node = pointer_at(self, list);

	for (unsigned i = 0; i < MAX_THREADS && node != 0 && node != list; i++) {
		uint64_t thread = node - layout->thread_node;
		int32_t tid;
		if (lode_foreign_read(
			    &self->memory, thread + layout->thread_number, &tid, sizeof(tid)) &&
			tid > 0)
			g_hash_table_insert(self->threads, GINT_TO_POINTER(tid),
				g_memdup2(&thread, sizeof(thread)));
		node = pointer_at(self, node);
	}
}

static void list_threads(Frames *self, uint64_t vm)
{
	uint64_t list = vm + self->layout->ractors, node = pointer_at(self, list);

	g_hash_table_remove_all(self->threads);
	for (unsigned i = 0; i < MAX_RACTORS && node != 0 && node != list; i++) {
		list_threads_of(self, node - self->layout->ractor_node);
		node = pointer_at(self, node);
	}
}

/* 0: it is not known, or not that thread any more. */
static uint64_t known_thread(const Frames *self, pid_t tid)
{
	const uint64_t *thread = g_hash_table_lookup(self->threads, GINT_TO_POINTER(tid));
	int32_t number;

	return thread != NULL &&
	                       lode_foreign_read(&self->memory,
				       *thread + self->layout->thread_number, &number,
				       sizeof(number)) &&
	                       number == tid
	               ? *thread
	               : 0;
}

/* The main thread of a process that was forked may have the number that it had before. */
static uint64_t find_thread(Frames *self, const LodeFramesThread *thread, uint64_t vm)
{
	if (thread->tid == thread->pid)
		return pointer_at(self, vm + self->layout->main_thread);
	uint64_t known = known_thread(self, thread->tid);
	if (known != 0 || thread->now_ns - self->threads_ns < THREADS_NS)
		return known;
	self->threads_ns = thread->now_ns;
	list_threads(self, vm);
	return known_thread(self, thread->tid);
}

/* --- objects --- */

/* The flags of an object; 0: there is none. */
static uint64_t flags_of(const Frames *self, uint64_t object)
{
	return object % 8 == 0 ? pointer_at(self, object) : 0;
}

static bool is_inner(uint64_t flags, unsigned kind)
{
	return (flags & TYPE_MASK) == TYPE_INNER && (flags >> INNER_SHIFT & INNER_MASK) == kind;
}

/* The caller frees it; NULL: it is no string. */
static char *read_text(const Frames *self, uint64_t object)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t flags = flags_of(self, object);

	if ((flags & TYPE_MASK) != TYPE_STRING)
		return NULL;
	bool is_embedded = (flags & IS_NOT_EMBEDDED) == 0;
	uint64_t length = is_embedded ? flags >> LENGTH_SHIFT & LENGTH_MASK
	                              : pointer_at(self, object + layout->text_length);
	if (length == 0)
		return g_strdup("");
	return lode_foreign_text(&self->memory,
		is_embedded ? object + layout->text_bytes
			    : pointer_at(self, object + layout->text_pointer),
		length);
}

/* Of a path and where it leads, or a path alone. */
static char *read_path(const Frames *self, uint64_t object)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t flags = flags_of(self, object);

	if ((flags & TYPE_MASK) != TYPE_ARRAY)
		return read_text(self, object);
	uint64_t elements = (flags & IS_NOT_EMBEDDED) != 0
	                            ? object + layout->array_elements
	                            : pointer_at(self, object + layout->array_pointer);
	return read_text(self, pointer_at(self, elements));
}

/* --- classes --- */

/* A variable of a class. */
typedef struct {
	uint64_t hash, key, value;
} Variable;

/* Those of a class; how many. */
static size_t read_variables(const Frames *self, uint64_t class, Variable out[MAX_VARIABLES])
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t extension = pointer_at(self, class + layout->class_extension);
	uint64_t table = extension != 0 ? pointer_at(self, extension + layout->class_variables) : 0;
	uint64_t n = table != 0 ? pointer_at(self, table + layout->table_end) : 0;
	uint64_t entries = n != 0 ? pointer_at(self, table + layout->table_entries) : 0;

	n = MIN(n, MAX_VARIABLES);
	return entries != 0 && lode_foreign_read(&self->memory, entries, out, n * sizeof(*out))
	               ? (size_t)n
	               : 0;
}

static uint64_t find_variable(const Frames *self, uint64_t class, uint64_t key)
{
	g_autofree Variable *all = g_new(Variable, MAX_VARIABLES);
	size_t n = key != 0 ? read_variables(self, class, all) : 0;

	for (size_t i = 0; i < n; i++)
		if (all[i].key == key && all[i].hash != UINT64_MAX)
			return all[i].value;
	return 0;
}

/* The keys are those by which Object has its name, and its singleton class has Object. */
static void learn_keys(Frames *self)
{
	g_autofree Variable *all = g_new(Variable, MAX_VARIABLES);
	uint64_t object = pointer_at(self, self->object_at);

	if (self->attached_key != 0 || object == 0)
		return;
	size_t n = read_variables(self, object, all);
	for (size_t i = 0; i < n && self->class_path_key == 0; i++) {
		g_autofree char *text = read_text(self, all[i].value);
		if (g_strcmp0(text, "Object") == 0)
			self->class_path_key = all[i].key;
	}
	n = read_variables(self, pointer_at(self, object + self->layout->object_class), all);
	for (size_t i = 0; i < n; i++)
		if (all[i].value == object && all[i].hash != UINT64_MAX)
			self->attached_key = all[i].key;
}

static bool is_class(uint64_t flags)
{
	return (flags & TYPE_MASK) == TYPE_CLASS || (flags & TYPE_MASK) == TYPE_MODULE;
}

/* "Drawing#", "Drawing."; "" for a method of a single object; NULL: it is no class. */
static char *read_owner(Frames *self, uint64_t owner)
{
	uint64_t flags = flags_of(self, owner);
	const char *mark = "#";

	if (!is_class(flags))
		return NULL;
	learn_keys(self);
	if ((flags & IS_SINGLETON) != 0) {
		owner = find_variable(self, owner, self->attached_key);
		mark = ".";
		if (!is_class(flags_of(self, owner)))
			return g_strdup("");
	}
	g_autofree char *name = read_text(self, find_variable(self, owner, self->class_path_key));
	return g_strconcat(name != NULL ? name : "#<Class>", mark, NULL);
}

/* The class that has a method, by its entry; 0: the entry is of another. */
static uint64_t owner_of(const Frames *self, uint64_t entry, uint64_t method)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t definition = pointer_at(self, entry + layout->entry_definition);

	return definition != 0 && pointer_at(self, definition + layout->definition_iseq) == method
	               ? pointer_at(self, entry + layout->entry_owner)
	               : 0;
}

/* The class that has the method (an iseq) in whose environment code runs; 0: the environment is not
 * that of the method any more. */
static uint64_t find_owner(const Frames *self, uint64_t environment, uint64_t method)
{
	uint64_t words[3];

	for (unsigned i = 0; i < MAX_LEVELS; i++) {
		if (environment < BEFORE_ENTRY ||
			!lode_foreign_read(
				&self->memory, environment - BEFORE_ENTRY, words, sizeof(words)))
			return 0;
		uint64_t entry = words[0], flags = flags_of(self, entry);
		bool is_local = (words[2] & IS_LOCAL) != 0;
		if (is_local && is_inner(flags, INNER_VARIABLES)) {
			entry = pointer_at(self, entry + sizeof(uint64_t));
			flags = flags_of(self, entry);
		}
		if (is_inner(flags, INNER_ENTRY))
			return owner_of(self, entry, method);
		if (is_local)
			return 0;
		environment = words[1] & ~(uint64_t)LINK_MASK;
	}
	return 0;
}

/* --- iseqs --- */

/* False: it is none. */
static bool read_head(const Frames *self, uint64_t address, Head *out)
{
	const LodeRubyLayout *layout = self->layout;
	uint8_t bytes[MAX_BYTES];

	if (!is_inner(flags_of(self, address), INNER_ISEQ))
		return false;
	uint64_t body = pointer_at(self, address + layout->iseq_body);
	if (!lode_foreign_read(&self->memory, body, bytes, layout->code_bytes))
		return false;
	uint64_t first_line = lode_u64_at(bytes, layout->code_first_line) >> 1; /* an Integer */
	*out = (Head){
		.body = body,
		.units = lode_u64_at(bytes, layout->code_units),
		.label = lode_u64_at(bytes, layout->code_label),
		.path = lode_u64_at(bytes, layout->code_path),
		.lines = lode_u64_at(bytes, layout->code_lines),
		.positions = lode_u64_at(bytes, layout->code_positions),
		.local = lode_u64_at(bytes, layout->code_local),
		.type = lode_u32_at(bytes, layout->code_type),
		.n_units = lode_u32_at(bytes, layout->code_size),
		.n_lines = lode_u32_at(bytes, layout->code_n_lines),
		.first_line = (uint32_t)MIN(first_line, LODE_SCRIPT_MAX_LINE),
	};
	return out->type <= layout->last_type && out->n_units > 0 && out->n_units <= MAX_UNITS &&
	       out->n_lines <= MAX_LINES;
}

static bool is_same_head(const Head *a, const Head *b)
{
	return a->body == b->body && a->units == b->units && a->label == b->label &&
	       a->path == b->path && a->lines == b->lines && a->positions == b->positions &&
	       a->local == b->local && a->type == b->type && a->n_units == b->n_units &&
	       a->n_lines == b->n_lines && a->first_line == b->first_line;
}

/* False: the tables cannot be read. */
static bool read_lines(const Frames *self, Iseq *iseq)
{
	const Head *head = &iseq->head;
	size_t size = self->layout->line_bytes,
	       table_bytes = lode_ruby_positions_bytes(head->n_units);
	g_autofree uint8_t *lines = g_malloc(MAX(head->n_lines * size, 1));
	g_autofree uint8_t *table = g_malloc0(MAX(table_bytes, 1));
	g_autoptr(GArray) positions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t first = 0;

	if (head->n_lines == 0)
		return true;
	if (!lode_foreign_read(&self->memory, head->lines, lines, head->n_lines * size))
		return false;
	if (head->n_lines == 1)
		g_array_append_val(positions, first);
	else if (!lode_foreign_read(&self->memory, head->positions, table, table_bytes))
		return false;
	else
		lode_ruby_positions_read(table, head->n_units, head->n_lines, positions);
	for (guint i = 0; i < positions->len; i++) {
		const Line line = {
			g_array_index(positions, uint32_t, i), lode_u32_at(lines, i * size)};
		if (line.line == 0 || line.line > LODE_SCRIPT_MAX_LINE)
			continue;
		iseq->last_line = MAX(iseq->last_line, line.line);
		g_array_append_val(iseq->lines, line);
	}
	return true;
}

static bool may_try_again(Frames *self, uint64_t body)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(self->tries, &body));

	if (g_hash_table_size(self->tries) >= MAX_KNOWN)
		g_hash_table_remove_all(self->tries);
	g_hash_table_insert(self->tries, g_memdup2(&body, sizeof(body)), GUINT_TO_POINTER(n + 1));
	return n < MOST_TRIES;
}

/* "block in remember" of Drawing is "block in Drawing#remember"; blocks that became methods keep
 * the label of where they stand, as in Ruby's backtraces. NULL: the texts cannot be read, or the
 * environment is that of other code by now. */
static const char *name_iseq(Frames *self, const Head *head, uint64_t environment)
{
	const LodeRubyLayout *layout = self->layout;

	if (head->type == layout->type_eval)
		return lode_script_codes_keep(&self->codes, g_strdup("(eval)"));
	g_autofree char *label = read_text(self, head->label);
	g_autofree char *base = read_text(
		self, pointer_at(self, head->body + layout->code_base_label));
	if (label == NULL || base == NULL)
		return NULL;
	uint64_t method = pointer_at(self, head->local + layout->iseq_body);
	uint32_t type;
	if (!lode_foreign_read(&self->memory, method + layout->code_type, &type, sizeof(type)))
		return NULL;
	uint64_t owner = type == layout->type_method ? find_owner(self, environment, head->local)
	                                             : 0;
	if (type == layout->type_method && owner == 0 && may_try_again(self, head->body))
		return NULL;
	g_autofree char *class = owner != 0 ? read_owner(self, owner) : NULL;
	if (class == NULL || !g_str_has_suffix(label, base))
		return lode_script_codes_keep(&self->codes, g_steal_pointer(&label));
	label[strlen(label) - strlen(base)] = '\0';
	return lode_script_codes_keep(&self->codes, g_strconcat(label, class, base, NULL));
}

/* NULL: it is none. */
static const Iseq *find_iseq(Frames *self, uint64_t address, uint64_t environment, uint64_t now_ns)
{
	Iseq *known = g_hash_table_lookup(self->iseqs, &address);
	Head head;

	if (known != NULL && known->checked_ns == now_ns)
		return known;
	if (!read_head(self, address, &head))
		return NULL;
	if (known != NULL && is_same_head(&known->head, &head)) {
		known->checked_ns = now_ns;
		return known;
	}
	Iseq *added = g_new0(Iseq, 1);
	*added = (Iseq){.head = head,
		.checked_ns = now_ns,
		.function = name_iseq(self, &head, environment),
		.file = lode_script_codes_keep(&self->codes, read_path(self, head.path)),
		.last_line = MAX(head.first_line, 1),
		.lines = g_array_new(FALSE, FALSE, sizeof(Line))};
	added->is_of_start = head.type == self->layout->type_top &&
	                     g_strcmp0(added->function, "<main>") == 0;
	if (added->function == NULL || added->file == NULL || !read_lines(self, added)) {
		free_iseq(added);
		return NULL;
	}
	g_hash_table_insert(self->iseqs, g_memdup2(&address, sizeof(address)), added);
	/* Code is threaded: a unit is the address of what executes it (OPT_DIRECT_THREADED_CODE).
	 */
	if (self->loop == 0)
		self->loop = pointer_at(self, head.units);
	return added;
}

/* --- frames --- */

static uint32_t line_at(const Iseq *iseq, uint64_t unit)
{
	const Line *all = (const void *)iseq->lines->data;
	guint n = LODE_PARTITION_POINT(iseq->lines->len, i, all[i].offset <= unit);

	return n > 0 ? all[n - 1].line : MAX(iseq->head.first_line, 1);
}

/* False: what is there is no frame. One of a function in C has no code. */
static bool add_frame(Walk *walk, const uint8_t *frame)
{
	Frames *self = walk->self;
	LodeScriptLook *look = walk->look;
	uint64_t pc = lode_u64_at(frame, self->layout->frame_pc);
	uint64_t address = lode_u64_at(frame, self->layout->frame_iseq);

	if (pc == 0 || address == 0)
		return true;
	const Iseq *iseq = find_iseq(
		self, address, lode_u64_at(frame, self->layout->frame_environment), walk->now_ns);
	if (iseq == NULL)
		return false;
	if (iseq->is_of_start)
		return true;
	uint64_t unit = (pc - iseq->head.units) / sizeof(uint64_t);
	if (pc < iseq->head.units || unit > iseq->head.n_units)
		return false;
	/* The next instruction is what a frame has. */
	const LodeScriptPlace place = {iseq->function, iseq->file, iseq->head.first_line,
		line_at(iseq, unit > 0 ? unit - 1 : 0), iseq->last_line};
	if (!lode_script_codes_find(
		    &self->codes, &place, &look->frames[look->n_frames], walk->codes))
		return false;
	look->n_frames++;
	return true;
}

/* The stack of a context: frames lie from `frame` on to its end, the innermost first. */
typedef struct {
	uint64_t start, end, frame;
} Stack;

/* False: it is none. */
static bool stack_of(const LodeRubyLayout *layout, const uint8_t *context, Stack *out)
{
	uint64_t n = lode_u64_at(context, layout->context_stack_size);

	*out = (Stack){.start = lode_u64_at(context, layout->context_stack),
		.frame = lode_u64_at(context, layout->context_frame)};
	if (n > MAX_STACK_UNITS || out->start > UINT64_MAX / 2)
		return false;
	out->end = out->start + n * sizeof(uint64_t);
	return out->frame >= out->start && out->frame < out->end &&
	       (out->end - out->frame) % layout->frame_bytes == 0;
}

/* Reads the context, and the frames that it leads to, at once; *out_n frames are in the window from
 * *out_first on. */
static bool read_innermost(
	Frames *self, uint64_t thread, Stack *out_stack, const uint8_t **out_first, size_t *out_n)
{
	const LodeRubyLayout *layout = self->layout;
	size_t bytes = layout->frame_bytes, head_bytes = layout->context_frame + sizeof(uint64_t);
	uint64_t context = pointer_at(self, thread + layout->thread_context), context_now;
	uint8_t head[MAX_BYTES];
	Stack stack;

	if (!lode_foreign_read(&self->memory, context, head, head_bytes) ||
		!stack_of(layout, head, &stack))
		return false;
	uint64_t start = stack.frame -
	                 MIN(MARGIN * bytes, (stack.frame - stack.start) / bytes * bytes);
	uint64_t end = MIN(start + WINDOW * bytes, stack.end);
	const LodeForeignPart parts[] = {
		{thread + layout->thread_context, &context_now, sizeof(context_now)},
		{context, head, head_bytes}, {start, self->window, (size_t)(end - start)}};
	if (!self->memory.read_parts(self->memory.data, parts, G_N_ELEMENTS(parts)) ||
		context_now != context || !stack_of(layout, head, out_stack) ||
		out_stack->end != stack.end || out_stack->frame < start || out_stack->frame >= end)
		return false;
	*out_first = self->window + (out_stack->frame - start);
	*out_n = (size_t)(end - out_stack->frame) / bytes;
	return true;
}

/* False: torn. */
static bool add_frames(Walk *walk, uint64_t thread)
{
	Frames *self = walk->self;
	size_t bytes = self->layout->frame_bytes, n;
	const uint8_t *frames;
	Stack stack;

	if (!read_innermost(self, thread, &stack, &frames, &n))
		return false;
	for (size_t done = 0; done < MAX_FRAMES; done += n) {
		for (size_t i = 0; i < n; i++) {
			if (walk->look->n_frames == LODE_SCRIPT_MAX_FRAMES) {
				walk->look->flags = LODE_SCRIPT_IS_CUT;
				return true;
			}
			if (!add_frame(walk, frames + i * bytes))
				return false;
		}
		stack.frame += n * bytes;
		n = MIN((size_t)(stack.end - stack.frame) / bytes, WINDOW);
		frames = self->window;
		if (n == 0)
			return true;
		if (!lode_foreign_read(&self->memory, stack.frame, self->window, n * bytes))
			return false;
	}
	walk->look->flags = LODE_SCRIPT_IS_CUT;
	return true;
}

LodeFramesOutcome lode_ruby_frames_read(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes)
{
	Frames *self = frames;
	Walk walk = {self, thread->now_ns, out_look, out_codes};

	out_look->kind = LODE_SCRIPT_FRAMES;
	out_look->flags = out_look->n_frames = 0;
	uint64_t vm = pointer_at(self, self->vm_at);
	uint64_t found = vm != 0 ? find_thread(self, thread, vm) : 0;
	if (found == 0)
		return LODE_FRAMES_NONE;
	if (g_hash_table_size(self->iseqs) >= MAX_KNOWN)
		g_hash_table_remove_all(self->iseqs);
	if (add_frames(&walk, found))
		return out_look->n_frames > 0 ? LODE_FRAMES_FOUND : LODE_FRAMES_NONE;
	out_look->n_frames = 0;
	out_look->flags = LODE_SCRIPT_WAS_TORN;
	return LODE_FRAMES_TORN;
}

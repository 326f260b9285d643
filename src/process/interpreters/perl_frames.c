/* SPDX-License-Identifier: MIT */
#include "process/interpreters/perl_frames.h"

#include "process/interpreters/foreign_memory.h"
#include "process/interpreters/script_codes.h"

#include <string.h>

enum {
	HEAD_BYTES = 24, /* of the interpreter, from its statement on */
	MAX_BYTES = 128, /* of a statement, sub or info on a stack */
	WINDOW = 32,     /* contexts that are read at once */
	MARGIN = 8,      /* of these may be added while they are read */
	MAX_CONTEXTS = 1 << 14,
	MAX_STACKS = 64,
	MAX_STEPS = 1 << 13,  /* from a statement to the root of its tree */
	MAX_LEVELS = 48,      /* of operations in a statement */
	MAX_INSIDE = 1 << 11, /* operations of a statement that are looked at */
	MAX_KNOWN = 1 << 16,  /* of each table */
};

/* Values that are the same in all versions: enum svtype, CXt_SUB and others, CVf_NAMED,
 * CXp_TRYBLOCK, SVf_OOK. */
enum {
	TYPE_MASK = 0xff,
	TYPE_GLOB = 9,
	TYPE_HASH = 12,
	TYPE_SUB = 13,
	TYPE_FORMAT = 14,
	HAS_AUXILIARY = 0x2000000,
	IS_NAMED = 0x8000,
	KIND_MASK = 0xf,
	KIND_SUB = 9,
	KIND_FORMAT = 10,
	KIND_EVAL = 11,
	IS_TRY = 0x40,
	OPERATION_SHIFT = 7,
	TYPE_BITS = 0x1ff, /* of an operation */
};

typedef struct {
	uint64_t root, file_at, checked_ns;
	uint32_t root_type, line, number;
	const char *file; /* kept, as all texts */
} Statement;

/* What a sub (CV) says; closures of one text have one root. */
typedef struct {
	uint64_t root, start, name, stash, checked_ns;
	uint32_t flags;
} Sub;

typedef struct {
	Sub of; /* when it was named */
	const char *function, *file;
	uint32_t first_line, last_line; /* that it began at, that was seen last */
} Root;

/* An operation, or one of a statement that is executed no more. */
typedef struct {
	uint64_t next, sibling, first; /* the last one's sibling is the parent; 0: none */
	uint32_t type, line;           /* 0: it is no statement */
	bool is_last;
} Operation;

/* Where in a statement an operation is: it holds as long as the statement is that. */
typedef struct {
	uint64_t statement;
	uint32_t number, line;
} Inside;

typedef struct {
	const LodePerlLayout *layout;
	LodeForeignMemory memory;
	uint64_t interpreter_at; /* where the pointer to it is */
	LodeScriptCodes codes;
	GHashTable *statements; /* address → Statement */
	GHashTable *inside[2]; /* address of an operation, of that which a call returns to → Inside
	                        */
	GHashTable *subs;      /* address → Sub */
	GHashTable *roots;     /* address → Root */
	uint8_t window[WINDOW * MAX_BYTES];
} Frames;

/* The chain as it is followed outwards. */
typedef struct {
	Frames *self;
	uint64_t interpreter, main_root, now_ns;
	uint64_t statements[2]; /* that may be the current one of the sub at hand, 0: none */
	uint64_t operation;     /* that runs, or that the sub at hand returns to; 0: none */
	bool is_return;
	bool has_skipped;
	LodeScriptLook *look;
	GArray *codes;
} Walk;

static uint16_t u16_at(const uint8_t *bytes, size_t offset)
{
	uint16_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/* --- the interpreter --- */

/* Whether the operation of a number has a name. */
static bool is_named(
	const LodeForeignMemory *memory, uint64_t names, unsigned number, const char *name)
{
	char text[16];
	size_t n = strlen(name) + 1;

	return n <= sizeof(text) &&
	       lode_foreign_read(
		       memory, lode_foreign_pointer(memory, names + 8ul * number), text, n) &&
	       memcmp(text, name, n) == 0;
}

/* What is after the last operation is called so. */
static bool has_operations(
	const LodeForeignMemory *memory, uint64_t names, const LodePerlLayout *layout)
{
	return is_named(memory, names, layout->next_state, "nextstate") &&
	       is_named(memory, names, layout->debug_state, "dbstate") &&
	       is_named(memory, names, layout->enter_eval, "entereval") &&
	       is_named(memory, names, layout->leave_eval, "leaveeval") &&
	       is_named(memory, names, layout->n_operations, "freed");
}

void *lode_perl_frames_open(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code)
{
	g_autofree Frames *self = g_new0(Frames, 1);
	uint16_t size;

	self->memory = *memory;
	self->interpreter_at = symbols[LODE_PERL_INTERPRETER];
	if (!lode_foreign_read(memory, symbols[LODE_PERL_SIZE], &size, sizeof(size)))
		return NULL;
	for (unsigned i = 0; i < lode_n_perl_layouts && self->layout == NULL; i++)
		if (lode_perl_layouts[i].interpreter_size == size &&
			has_operations(
				memory, symbols[LODE_PERL_OPERATIONS], &lode_perl_layouts[i]))
			self->layout = &lode_perl_layouts[i];
	if (self->layout == NULL)
		return NULL;
	lode_script_codes_init(&self->codes, "perl", next_code);
	self->statements = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	for (size_t i = 0; i < G_N_ELEMENTS(self->inside); i++)
		self->inside[i] = g_hash_table_new_full(
			g_int64_hash, g_int64_equal, g_free, g_free);
	self->subs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->roots = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return g_steal_pointer(&self);
}

void lode_perl_frames_close(void *frames)
{
	Frames *self = frames;

	if (self == NULL)
		return;
	g_hash_table_unref(self->statements);
	for (size_t i = 0; i < G_N_ELEMENTS(self->inside); i++)
		g_hash_table_unref(self->inside[i]);
	g_hash_table_unref(self->subs);
	g_hash_table_unref(self->roots);
	lode_script_codes_clear(&self->codes);
	g_free(self);
}

/* The entry of a table, which is made where there is none. */
static void *entry_at(GHashTable *table, uint64_t address, size_t size)
{
	void *entry = g_hash_table_lookup(table, &address);

	if (entry == NULL) {
		entry = g_malloc0(size);
		g_hash_table_insert(table, g_memdup2(&address, sizeof(address)), entry);
	}
	return entry;
}

static void limit_tables(Frames *self)
{
	GHashTable *const tables[] = {
		self->statements, self->inside[0], self->inside[1], self->subs, self->roots};

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (g_hash_table_size(tables[i]) >= MAX_KNOWN)
			g_hash_table_remove_all(tables[i]);
}

/* --- statements --- */

static bool is_statement_type(const LodePerlLayout *layout, uint32_t type)
{
	return type == layout->next_state || type == layout->debug_state;
}

/* Follows the siblings of an operation to the last, which leads to its parent, and so on to the
 * root, or to a statement whose root is known. False: it is none, or is being freed. */
static bool find_root(Frames *self, uint64_t address, Statement *out)
{
	const LodePerlLayout *layout = self->layout;
	uint8_t bytes[MAX_BYTES];
	size_t size = layout->operation_flags + 1u;

	for (unsigned i = 0; i < MAX_STEPS; i++) {
		const Statement *known = g_hash_table_lookup(self->statements, &address);
		if (known != NULL && known->checked_ns == out->checked_ns && known->root != 0) {
			out->root = known->root;
			out->root_type = known->root_type;
			return true;
		}
		if (!lode_foreign_read(&self->memory, address, bytes, size))
			return false;
		uint64_t next = lode_u64_at(bytes, layout->operation_sibling);
		if (next == 0) {
			out->root = address;
			out->root_type = u16_at(bytes, layout->operation_type) & TYPE_BITS;
			return (bytes[layout->operation_flags] & layout->more_siblings) == 0;
		}
		address = next;
	}
	return false;
}

/* "(eval 17)" is one of many texts that are the same. */
static const char *read_file(Frames *self, uint64_t address)
{
	char *file = lode_foreign_text(&self->memory, address, UINT64_MAX);

	if (file != NULL && g_str_has_prefix(file, "(eval "))
		memcpy(file, "(eval)", sizeof("(eval)"));
	return lode_script_codes_keep(&self->codes, file);
}

/* NULL: there is no statement any more. */
static const Statement *find_statement(Frames *self, uint64_t address, uint64_t now_ns)
{
	const LodePerlLayout *layout = self->layout;
	Statement *known = g_hash_table_lookup(self->statements, &address);
	uint8_t bytes[MAX_BYTES];

	if (known != NULL && known->checked_ns == now_ns)
		return known;
	if (!lode_foreign_read(&self->memory, address, bytes, layout->statement_bytes) ||
		!is_statement_type(layout, u16_at(bytes, layout->operation_type) & TYPE_BITS))
		return NULL;
	Statement read = {
		.file_at = lode_u64_at(bytes, layout->statement_file),
		.checked_ns = now_ns,
		.line = lode_u32_at(bytes, layout->statement_line),
		.number = lode_u32_at(bytes, layout->statement_number),
	};
	if (known != NULL && known->file_at == read.file_at && known->line == read.line &&
		known->number == read.number) {
		known->checked_ns = now_ns;
		return known;
	}
	read.file = read_file(self, read.file_at);
	if (read.file == NULL || !find_root(self, address, &read))
		return NULL;
	known = entry_at(self->statements, address, sizeof(*known));
	*known = read;
	return known;
}

/* --- what is inside of statements --- */

/* False: it cannot be read. */
static bool read_operation(const Frames *self, uint64_t address, Operation *out)
{
	const LodePerlLayout *layout = self->layout;
	uint8_t bytes[MAX_BYTES];
	size_t n = address != 0 ? self->memory.read(self->memory.data, address, bytes,
					  layout->statement_bytes)
	                        : 0;

	/* Operations without kids are shorter. */
	if (n < layout->operation_first)
		return false;
	uint32_t type = u16_at(bytes, layout->operation_type) & TYPE_BITS;
	uint64_t was = type == 0 ? lode_u64_at(bytes, layout->operation_target) : type;
	bool has_kids = (bytes[layout->operation_kids] & layout->has_kids) != 0 &&
	                n >= layout->operation_first + sizeof(uint64_t);
	*out = (Operation){
		.next = lode_u64_at(bytes, layout->operation_next),
		.sibling = lode_u64_at(bytes, layout->operation_sibling),
		.first = has_kids ? lode_u64_at(bytes, layout->operation_first) : 0,
		.type = type,
		.is_last = (bytes[layout->operation_flags] & layout->more_siblings) == 0,
	};
	if (was <= UINT16_MAX && is_statement_type(layout, (uint32_t)was) &&
		n >= layout->statement_bytes)
		out->line = lode_u32_at(bytes, layout->statement_line);
	return true;
}

/* Whether it is one that is executed. */
static bool is_statement(const Operation *operation)
{
	return operation->line != 0 && operation->type != 0;
}

/* Looks for the last statement before one of the kids of an operation, that kid included: *out_line
 * is its line, 0: there is none. False: one that is executed, or the kid is none of these. */
static bool find_before(const Frames *self, uint64_t parent, uint64_t kid, uint32_t *out_line)
{
	Operation one;

	*out_line = 0;
	if (!read_operation(self, parent, &one))
		return false;
	uint64_t at = one.first;
	for (unsigned i = 0; i < MAX_INSIDE && read_operation(self, at, &one); i++) {
		if (is_statement(&one))
			return false;
		*out_line = one.line != 0 ? one.line : *out_line;
		if (at == kid || one.is_last)
			return at == kid;
		at = one.sibling;
	}
	return false;
}

/* The parent of an operation; 0: it has none, or it cannot be read. */
static uint64_t parent_of(const Frames *self, uint64_t address)
{
	Operation one = {.sibling = address};

	for (unsigned i = 0; i < MAX_INSIDE; i++) {
		if (!read_operation(self, one.sibling, &one))
			return 0;
		if (one.is_last)
			return one.sibling;
	}
	return 0;
}

/* Whether an operation is one of those that follow a statement up to the next one. */
static bool follows(const Frames *self, uint64_t statement, uint64_t address)
{
	Operation one;

	if (!read_operation(self, statement, &one))
		return false;
	for (unsigned i = 0; i < MAX_LEVELS && !one.is_last; i++) {
		uint64_t at = one.sibling;
		if (!read_operation(self, at, &one) || is_statement(&one))
			return false;
		if (at == address)
			return true;
	}
	return false;
}

/* Climbs from an operation to the statement: the line on the way; 0: none is, or it is of another
 * statement. */
static uint32_t find_line_above(const Frames *self, uint64_t statement, uint64_t address)
{
	uint32_t line = 0, before;

	for (unsigned i = 0; i < MAX_LEVELS; i++) {
		if (follows(self, statement, address))
			return line;
		uint64_t parent = parent_of(self, address);
		if (parent == 0 || !find_before(self, parent, address, &before))
			return 0;
		line = line != 0 ? line : before;
		address = parent;
	}
	return 0;
}

/* A walk through what follows a statement up to the next one, each operation before its kids. */
typedef struct {
	const Frames *self;
	uint64_t return_to; /* the call that returns there is looked for; 0: none */
	unsigned n;         /* operations that were looked at */
	uint32_t found;     /* the line of that */
	uint32_t lowest;    /* of all lines */
} Descent;

/* From an operation and its following siblings, those before which have a line. True: found. */
static bool descend(Descent *descent, uint64_t address, uint32_t line, unsigned level)
{
	Operation one = {.sibling = address};

	while (!one.is_last && descent->n++ < MAX_INSIDE &&
		read_operation(descent->self, one.sibling, &one)) {
		if (is_statement(&one))
			return false;
		line = one.line != 0 ? one.line : line;
		if (one.line != 0)
			descent->lowest = MIN(descent->lowest, one.line);
		if (one.type == descent->self->layout->enter_sub && descent->return_to != 0 &&
			one.next == descent->return_to) {
			descent->found = line;
			return true;
		}
		if (one.first != 0 && level < MAX_LEVELS &&
			descend(descent, one.first, line, level + 1))
			return true;
	}
	return false;
}

static Descent descend_from(const Frames *self, uint64_t statement, uint64_t return_to)
{
	Descent descent = {.self = self, .return_to = return_to, .lowest = UINT32_MAX};
	Operation one;

	if (read_operation(self, statement, &one) && !one.is_last)
		descend(&descent, one.sibling, 0, 0);
	return descent;
}

/* The line in a statement at which the walk is. */
static uint32_t line_in(const Walk *walk, uint64_t address, const Statement *statement)
{
	Frames *self = walk->self;

	if (walk->operation == 0)
		return statement->line;
	Inside *known = entry_at(self->inside[walk->is_return], walk->operation, sizeof(*known));
	if (known->statement != address || known->number != statement->number)
		*known = (Inside){address, statement->number,
			walk->is_return ? descend_from(self, address, walk->operation).found
					: find_line_above(self, address, walk->operation)};
	return known->line != 0 ? known->line : statement->line;
}

/* --- subs --- */

/* The text of a key (HEK); NULL: it cannot be read. The caller frees it. */
static char *read_key(const Frames *self, uint64_t address)
{
	const LodePerlLayout *layout = self->layout;
	uint32_t length;

	if (address == 0 ||
		!lode_foreign_read(
			&self->memory, address + layout->key_length, &length, sizeof(length)) ||
		length > INT32_MAX)
		return NULL;
	return length == 0 ? g_strdup("")
	                   : lode_foreign_text(&self->memory, address + layout->key_text, length);
}

/* The body of an SV of a type; 0: it is of another. */
static uint64_t body_of(const Frames *self, uint64_t address, uint32_t type, uint32_t flag)
{
	const LodePerlLayout *layout = self->layout;
	uint8_t head[MAX_BYTES];

	if (!lode_foreign_read(&self->memory, address, head, layout->flags + sizeof(uint32_t)))
		return 0;
	uint32_t flags = lode_u32_at(head, layout->flags);
	return (flags & TYPE_MASK) == type && (flags & flag) == flag
	               ? lode_u64_at(head, layout->body)
	               : 0;
}

/* Of a package; NULL: it has none any more. */
static char *read_package(const Frames *self, uint64_t stash)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t body = body_of(self, stash, TYPE_HASH, HAS_AUXILIARY);
	uint32_t n_names;

	if (body == 0 || !lode_foreign_read(&self->memory, body + layout->stash_name_count,
				 &n_names, sizeof(n_names)))
		return NULL;
	uint64_t name = lode_foreign_pointer(&self->memory, body + layout->stash_name);
	return read_key(self, n_names != 0 ? lode_foreign_pointer(&self->memory, name) : name);
}

static const char *name_sub(Frames *self, const Sub *sub)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t key = sub->name, stash = sub->stash;

	if ((sub->flags & IS_NAMED) == 0) {
		uint64_t body = body_of(self, sub->name, TYPE_GLOB, 0);
		if (body == 0)
			return NULL;
		key = lode_foreign_pointer(&self->memory, body + layout->glob_name);
		stash = lode_foreign_pointer(&self->memory, body + layout->glob_stash);
	}
	g_autofree char *name = read_key(self, key), *package = read_package(self, stash);
	if (name == NULL)
		return NULL;
	return lode_script_codes_keep(&self->codes,
		g_strconcat(package != NULL ? package : "__ANON__", "::", name, NULL));
}

static bool is_same_sub(const Sub *a, const Sub *b)
{
	return a->root == b->root && a->start == b->start && a->name == b->name &&
	       a->stash == b->stash && a->flags == b->flags;
}

/* What is known of the code of a sub; NULL: it is none in Perl. */
static Root *find_sub(Frames *self, uint64_t address, uint64_t now_ns)
{
	const LodePerlLayout *layout = self->layout;
	Sub *known = g_hash_table_lookup(self->subs, &address);
	uint8_t bytes[MAX_BYTES];

	if (known != NULL && known->checked_ns == now_ns)
		return g_hash_table_lookup(self->roots, &known->root);
	uint64_t body = body_of(self, address, TYPE_SUB, 0);
	if (body == 0)
		body = body_of(self, address, TYPE_FORMAT, 0);
	if (body == 0 || !lode_foreign_read(&self->memory, body, bytes, layout->sub_bytes))
		return NULL;
	const Sub read = {
		.root = lode_u64_at(bytes, layout->sub_root),
		.start = lode_u64_at(bytes, layout->sub_start),
		.name = lode_u64_at(bytes, layout->sub_name),
		.stash = lode_u64_at(bytes, layout->sub_stash),
		.checked_ns = now_ns,
		.flags = lode_u32_at(bytes, layout->sub_flags),
	};
	if (read.root == 0)
		return NULL;
	Root *root = entry_at(self->roots, read.root, sizeof(*root));
	if (root->function == NULL || !is_same_sub(&root->of, &read)) {
		const Statement *start = find_statement(self, read.start, now_ns);
		*root = (Root){.of = read, .function = name_sub(self, &read)};
		if (start != NULL && start->root == read.root) {
			root->file = start->file;
			root->last_line = start->line;
			root->first_line = MIN(
				start->line, descend_from(self, read.start, 0).lowest);
		}
	}
	*(Sub *)entry_at(self->subs, address, sizeof(Sub)) = read;
	return root->function != NULL ? root : NULL;
}

/* --- the chain --- */

static bool add_frame(Walk *walk, const LodeScriptPlace *place)
{
	LodeScriptLook *look = walk->look;

	if (!lode_script_codes_find(
		    &walk->self->codes, place, &look->frames[look->n_frames], walk->codes))
		return false;
	look->n_frames++;
	return true;
}

/* The first of the statements that is of the code of a root, or of any of a type, and the line in
 * it; NULL: none is. */
static const Statement *pick_statement(
	const Walk *walk, uint64_t root, uint32_t root_type, uint32_t *out_line)
{
	for (size_t i = 0; i < G_N_ELEMENTS(walk->statements); i++) {
		const Statement *one = walk->statements[i] != 0
		                               ? find_statement(walk->self, walk->statements[i],
							 walk->now_ns)
		                               : NULL;
		if (one != NULL && (root != 0 ? one->root == root
					      : one->root_type == root_type && root_type != 0)) {
			*out_line = line_in(walk, walk->statements[i], one);
			return one;
		}
	}
	return NULL;
}

static bool add_sub(Walk *walk, uint64_t sub)
{
	Root *root = find_sub(walk->self, sub, walk->now_ns);
	uint32_t line = 0;

	if (root == NULL)
		return false;
	const Statement *statement = pick_statement(walk, root->of.root, 0, &line);
	if (statement == NULL && walk->look->n_frames > 0)
		return false;
	if (statement != NULL && walk->look->n_frames == 0) {
		root->file = statement->file;
		root->last_line = line;
	}
	LodeScriptPlace place = {.function = root->function,
		.file = root->file,
		.first_line = root->first_line,
		.line = root->last_line};
	if (statement != NULL) {
		place.file = statement->file;
		place.line = line;
		place.first_line = root->first_line > 0 ? root->first_line : line;
	}
	return place.file != NULL && add_frame(walk, &place);
}

static uint64_t compiling(const Walk *walk)
{
	return walk->interpreter + walk->self->layout->compiling;
}

/* Code that is no sub's; while it is compiled, the compiler says where it is. */
static bool add_file(Walk *walk, const char *function, uint64_t root, uint32_t root_type)
{
	Frames *self = walk->self;
	const LodePerlLayout *layout = self->layout;
	LodeScriptPlace place = {.first_line = 1};
	uint8_t bytes[MAX_BYTES];

	if (walk->statements[0] == compiling(walk)) {
		if (!lode_foreign_read(
			    &self->memory, compiling(walk), bytes, layout->statement_bytes))
			return false;
		place.file = read_file(self, lode_u64_at(bytes, layout->statement_file));
		place.line = lode_u32_at(bytes, layout->statement_line);
	} else {
		const Statement *statement = pick_statement(walk, root, root_type, &place.line);
		if (statement == NULL)
			return false;
		place.file = statement->file;
	}
	if (place.file == NULL)
		return false;
	place.function = lode_script_codes_keep(
		&self->codes, g_strdup(strcmp(place.file, "(eval)") == 0 ? "(eval)" : function));
	return place.function != NULL && add_frame(walk, &place);
}

typedef enum { GOES_ON, IS_TORN, HAS_ENDED } Step;

/* A context, in which the code at hand may have been called. */
static Step add_context(Walk *walk, const uint8_t *context)
{
	const LodePerlLayout *layout = walk->self->layout;
	unsigned kind = context[layout->context_kind] & KIND_MASK;
	bool is_added = true;

	if (walk->look->n_frames == LODE_SCRIPT_MAX_FRAMES) {
		walk->look->flags = LODE_SCRIPT_IS_CUT;
		return HAS_ENDED;
	}
	if (kind == KIND_SUB || kind == KIND_FORMAT) {
		is_added = add_sub(walk, lode_u64_at(context, layout->context_sub));
	} else if (kind == KIND_EVAL && (context[layout->context_kind] & IS_TRY) == 0) {
		unsigned operation = u16_at(context, layout->context_operation) >> OPERATION_SHIFT;
		is_added = add_file(walk, operation == layout->enter_eval ? "(eval)" : "<required>",
			0, layout->leave_eval);
	} else {
		return GOES_ON;
	}
	/* The innermost may be half made or half removed; its caller is where it will go on. */
	if (!is_added && (walk->look->n_frames > 0 || walk->has_skipped))
		return IS_TORN;
	walk->has_skipped |= !is_added;
	walk->statements[0] = lode_u64_at(context, layout->context_statement);
	walk->statements[1] = 0;
	walk->is_return = true;
	walk->operation = kind == KIND_SUB ? lode_u64_at(context, layout->context_return) : 0;
	/* Where else the compiler was is in what it will go back to. */
	if (walk->statements[0] != compiling(walk))
		return GOES_ON;
	walk->look->flags = LODE_SCRIPT_IS_CUT;
	return HAS_ENDED;
}

/* Contexts `first` to `end`, the last of which is the innermost, from memory. */
static Step add_contexts(Walk *walk, uint64_t contexts, uint32_t end)
{
	size_t size = walk->self->layout->context_bytes;

	while (end > 0) {
		uint32_t n = MIN(end, WINDOW);
		end -= n;
		if (!lode_foreign_read(&walk->self->memory, contexts + end * size,
			    walk->self->window, n * size))
			return IS_TORN;
		while (n-- > 0) {
			Step step = add_context(walk, walk->self->window + n * size);
			if (step != GOES_ON)
				return step;
		}
	}
	return GOES_ON;
}

/* What a stack of contexts says of itself. */
typedef struct {
	uint64_t contexts, previous;
	int32_t index, most; /* of the last context; -1: none */
} Stack;

static Stack stack_of(const LodePerlLayout *layout, const uint8_t *info)
{
	return (Stack){lode_u64_at(info, layout->contexts),
		lode_u64_at(info, layout->previous_info),
		(int32_t)lode_u32_at(info, layout->context_index),
		(int32_t)lode_u32_at(info, layout->context_most)};
}

static bool is_sound(const Stack *stack)
{
	return stack->contexts != 0 && stack->index >= -1 && stack->most < MAX_CONTEXTS &&
	       stack->index <= stack->most;
}

/* Reads the statements and the innermost contexts at once. */
static Step add_innermost(Walk *walk, Stack *out_stack)
{
	Frames *self = walk->self;
	const LodePerlLayout *layout = self->layout;
	uint64_t head_at = walk->interpreter + layout->statement;
	size_t size = layout->context_bytes, to_info = layout->stack_info - layout->statement;
	uint8_t head[HEAD_BYTES], after[HEAD_BYTES], info[MAX_BYTES];

	if (!lode_foreign_read(&self->memory, head_at, head, sizeof(head)))
		return IS_TORN;
	uint64_t info_at = lode_u64_at(head, to_info);
	if (!lode_foreign_read(&self->memory, info_at, info, layout->info_bytes))
		return IS_TORN;
	Stack stack = stack_of(layout, info);
	if (!is_sound(&stack))
		return IS_TORN;
	int32_t end = MIN(stack.index + 1 + MARGIN, stack.most + 1), first = MAX(end - WINDOW, 0);
	uint64_t contexts = stack.contexts;
	const LodeForeignPart parts[] = {{head_at, head, sizeof(head)},
		{info_at, info, layout->info_bytes},
		{contexts + (uint64_t)first * size, self->window, (size_t)(end - first) * size},
		{walk->interpreter + layout->operation, &walk->operation, sizeof(uint64_t)},
		{head_at, after, sizeof(after)}};
	if (!self->memory.read_parts(self->memory.data, parts, G_N_ELEMENTS(parts)))
		return IS_TORN;
	stack = stack_of(layout, info);
	if (lode_u64_at(head, to_info) != info_at || stack.contexts != contexts ||
		!is_sound(&stack) || stack.index >= end || stack.index + 1 < first)
		return IS_TORN;
	walk->statements[0] = lode_u64_at(head, 0);
	walk->statements[1] = lode_u64_at(after, 0);
	for (int32_t i = stack.index; i >= first; i--) {
		Step step = add_context(walk, self->window + (size_t)(i - first) * size);
		if (step != GOES_ON)
			return step;
	}
	*out_stack = stack;
	return add_contexts(walk, contexts, (uint32_t)first);
}

static Step add_outer(Walk *walk, uint64_t info_at)
{
	const LodePerlLayout *layout = walk->self->layout;
	Step step = GOES_ON;

	for (unsigned i = 0; i < MAX_STACKS && info_at != 0 && step == GOES_ON; i++) {
		uint8_t info[MAX_BYTES];
		if (!lode_foreign_read(&walk->self->memory, info_at, info, layout->info_bytes))
			return IS_TORN;
		const Stack stack = stack_of(layout, info);
		if (!is_sound(&stack))
			return IS_TORN;
		step = add_contexts(walk, stack.contexts, (uint32_t)(stack.index + 1));
		info_at = stack.previous;
	}
	return step;
}

/* What the main program runs is outside all contexts. */
static Step add_main(Walk *walk)
{
	if (walk->look->n_frames == LODE_SCRIPT_MAX_FRAMES) {
		walk->look->flags = LODE_SCRIPT_IS_CUT;
		return HAS_ENDED;
	}
	return add_file(walk, "<main>", walk->main_root, 0) ? HAS_ENDED : IS_TORN;
}

LodeFramesOutcome lode_perl_frames_read(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes)
{
	Frames *self = frames;
	Walk walk = {.self = self, .now_ns = thread->now_ns, .look = out_look, .codes = out_codes};
	Stack stack = {0};

	out_look->kind = LODE_SCRIPT_FRAMES;
	out_look->flags = out_look->n_frames = 0;
	walk.interpreter = lode_foreign_pointer(&self->memory, self->interpreter_at);
	if (thread->tid != thread->pid || walk.interpreter == 0)
		return LODE_FRAMES_NONE;
	limit_tables(self);
	walk.main_root = lode_foreign_pointer(
		&self->memory, walk.interpreter + self->layout->main_root);
	Step step = add_innermost(&walk, &stack);
	if (step == GOES_ON)
		step = add_outer(&walk, stack.previous);
	if (step == GOES_ON)
		step = add_main(&walk);
	/* While the innermost is removed, the compiler may be all that is left. */
	if (step != IS_TORN && out_look->n_frames > 0)
		return LODE_FRAMES_FOUND;
	out_look->n_frames = 0;
	out_look->flags = LODE_SCRIPT_WAS_TORN;
	return LODE_FRAMES_TORN;
}

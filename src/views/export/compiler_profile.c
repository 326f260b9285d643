/* SPDX-License-Identifier: MIT */
/*
 * Tables of functions, lines and calls are filled as the instructions come, in one pass for each
 * binary, and become a tree in the end.
 */
#include "views/export/compiler_profile.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/code.h"
#include "views/export/exported_binary.h"
#include "views/export/stack_export.h"

#include <stdlib.h>
#include <string.h>

/* A function by itself, or inlined into another. */
typedef struct {
	uint32_t parent; /* LODE_NONE: it is not inlined */
	uint32_t offset, discriminator;
	const char *name; /* interned: equal names are one pointer */
	double head;
} Node;

/* Of the functions of the binary that have a line, as copies of one in the source do, the sum. */
typedef struct {
	uint32_t node, offset, discriminator;
	uint32_t function; /* the last that had it */
	double most;       /* of an instruction there */
	double sum;        /* of the functions before */
} Line;

typedef struct {
	uint32_t line;
	const char *name;
	double count;
} Call;

typedef struct {
	const LodeProfile *profile;
	LodeCompiler compiler;
	GStringChunk *names;
	GArray *nodes, *lines, *calls; /* Node, Line, Call */
	LodeIdCache node_ids, line_ids, call_ids;
	const char **names_of; /* of each function of the profile, as linked; NULL: not known yet */
} Builder;

/* An executed instruction of a binary. */
typedef struct {
	uint64_t address;
	double count;
	uint32_t function, instruction;
} Place;

/* --- names and numbers --- */

/* What compilers append to the names of parts and copies of functions, from the first dot on; in
 * C and C++ no name has one. Names of other languages have none of these. */
static char *original_name(const char *symbol)
{
	static const char *const suffixes[] = {".part.", ".isra.", ".constprop.", ".lto_priv.",
		".cold", ".llvm.", ".localalias", "@plt", "@@", "@"};
	size_t end = strlen(symbol);

	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		const char *found = strstr(symbol + (symbol[0] != '\0'), suffixes[i]);
		if (found != NULL)
			end = MIN(end, (size_t)(found - symbol));
	}
	return g_strndup(symbol, end);
}

/* Entries of a part of a function are none of the function. */
static bool is_part(const LodeFunction *function)
{
	const char *symbol = function->symbol != NULL ? function->symbol : function->name;

	return strstr(symbol, ".part.") != NULL || strstr(symbol, ".cold") != NULL;
}

/* Neither form can quote: a name of other characters, or that a terminal acts upon, is no
 * compiler's. */
static bool is_writable(const char *name)
{
	g_autofree char *harmless = lode_stack_export_text(name);

	return name[0] != '\0' && !g_ascii_isdigit(name[0]) && strchr(name, ' ') == NULL &&
	       strcmp(harmless, name) == 0;
}

/*
 * A component of LLVM's discriminators, which are three, each in a prefix code: base, how often the
 * instruction was duplicated, and the copy. See llvm::DILocation::decodeDiscriminator().
 */
static uint32_t take_component(uint32_t *discriminator)
{
	uint32_t all = *discriminator, value = all >> 1;

	if ((all & 1) != 0) {
		*discriminator = all >> 1;
		return 0;
	}
	*discriminator = all >> ((all & 0x40) != 0 ? 14 : 7);
	return (value & 0x20) != 0 ? ((value >> 1) & 0xfe0) | (value & 0x1f) : value & 0x1f;
}

static bool is_gnu(const LodeSourceScope *scope)
{
	return scope->producer != NULL && g_str_has_prefix(scope->producer, "GNU ");
}

/* GCC has discriminators in its own code, where it looks for them, since version 13. */
static bool is_old_gcc(const char *producer)
{
	const char *version = producer;

	while (*version != '\0' &&
		!(g_ascii_isdigit(version[0]) && version > producer && version[-1] == ' '))
		version++;
	return g_ascii_strtoull(version, NULL, 10) < 13;
}

/* *out_copies: as many instructions share the executions. */
static uint32_t discriminator_of(
	const Builder *self, const LodeSourceScope *scope, uint32_t *out_copies)
{
	uint32_t left = scope->discriminator;

	*out_copies = 1;
	if (is_gnu(scope) != (self->compiler == LODE_COMPILER_GCC))
		return 0;
	if (self->compiler == LODE_COMPILER_GCC)
		return is_old_gcc(scope->producer) ? 0 : left & 0xffff;
	uint32_t base = take_component(&left);
	uint32_t copies = take_component(&left);
	*out_copies = MAX(copies, 1);
	return base & 0xffff;
}

static uint32_t offset_of(const LodeSourceScope *scope)
{
	return (scope->line - scope->first_line) & 0xffff;
}

/* --- tables --- */

static uint32_t find_row(
	LodeIdCache *ids, uint64_t a, uint64_t b, uint64_t c, GArray *rows, const void *row)
{
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(ids, &(LodeIdKey){{a, b, c}}, &is_new);

	if (is_new) {
		slot->id = rows->len;
		g_array_append_vals(rows, row, 1);
	}
	return slot->id;
}

static uint32_t find_node(
	Builder *self, uint32_t parent, uint32_t offset, uint32_t discriminator, const char *name)
{
	const Node node = {.parent = parent,
		.offset = offset,
		.discriminator = discriminator,
		.name = g_string_chunk_insert_const(self->names, name)};

	return find_row(&self->node_ids, parent, (uint64_t)offset << 32 | discriminator,
		(uintptr_t)node.name, self->nodes, &node);
}

static uint32_t find_line(Builder *self, uint32_t node, uint32_t offset, uint32_t discriminator)
{
	const Line line = {.node = node,
		.offset = offset,
		.discriminator = discriminator,
		.function = LODE_NONE};

	return find_row(&self->line_ids, node, offset, discriminator, self->lines, &line);
}

static void add_line(Builder *self, uint32_t index, uint32_t function, double count)
{
	Line *line = &LODE_AT(self->lines, Line, index);

	if (line->function != function) {
		line->sum += line->most;
		line->most = 0;
		line->function = function;
	}
	line->most = MAX(line->most, count);
}

/* --- calls --- */

static const char *name_of(Builder *self, uint32_t index)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);

	if (self->names_of[index] == NULL) {
		g_autofree char *name = original_name(
			function->symbol != NULL ? function->symbol : function->name);
		self->names_of[index] = g_string_chunk_insert_const(self->names, name);
	}
	return self->names_of[index];
}

static void add_calls(Builder *self, uint32_t line, uint32_t instruction)
{
	const LodeProfile *profile = self->profile;
	const LodeEdge *edges = (const LodeEdge *)(const void *)lode_code_of(profile)->edges->data;
	guint at = (guint)LODE_PARTITION_POINT(
		lode_code_of(profile)->edges->len, i, edges[i].source < instruction);

	for (; at < lode_code_of(profile)->edges->len && edges[at].source == instruction; at++) {
		if (edges[at].kind != LODE_EDGE_CALL || edges[at].count <= 0)
			continue;
		const char *name = name_of(
			self, lode_profile_instruction(profile, edges[at].target)->function);
		if (!is_writable(name))
			continue;
		const Call call = {.line = line, .name = name};
		uint32_t found = find_row(
			&self->call_ids, line, (uintptr_t)name, 0, self->calls, &call);
		LODE_AT(self->calls, Call, found).count += edges[at].count;
	}
}

/* --- binaries --- */

/* The innermost function first, as in LodeSourceScope. */
static void add_place(Builder *self, const Place *place, const LodeSourceScope *scopes, guint n)
{
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	uint32_t copies, node;

	for (guint i = 0; i < n; i++)
		if (!is_writable(scopes[i].symbol) || scopes[i].line == 0)
			return;
	node = find_node(self, LODE_NONE, 0, 0, scopes[n - 1].symbol);
	if (place->address == function->address && !is_part(function))
		LODE_AT(self->nodes, Node, node).head += place->count;
	for (guint i = n - 1; i > 0; i--)
		node = find_node(self, node, offset_of(&scopes[i]),
			discriminator_of(self, &scopes[i], &copies), scopes[i - 1].symbol);
	uint32_t discriminator = discriminator_of(self, &scopes[0], &copies);
	uint32_t line = find_line(self, node, offset_of(&scopes[0]), discriminator);
	add_line(self, line, place->function, place->count * copies);
	add_calls(self, line, place->instruction);
}

LODE_ORDER(compare_places, Place, LODE_ASCENDING(address), LODE_ASCENDING(instruction))

static GArray *find_places(const LodeProfile *profile, uint32_t image)
{
	GArray *places = g_array_new(FALSE, FALSE, sizeof(Place));

	for (uint32_t i = 0; i < lode_code_of(profile)->instructions->len; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		const Place place = {.address = instruction->address,
			.count = lode_exported_binary_count(profile, i),
			.function = instruction->function,
			.instruction = i};
		if (place.count > 0 &&
			lode_profile_function(profile, place.function)->image == image)
			g_array_append_val(places, place);
	}
	if (places->len > 1)
		qsort(places->data, places->len, sizeof(Place), compare_places);
	return places;
}

/* Each function is called what its first place is in. */
static void name_functions(Builder *self, const GArray *places, const GArray *scopes)
{
	for (guint i = 0; i < scopes->len; i++) {
		const LodeSourceScope *scope = &g_array_index(scopes, LodeSourceScope, i);
		const Place *place = &g_array_index(places, Place, scope->index);
		bool is_last = i + 1 == scopes->len ||
		               g_array_index(scopes, LodeSourceScope, i + 1).index != scope->index;
		if (is_last && self->names_of[place->function] == NULL)
			self->names_of[place->function] = g_string_chunk_insert_const(
				self->names, scope->symbol);
	}
}

typedef struct {
	GArray *places; /* Place */
	GArray *scopes; /* LodeSourceScope */
} Binary;

static void binary_free(void *data)
{
	Binary *self = data;

	g_array_unref(self->places);
	g_array_unref(self->scopes);
	g_free(self);
}

/* The texts of scopes are kept, so that the file need not be. NULL: there is no such place. */
static Binary *read_binary(Builder *self, uint32_t image, GError **error)
{
	g_autoptr(LodeBinaryImage) file = lode_exported_binary_open(self->profile, image, error);
	if (file == NULL)
		return NULL;
	Binary *binary = g_new0(Binary, 1);
	binary->places = find_places(self->profile, image);
	binary->scopes = g_array_new(FALSE, FALSE, sizeof(LodeSourceScope));
	g_autofree uint64_t *addresses = g_new(uint64_t, MAX(binary->places->len, 1));

	for (guint i = 0; i < binary->places->len; i++)
		addresses[i] = g_array_index(binary->places, Place, i).address;
	lode_binary_image_scopes(file, addresses, binary->places->len, binary->scopes);
	for (guint i = 0; i < binary->scopes->len; i++) {
		LodeSourceScope *scope = &g_array_index(binary->scopes, LodeSourceScope, i);
		scope->symbol = g_string_chunk_insert_const(self->names, scope->symbol);
		scope->producer = scope->producer != NULL ? g_string_chunk_insert_const(
								    self->names, scope->producer)
		                                          : NULL;
	}
	if (binary->scopes->len > 0)
		return binary;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"%s: no debug information of what was executed: compile with -g, and record again",
		lode_profile_image(self->profile, image)->path);
	binary_free(binary);
	return NULL;
}

static void add_binary(Builder *self, const Binary *binary)
{
	const LodeSourceScope *scopes = (const LodeSourceScope *)(const void *)binary->scopes->data;

	for (guint i = 0, n; i < binary->scopes->len; i += n) {
		for (n = 1; i + n < binary->scopes->len && scopes[i + n].index == scopes[i].index;)
			n++;
		add_place(self, &g_array_index(binary->places, Place, scopes[i].index), scopes + i,
			n);
	}
}

/* --- the tree --- */

static void function_free(void *data)
{
	LodeCompilerFunction *self = data;

	for (guint i = 0; i < self->lines->len; i++) {
		GArray *targets = g_array_index(self->lines, LodeCompilerLine, i).targets;
		if (targets != NULL)
			g_array_unref(targets);
	}
	g_array_unref(self->lines);
	g_ptr_array_unref(self->inlined);
	g_free(self);
}

LODE_ORDER(compare_targets, LodeCompilerTarget, LODE_DESCENDING(count),
	strcmp(left->function, right->function))

LODE_ORDER(compare_lines, LodeCompilerLine, LODE_ASCENDING(offset), LODE_ASCENDING(discriminator))

LODE_ORDER_OF_POINTERS(compare_inlined, LodeCompilerFunction, LODE_ASCENDING(offset),
	LODE_ASCENDING(discriminator), strcmp(left->name, right->name))

LODE_ORDER_OF_POINTERS(compare_functions, LodeCompilerFunction, LODE_DESCENDING(total),
	strcmp(left->name, right->name))

static GPtrArray *make_nodes(const Builder *self, double scale)
{
	GPtrArray *made = g_ptr_array_new();

	for (guint i = 0; i < self->nodes->len; i++) {
		const Node *node = &g_array_index(self->nodes, Node, i);
		LodeCompilerFunction *function = g_new0(LodeCompilerFunction, 1);
		function->name = node->name;
		function->offset = node->offset;
		function->discriminator = node->discriminator;
		function->head = lode_exported_binary_scaled(node->head, scale);
		function->lines = g_array_new(FALSE, FALSE, sizeof(LodeCompilerLine));
		function->inlined = g_ptr_array_new_with_free_func(function_free);
		g_ptr_array_add(made, function);
	}
	return made;
}

static void fill_lines(const Builder *self, const GPtrArray *made, double scale)
{
	g_autofree LodeCompilerLine *lines = g_new0(LodeCompilerLine, MAX(self->lines->len, 1));

	for (guint i = 0; i < self->calls->len; i++) {
		const Call *call = &g_array_index(self->calls, Call, i);
		const LodeCompilerTarget target = {
			call->name, lode_exported_binary_scaled(call->count, scale)};
		LodeCompilerLine *line = &lines[call->line];
		if (line->targets == NULL)
			line->targets = g_array_new(FALSE, FALSE, sizeof(target));
		g_array_append_val(line->targets, target);
	}
	for (guint i = 0; i < self->lines->len; i++) {
		const Line *line = &g_array_index(self->lines, Line, i);
		const LodeCompilerFunction *function = made->pdata[line->node];
		lines[i].offset = line->offset;
		lines[i].discriminator = line->discriminator;
		lines[i].count = lode_exported_binary_scaled(line->sum + line->most, scale);
		if (lines[i].targets != NULL)
			g_array_sort(lines[i].targets, compare_targets);
		g_array_append_val(function->lines, lines[i]);
	}
}

/* Nodes inlined into another come after it. Inlined functions of which nothing was executed are
 * left out: compilers take them for such that need not be inlined either way. */
static GPtrArray *make_tree(const Builder *self)
{
	double scale = lode_exported_binary_scale(self->profile);
	g_autoptr(GPtrArray) made = make_nodes(self, scale);
	GPtrArray *roots = g_ptr_array_new_with_free_func(function_free);

	fill_lines(self, made, scale);
	for (guint i = made->len; i-- > 0;) {
		uint32_t parent = g_array_index(self->nodes, Node, i).parent;
		LodeCompilerFunction *function = made->pdata[i];
		g_array_sort(function->lines, compare_lines);
		g_ptr_array_sort(function->inlined, compare_inlined);
		for (guint k = 0; k < function->lines->len; k++)
			function->total += LODE_AT(function->lines, LodeCompilerLine, k).count;
		for (guint k = 0; k < function->inlined->len; k++)
			function->total +=
				((const LodeCompilerFunction *)function->inlined->pdata[k])->total;
		g_ptr_array_add(parent == LODE_NONE
					? roots
					: ((LodeCompilerFunction *)made->pdata[parent])->inlined,
			function);
	}
	g_ptr_array_sort(roots, compare_functions);
	return roots;
}

/* --- all --- */

static void init(Builder *self, const LodeProfile *profile, LodeCompiler compiler)
{
	*self = (Builder){
		.profile = profile,
		.compiler = compiler,
		.names = g_string_chunk_new(1 << 12),
		.nodes = g_array_new(FALSE, FALSE, sizeof(Node)),
		.lines = g_array_new(FALSE, FALSE, sizeof(Line)),
		.calls = g_array_new(FALSE, FALSE, sizeof(Call)),
		.names_of = g_new0(const char *, MAX(lode_code_of(profile)->functions->len, 1)),
	};
	lode_id_cache_init(&self->node_ids);
	lode_id_cache_init(&self->line_ids);
	lode_id_cache_init(&self->call_ids);
}

static void clear(Builder *self)
{
	g_clear_pointer(&self->names, g_string_chunk_free);
	g_array_unref(self->nodes);
	g_array_unref(self->lines);
	g_array_unref(self->calls);
	g_free(self->names_of);
	lode_id_cache_clear(&self->node_ids);
	lode_id_cache_clear(&self->line_ids);
	lode_id_cache_clear(&self->call_ids);
}

/* Those of the names, NULL-terminated; NULL: the program's. */
static GPtrArray *read_binaries(Builder *self, const char *const *names, GError **error)
{
	static const char *const program[] = {NULL, NULL};
	const char *const *name = names != NULL ? names : program;
	g_autoptr(GPtrArray) binaries = g_ptr_array_new_with_free_func(binary_free);

	do {
		uint32_t image = lode_exported_binary_choose(self->profile, *name, error);
		Binary *binary = image != LODE_NONE ? read_binary(self, image, error) : NULL;
		if (binary == NULL)
			return NULL;
		name_functions(self, binary->places, binary->scopes);
		g_ptr_array_add(binaries, binary);
	} while (*name != NULL && *++name != NULL);
	return g_steal_pointer(&binaries);
}

LodeCompilerProfile *lode_compiler_profile_new(
	const LodeProfile *profile, LodeCompiler compiler, const char *const *names, GError **error)
{
	LodeCompilerProfile *self = NULL;
	Builder builder;

	init(&builder, profile, compiler);
	g_autoptr(GPtrArray) binaries = read_binaries(&builder, names, error);
	for (guint i = 0; binaries != NULL && i < binaries->len; i++)
		add_binary(&builder, binaries->pdata[i]);
	if (binaries != NULL) {
		self = g_new0(LodeCompilerProfile, 1);
		self->functions = make_tree(&builder);
		self->names = g_steal_pointer(&builder.names);
	}
	clear(&builder);
	return self;
}

void lode_compiler_profile_free(LodeCompilerProfile *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->functions);
	g_string_chunk_free(self->names);
	g_free(self);
}

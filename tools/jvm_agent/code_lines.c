/* SPDX-License-Identifier: MIT */
/*
 * HotSpot describes code at some places, the ends of pieces: what it says of a place holds for the
 * code before it, back to the place before, but not beyond a branch: what was compiled to code in
 * between without being described comes from anywhere. A line of a dump holds from its address on,
 * so that each begins where the piece before ended, and says that it is such a piece; the reader
 * knows branches. Pieces without a line are written too, so that no other takes their place.
 *
 * The calls that pieces are inlined by make a tree, each written once.
 */
#include "code_lines.h"

#include "base/text/java_name.h"

#include <jvmticmlr.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 2048 };
#define NONE UINT32_MAX

typedef struct LineTable {
	jmethodID method;
	jvmtiLineNumberEntry *lines;
	jint n;
} LineTable;

/* The methods there, inlined into each other, the innermost first, and where in each. */
typedef struct {
	const void *end;
	const jmethodID *methods;
	const jint *locations;
	jint n;
} Piece;

static void *deallocate(jvmtiEnv *jvmti, void *memory)
{
	if (memory != NULL)
		(*jvmti)->Deallocate(jvmti, memory);
	return NULL;
}

bool method_texts_init(MethodTexts *self, jvmtiEnv *jvmti, jmethodID method)
{
	jclass class;

	memset(self, 0, sizeof *self);
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
		return false;
	if ((*jvmti)->GetClassSignature(jvmti, class, &self->class_signature, NULL) !=
			JVMTI_ERROR_NONE ||
		(*jvmti)->GetMethodName(jvmti, method, &self->name, &self->signature, NULL) !=
			JVMTI_ERROR_NONE) {
		method_texts_clear(self, jvmti);
		return false;
	}
	if ((*jvmti)->GetSourceFileName(jvmti, class, &self->source_file) != JVMTI_ERROR_NONE)
		self->source_file = NULL;
	return true;
}

void method_texts_clear(MethodTexts *self, jvmtiEnv *jvmti)
{
	self->class_signature = deallocate(jvmti, self->class_signature);
	self->source_file = deallocate(jvmti, self->source_file);
	self->name = deallocate(jvmti, self->name);
	self->signature = deallocate(jvmti, self->signature);
}

static void read_method(JitdumpMethod *self, LineTable *table, jvmtiEnv *jvmti)
{
	MethodTexts texts;
	char text[MAX_TEXT];

	if (table->method == NULL || !method_texts_init(&texts, jvmti, table->method))
		return;
	lode_java_method_name_write(
		text, sizeof text, texts.class_signature, texts.name, texts.signature);
	self->name = strdup(text);
	/* what hides names from readers may leave an empty one */
	if (texts.source_file != NULL && *texts.source_file != '\0' &&
		(*jvmti)->GetLineNumberTable(jvmti, table->method, &table->n, &table->lines) ==
			JVMTI_ERROR_NONE) {
		lode_java_source_path_write(
			text, sizeof text, texts.class_signature, texts.source_file);
		self->file = strdup(text);
	}
	method_texts_clear(&texts, jvmti);
}

/* An array of n, with room for one more; NULL without memory, when it stays as it is. */
static void *grow(void *array, size_t n, size_t size)
{
	bool is_full = (n & (n - 1)) == 0;

	return is_full ? realloc(array, (n > 0 ? 2 * n : 1) * size) : array;
}

/* The method's number; it is asked for once. NONE without memory. */
static uint32_t find_method(CodeLines *self, jvmtiEnv *jvmti, jmethodID id)
{
	size_t n = self->n_methods;
	JitdumpMethod *methods;
	LineTable *tables;

	for (size_t i = n; i-- > 0;)
		if (self->tables[i].method == id)
			return (uint32_t)i;
	methods = grow(self->methods, n, sizeof *methods);
	if (methods != NULL)
		self->methods = methods;
	tables = grow(self->tables, n, sizeof *tables);
	if (tables != NULL)
		self->tables = tables;
	if (methods == NULL || tables == NULL)
		return NONE;
	methods[n] = (JitdumpMethod){NULL, NULL};
	tables[n] = (LineTable){.method = id};
	read_method(&methods[n], &tables[n], jvmti);
	self->n_methods++;
	return (uint32_t)n;
}

/* The number of a call; NONE without memory. */
static uint32_t find_call(CodeLines *self, const JitdumpCall *call)
{
	size_t n = self->n_calls, first = call->outer != JITDUMP_NO_CALL ? call->outer + 1 : 0;
	JitdumpCall *calls;

	for (size_t i = n; i-- > first;)
		if (memcmp(&self->calls[i], call, sizeof *call) == 0)
			return (uint32_t)i;
	calls = grow(self->calls, n, sizeof *calls);
	if (calls == NULL)
		return NONE;
	self->calls = calls;
	calls[n] = *call;
	self->n_calls++;
	return (uint32_t)n;
}

uint32_t code_line_find(const jvmtiLineNumberEntry *table, jint n, jlong location)
{
	jlong best_start = -1;
	jint line = 0;

	for (jint i = 0; i < n; i++) {
		if (table[i].start_location > location || table[i].start_location < best_start)
			continue;
		best_start = table[i].start_location;
		line = table[i].line_number;
	}
	return line > 0 ? (uint32_t)line : 0;
}

/* `method`: whose line it is; NONE where there is none. */
static void add_line(CodeLines *self, uint64_t start, uint32_t line, uint32_t method, uint32_t call)
{
	const char *last = self->n > 0 ? self->lines[self->n - 1].file : "";

	self->lines[self->n++] = (JitdumpLine){start, line,
		line > 0 ? self->methods[method].file : last, self->discriminator, call};
}

/*
 * Adds the line of a piece from its start on. Gives the end, where the next one starts. Of what is
 * inlined too deep, the call is all there is. Methods without lines, as those that the virtual
 * machine makes for lambda expressions, are left out between others. A piece in one has no line:
 * code that the compiler cannot say the origin of is said to be of the method that it read last,
 * which often is such a one.
 */
static uint64_t add_piece(CodeLines *self, jvmtiEnv *jvmti, const Piece *piece, uint64_t start)
{
	uint64_t end = (uint64_t)(uintptr_t)piece->end;
	uint32_t method = NONE, line = 0, call = JITDUMP_NO_CALL;
	bool is_known = false;

	if (end <= start)
		return start;
	for (jint i = piece->n; i-- > 0 && piece->n - i <= JITDUMP_MAX_INLINED + 1;) {
		uint32_t inner = find_method(self, jvmti, piece->methods[i]);

		is_known = inner != NONE && self->methods[inner].file != NULL;
		if (!is_known)
			continue;
		if (i + 1 < piece->n) {
			call = find_call(self, &(JitdumpCall){inner, line, call});
			is_known = call != NONE;
		}
		if (!is_known)
			break;
		method = inner;
		line = code_line_find(
			self->tables[inner].lines, self->tables[inner].n, piece->locations[i]);
	}
	line = is_known ? line : 0;
	add_line(self, start, line, method, line > 0 ? call : JITDUMP_NO_CALL);
	return end;
}

static const jvmtiCompiledMethodLoadInlineRecord *inline_record(const void *compile_info)
{
	const jvmtiCompiledMethodLoadRecordHeader *header = compile_info;

	for (; header != NULL; header = header->next)
		if (header->kind == JVMTI_CMLR_INLINE_INFO)
			return (const jvmtiCompiledMethodLoadInlineRecord *)(const void *)header;
	return NULL;
}

static void add_inlined(CodeLines *self, jvmtiEnv *jvmti,
	const jvmtiCompiledMethodLoadInlineRecord *record, uint64_t start)
{
	for (jint i = 0; i < record->numpcs; i++) {
		const PCStackInfo *info = &record->pcinfo[i];

		start = add_piece(self, jvmti,
			&(Piece){info->pc, info->methods, info->bcis, info->numstackframes}, start);
	}
	add_line(self, start, 0, NONE, JITDUMP_NO_CALL);
}

static void add_own(
	CodeLines *self, jvmtiEnv *jvmti, const CompiledMethod *compiled, uint64_t start)
{
	for (jint i = 0; i < compiled->n_locations; i++) {
		const jvmtiAddrLocationMap *location = &compiled->locations[i];

		start = add_piece(self, jvmti,
			&(Piece){location->start_address, &compiled->method,
				&(jint){(jint)location->location}, 1},
			start);
	}
	add_line(self, start, 0, NONE, JITDUMP_NO_CALL);
}

void code_lines_init(CodeLines *self, jvmtiEnv *jvmti, const CompiledMethod *compiled)
{
	const jvmtiCompiledMethodLoadInlineRecord *record = inline_record(compiled->compile_info);
	jint n = record != NULL ? record->numpcs : compiled->n_locations;
	uint64_t start = (uint64_t)(uintptr_t)compiled->code;

	memset(self, 0, sizeof *self);
	if (n <= 0)
		return;
	self->discriminator = compiled->has_only_safepoints ? JITDUMP_LINE_HERE : JITDUMP_LINE_BACK;
	/* one more for what comes after the last piece */
	self->lines = malloc(((size_t)n + 1) * sizeof *self->lines);
	if (self->lines == NULL || find_method(self, jvmti, compiled->method) == NONE)
		return;
	if (record != NULL)
		add_inlined(self, jvmti, record, start);
	else
		add_own(self, jvmti, compiled, start);
}

void code_lines_clear(CodeLines *self, jvmtiEnv *jvmti)
{
	for (size_t i = 0; i < self->n_methods; i++) {
		free((char *)self->methods[i].name);
		free((char *)self->methods[i].file);
		deallocate(jvmti, self->tables[i].lines);
	}
	free(self->methods);
	free(self->tables);
	free(self->calls);
	free(self->lines);
}

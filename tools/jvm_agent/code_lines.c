/* SPDX-License-Identifier: MIT */
/*
 * HotSpot describes code at some places, the ends of pieces: what it says of a place holds for the
 * code before it, back to the place before, but not beyond a branch: what was compiled to code in
 * between without being described comes from anywhere. A line of a dump holds from its address on,
 * so that each begins where the piece before ended, and says that it is such a piece; the reader
 * knows branches. Pieces without a line are written too, so that no other takes their place.
 */
#include "code_lines.h"

#include "method_name.h"

#include <jvmticmlr.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 1024 };

typedef struct CodeMethod {
	jmethodID id;
	char *file; /* NULL: it has no lines */
	jvmtiLineNumberEntry *table;
	jint n;
} CodeMethod;

typedef struct {
	const void *end;
	jmethodID method;
	jlong location;
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

static void read_method(CodeMethod *self, jvmtiEnv *jvmti)
{
	MethodTexts texts;
	char path[MAX_PATH];

	if (!method_texts_init(&texts, jvmti, self->id))
		return;
	/* what hides names from readers may leave an empty one */
	if (texts.source_file != NULL && *texts.source_file != '\0' &&
		(*jvmti)->GetLineNumberTable(jvmti, self->id, &self->n, &self->table) ==
			JVMTI_ERROR_NONE) {
		source_path_write(path, sizeof path, texts.class_signature, texts.source_file);
		self->file = strdup(path);
	}
	method_texts_clear(&texts, jvmti);
}

/* The method, asked for once; NULL without memory. */
static const CodeMethod *find_method(CodeLines *self, jvmtiEnv *jvmti, jmethodID id)
{
	CodeMethod *methods;

	for (size_t i = self->n_methods; i > 0; i--)
		if (self->methods[i - 1].id == id)
			return &self->methods[i - 1];
	methods = realloc(self->methods, (self->n_methods + 1) * sizeof *methods);
	if (methods == NULL)
		return NULL;
	self->methods = methods;
	methods[self->n_methods] = (CodeMethod){.id = id};
	read_method(&methods[self->n_methods], jvmti);
	return &methods[self->n_methods++];
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

static void add_line(CodeLines *self, uint64_t start, uint32_t line, const char *file)
{
	const char *last = self->n > 0 ? self->lines[self->n - 1].file : "";

	self->lines[self->n++] = (JitdumpLine){
		start, line, line > 0 ? file : last, self->discriminator};
}

/* Adds the line of a piece from its start on. Gives the end, where the next one starts. */
static uint64_t add_piece(CodeLines *self, jvmtiEnv *jvmti, const Piece *piece, uint64_t start)
{
	const CodeMethod *method = piece->method != NULL ? find_method(self, jvmti, piece->method)
	                                                 : NULL;
	uint64_t end = (uint64_t)(uintptr_t)piece->end;

	if (end <= start)
		return start;
	if (method != NULL && method->file != NULL)
		add_line(self, start, code_line_find(method->table, method->n, piece->location),
			method->file);
	else
		add_line(self, start, 0, NULL);
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

		if (info->numstackframes > 0)
			start = add_piece(self, jvmti,
				&(Piece){info->pc, info->methods[0], info->bcis[0]}, start);
		else
			start = add_piece(self, jvmti, &(Piece){info->pc, NULL, 0}, start);
	}
	add_line(self, start, 0, NULL);
}

static void add_own(
	CodeLines *self, jvmtiEnv *jvmti, const CompiledMethod *compiled, uint64_t start)
{
	for (jint i = 0; i < compiled->n_locations; i++) {
		const jvmtiAddrLocationMap *location = &compiled->locations[i];

		start = add_piece(self, jvmti,
			&(Piece){location->start_address, compiled->method, location->location},
			start);
	}
	add_line(self, start, 0, NULL);
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
	if (self->lines == NULL)
		return;
	if (record != NULL)
		add_inlined(self, jvmti, record, start);
	else
		add_own(self, jvmti, compiled, start);
}

void code_lines_clear(CodeLines *self, jvmtiEnv *jvmti)
{
	for (size_t i = 0; i < self->n_methods; i++) {
		free(self->methods[i].file);
		deallocate(jvmti, self->methods[i].table);
	}
	free(self->methods);
	free(self->lines);
}

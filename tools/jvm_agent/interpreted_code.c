/* SPDX-License-Identifier: MIT */
#include "interpreted_code.h"

#include "base/text/java_name.h"
#include "code_lines.h"
#include "vm_structs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 2048 };

static struct {
	int64_t method_rest, rest_code_size, rest_bytes; /* below 0: unknown */
} layout;

static void read_layout(void)
{
	layout.method_rest = vm_struct_offset("Method", "_constMethod");
	layout.rest_code_size = vm_struct_offset("ConstMethod", "_code_size");
	layout.rest_bytes = vm_struct_size("ConstMethod");
}

/* Where the bytecodes of a method are; 0: not known. JVMTI says how many there are, by which what
 * is read is known to be a method: identifiers need not be what they are up to JDK 24. */
static uint64_t find_bytecodes(jvmtiEnv *jvmti, jmethodID id, uint16_t *out_size)
{
	uint64_t method, rest;
	jlocation start, end;

	if (layout.method_rest < 0 || layout.rest_code_size < 0 || layout.rest_bytes < 0 ||
		(*jvmti)->GetMethodLocation(jvmti, id, &start, &end) != JVMTI_ERROR_NONE ||
		!vm_struct_read((uint64_t)(uintptr_t)id, &method, sizeof method) ||
		!vm_struct_read(method + (uint64_t)layout.method_rest, &rest, sizeof rest) ||
		!vm_struct_read(
			rest + (uint64_t)layout.rest_code_size, out_size, sizeof *out_size) ||
		start != 0 || end + 1 != *out_size)
		return 0;
	return rest + (uint64_t)layout.rest_bytes;
}

static int compare_lines(const void *a, const void *b)
{
	const JitdumpLine *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void write_method(jvmtiEnv *jvmti, jmethodID id)
{
	char name[MAX_NAME], file[MAX_NAME];
	uint8_t *bytes = NULL;
	JitdumpLine *lines = NULL;
	jvmtiLineNumberEntry *table = NULL;
	MethodTexts texts;
	uint16_t size;
	jint n = 0;
	uint64_t address = find_bytecodes(jvmti, id, &size);

	if (address == 0 || !method_texts_init(&texts, jvmti, id))
		return;
	lode_java_method_name_write(
		name, sizeof name, texts.class_signature, texts.name, texts.signature);
	if (texts.source_file != NULL && *texts.source_file != '\0' &&
		(*jvmti)->GetLineNumberTable(jvmti, id, &n, &table) == JVMTI_ERROR_NONE && n > 0) {
		lode_java_source_path_write(
			file, sizeof file, texts.class_signature, texts.source_file);
		lines = malloc((size_t)n * sizeof *lines);
		bytes = malloc(size);
	}
	if (lines != NULL && bytes != NULL && vm_struct_read(address, bytes, size)) {
		for (jint i = 0; i < n; i++)
			lines[i] = (JitdumpLine){address + (uint64_t)table[i].start_location,
				(uint32_t)table[i].line_number, file, 0, JITDUMP_NO_CALL};
		qsort(lines, (size_t)n, sizeof *lines, compare_lines);
		strncat(name, " [tier 0]", sizeof name - strlen(name) - 1);
		jitdump_writer_add(&(JitdumpCode){.name = name,
			.code = (const void *)(uintptr_t)address,
			.size = size,
			.lines = lines,
			.n_lines = (size_t)n});
	}
	if (table != NULL)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)table);
	free(lines);
	free(bytes);
	method_texts_clear(&texts, jvmti);
}

void interpreted_code_write(jvmtiEnv *jvmti, jclass class)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	jobject loader = NULL;
	jmethodID *methods = NULL;
	jint n = 0;

	/* Those of Java's own library have none. */
	if ((*jvmti)->GetClassLoader(jvmti, class, &loader) != JVMTI_ERROR_NONE || loader == NULL)
		return;
	pthread_once(&once, read_layout);
	if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++)
		write_method(jvmti, methods[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

void interpreted_code_write_all(jvmtiEnv *jvmti)
{
	jclass *classes = NULL;
	jint n = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++)
		interpreted_code_write(jvmti, classes[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* SPDX-License-Identifier: MIT */
/*
 * Which source line each piece of a compiled method comes from: the innermost inlined method's and
 * the calls that it was inlined by, where the virtual machine tells them, else the method's own;
 * none for what it does not describe.
 */
#pragma once

#include "jitdump_writer.h"

#include <jvmti.h>
#include <stdbool.h>

typedef struct {
	JitdumpLine *lines;
	size_t n;
	uint32_t discriminator;   /* of all of them */
	JitdumpMethod *methods;   /* that were asked for, the compiled one first; own their texts */
	struct LineTable *tables; /* of each method */
	size_t n_methods;
	JitdumpCall *calls;
	size_t n_calls;
} CodeLines;

/* A compiled method, as HotSpot reports it. */
typedef struct {
	jmethodID method;
	jint n_locations;
	const jvmtiAddrLocationMap *locations;
	const void *compile_info; /* may be NULL */
	bool has_only_safepoints; /* compiled when no agent was there to record other places */
	const void *code;
} CompiledMethod;

/* Without memory, or without lines in the class file, there are just fewer lines or none. */
void code_lines_init(CodeLines *self, jvmtiEnv *jvmti, const CompiledMethod *compiled);
void code_lines_clear(CodeLines *self, jvmtiEnv *jvmti);

/* Class, name and signature of a method; to be given back with method_texts_clear(). */
typedef struct {
	char *class_signature, *source_file, *name, *signature; /* source_file may be NULL */
} MethodTexts;

bool method_texts_init(MethodTexts *self, jvmtiEnv *jvmti, jmethodID method);
void method_texts_clear(MethodTexts *self, jvmtiEnv *jvmti);

/* The line that a bytecode belongs to: that of the greatest start at or before it; 0: none. */
uint32_t code_line_find(const jvmtiLineNumberEntry *table, jint n, jlong location);

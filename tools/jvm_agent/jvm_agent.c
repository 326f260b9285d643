/* SPDX-License-Identifier: MIT */
/*
 * An agent for the Java virtual machine that writes down what it compiles, and what lies in its
 * heap:
 *
 *   java -agentpath:…/liblode-jvm-agent.so[=DIRECTORY] Program      writes DIRECTORY/jit-PID.dump
 *   java -agentpath:…/liblode-jvm-agent.so=heap:DIRECTORY Program   and DIRECTORY/heap-PID.log
 *
 * Compiled methods come with source lines, as do the bytecodes of the program's own; interpreter
 * and stubs with their names. That a method was thrown away is not written down: its place is known
 * by what comes to lie there.
 */
#include "base/text/java_name.h"
#include "code_lines.h"
#include "compile_tier.h"
#include "heap_walk.h"
#include "interpreted_code.h"
#include "jitdump_writer.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 2048 };

/* Set once at the start. */
static bool walks_heap;

/* Methods that were compiled before the agent came are reported to this thread. HotSpot describes
 * their safepoints only; those compiled later it describes at other places too. */
static __thread bool is_catching_up;

/* " [tier 4, OSR]", so that the versions of a method have different names. */
static void append_tier(char *name, size_t size, const void *code)
{
	size_t length = strlen(name);
	CompileTier tier;

	if (compile_tier_read(&tier, code))
		snprintf(name + length, size - length, " [tier %d%s]", tier.tier,
			tier.is_osr ? ", OSR" : "");
}

static void JNICALL on_compiled_method(jvmtiEnv *jvmti, jmethodID method, jint size,
	const void *code, jint n_locations, const jvmtiAddrLocationMap *locations,
	const void *compile_info)
{
	CompiledMethod compiled = {
		method, n_locations, locations, compile_info, is_catching_up, code};
	MethodTexts texts;
	CodeLines lines;
	char name[MAX_NAME];

	if (size <= 0)
		return;
	if (method_texts_init(&texts, jvmti, method)) {
		lode_java_method_name_write(
			name, sizeof name, texts.class_signature, texts.name, texts.signature);
		method_texts_clear(&texts, jvmti);
	} else {
		snprintf(name, sizeof name, "method of an unloaded class");
	}
	append_tier(name, sizeof name, code);
	code_lines_init(&lines, jvmti, &compiled);
	jitdump_writer_add(&(JitdumpCode){name, code, (size_t)size, lines.lines, lines.n,
		lines.methods, lines.n_methods, lines.calls, lines.n_calls});
	code_lines_clear(&lines, jvmti);
}

static void JNICALL on_dynamic_code(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
	(void)jvmti;
	if (size > 0)
		jitdump_writer_add(
			&(JitdumpCode){.name = name, .code = code, .size = (size_t)size});
}

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	(void)jni;
	(void)thread;
	interpreted_code_write(jvmti, class);
}

static void JNICALL on_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)thread;
	heap_walk_start(jvmti, jni);
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	if (walks_heap)
		heap_walk_finish(jvmti, jni);
	jitdump_writer_close();
}

static bool set_capabilities(jvmtiEnv *jvmti)
{
	jvmtiCapabilities capabilities;

	memset(&capabilities, 0, sizeof capabilities);
	capabilities.can_generate_compiled_method_load_events = 1;
	capabilities.can_get_line_numbers = 1;
	capabilities.can_get_source_file_name = 1;
	return (*jvmti)->AddCapabilities(jvmti, &capabilities) == JVMTI_ERROR_NONE;
}

static bool set_events(jvmtiEnv *jvmti)
{
	static const jvmtiEvent events[] = {JVMTI_EVENT_COMPILED_METHOD_LOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_VM_DEATH,
		JVMTI_EVENT_VM_INIT, JVMTI_EVENT_GARBAGE_COLLECTION_START,
		JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
	enum { N_OF_CODE = 4 };
	size_t n = walks_heap ? sizeof events / sizeof *events : N_OF_CODE;
	jvmtiEventCallbacks callbacks;

	memset(&callbacks, 0, sizeof callbacks);
	callbacks.CompiledMethodLoad = on_compiled_method;
	callbacks.DynamicCodeGenerated = on_dynamic_code;
	callbacks.ClassPrepare = on_class;
	callbacks.VMInit = on_start;
	callbacks.VMDeath = on_death;
	if (walks_heap)
		heap_walk_set_callbacks(&callbacks);
	if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) !=
			JVMTI_ERROR_NONE)
			return false;
	return true;
}

static jvmtiEnv *start(JavaVM *vm, const char *options)
{
	static const char heap_option[] = "heap:";
	const char *directory = options != NULL && *options != '\0' ? options : ".";
	bool is_heap_wanted = strncmp(directory, heap_option, strlen(heap_option)) == 0;
	void *environment = NULL;
	jvmtiEnv *jvmti;

	if ((*vm)->GetEnv(vm, &environment, JVMTI_VERSION_1_2) != JNI_OK)
		return NULL;
	jvmti = environment;
	if (is_heap_wanted)
		directory += strlen(heap_option);
	if (!set_capabilities(jvmti) || !jitdump_writer_open(directory))
		return NULL;
	walks_heap = is_heap_wanted && heap_walk_prepare(vm, jvmti, directory);
	return set_events(jvmti) ? jvmti : NULL;
}

/* A program that cannot be recorded runs all the same. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	start(vm, options);
	return JNI_OK;
}

/* Attached to a running program: the code compiled so far is written first. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEnv *jvmti = start(vm, options);

	(void)reserved;
	if (jvmti == NULL)
		return JNI_ERR;
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	is_catching_up = true;
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	is_catching_up = false;
	interpreted_code_write_all(jvmti);
	return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	jitdump_writer_close();
}

/* SPDX-License-Identifier: MIT */
#include "heap_samples.h"

#include "base/text/java_name.h"
#include "code_lines.h"
#include "heap_log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	DEPTH = 16,         /* frames in which a site is looked for */
	MAX_SITES = 1024,   /* finding tagged objects takes time by tags and objects */
	CACHE_SLOTS = 8192, /* a power of two */
	MIN_INTERVAL = 11,  /* binary logarithms of bytes */
	MAX_INTERVAL = 24,
	MAX_OBJECTS = 65536, /* tagged, at an interval by the size of the heap */
	CHECK_SAMPLES = 64,
	OFTEN_CHECKED = 17,   /* interval from which on each sample checks the budget */
	LEAST_SAMPLES = 2048, /* before the interval is doubled */
	MAX_TEXT = 4096,
	UNIT = 8,
};

/* Processor time that samples may take: at once, and as a share of all. */
#define BUDGET_NS 40000000u
#define BUDGET_SHARE 150

/* The time that a sample takes, in the virtual machine and in collections too, and each frame of
 * its stack. Measured with JDK 17: a clock would measure the other threads of a busy machine as
 * well. */
#define SAMPLE_NS 1800u
#define FRAME_NS 80u

typedef struct {
	char *name; /* "new@Ring.java:21" */
	int interval;
} Site;

typedef struct {
	uint64_t stack; /* hash of its frames and the interval */
	uint32_t site;  /* number from 1; 0: not used */
} Slot;

static struct {
	jvmtiEnv *jvmti;
	pthread_mutex_t lock; /* of all below */
	Site sites[MAX_SITES];
	uint32_t n_sites;
	Slot slots[CACHE_SLOTS];      /* each the last stack of its hash */
	int interval, least;          /* binary logarithms */
	uint64_t spent_ns, n_samples; /* at this interval */
} samples = {.lock = PTHREAD_MUTEX_INITIALIZER, .interval = MIN_INTERVAL, .least = MIN_INTERVAL};

/* Classes that come with Java or a language on it: what they allocate is their callers'. */
static bool is_library(const char *class_signature)
{
	static const char *const packages[] = {
		"java/", "javax/", "jdk/", "sun/", "com/sun/", "kotlin/", "scala/"};

	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
		if (strncmp(class_signature + 1, packages[i], strlen(packages[i])) == 0)
			return true;
	return false;
}

/* "Ring.java:21"; the method where its lines are not known. */
static void write_place(
	char *place, size_t size, const MethodTexts *texts, const jvmtiFrameInfo *frame)
{
	jvmtiEnv *jvmti = samples.jvmti;
	jvmtiLineNumberEntry *table = NULL;
	jint n = 0;
	uint32_t line = 0;

	if (texts->source_file != NULL && *texts->source_file != '\0' &&
		(*jvmti)->GetLineNumberTable(jvmti, frame->method, &n, &table) ==
			JVMTI_ERROR_NONE) {
		line = code_line_find(table, n, frame->location);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)table);
	}
	if (line > 0)
		snprintf(place, size, "%s:%u", texts->source_file, line);
	else
		lode_java_method_name_write(
			place, size, texts->class_signature, texts->name, texts->signature);
}

/* The innermost frame outside of libraries, and the calls from there to the allocation. */
static void write_site(char *name, char *stack, size_t size, const jvmtiFrameInfo *frames, jint n)
{
	size_t length = 0;
	bool is_found = false;

	*stack = '\0';
	snprintf(name, size, "new");
	for (jint i = 0; i < n && !is_found && length < size / 2; i++) {
		char method[MAX_TEXT / 4], place[MAX_TEXT / 4];
		MethodTexts texts;

		if (!method_texts_init(&texts, samples.jvmti, frames[i].method))
			continue;
		is_found = !is_library(texts.class_signature);
		lode_java_method_name_write(
			method, sizeof method, texts.class_signature, texts.name, texts.signature);
		write_place(place, sizeof place, &texts, &frames[i]);
		method_texts_clear(&texts, samples.jvmti);
		length += (size_t)snprintf(stack + length, size - length, "%s%s %s",
			length > 0 ? " < " : "", method, place);
		if (i == 0 || is_found)
			snprintf(name, size, "new@%s", place);
	}
}

/* The number of the site, which is logged when it is new; 0: there are too many. */
static uint32_t find_site(const jvmtiFrameInfo *frames, jint n)
{
	char name[MAX_TEXT], stack[MAX_TEXT];

	write_site(name, stack, sizeof name, frames, n);
	for (uint32_t i = 0; i < samples.n_sites; i++)
		if (samples.sites[i].interval == samples.interval &&
			strcmp(samples.sites[i].name, name) == 0)
			return i + 1;
	if (samples.n_sites == MAX_SITES - 1) {
		snprintf(name, sizeof name, "new@(other sites)");
		*stack = '\0';
	}
	char *copy = samples.n_sites < MAX_SITES ? strdup(name) : NULL;
	if (copy == NULL)
		return 0;
	samples.sites[samples.n_sites++] = (Site){copy, samples.interval};
	heap_log_add_site(samples.n_sites, (uint32_t)1 << samples.interval, name, stack);
	return samples.n_sites;
}

static uint64_t hash_of(const jvmtiFrameInfo *frames, jint n)
{
	uint64_t hash = (uint64_t)samples.interval + 1;

	for (jint i = 0; i < n; i++) {
		hash = (hash ^ (uint64_t)(uintptr_t)frames[i].method) * 0x9e3779b97f4a7c15u;
		hash = (hash ^ hash >> 29 ^ (uint64_t)frames[i].location) * 0xbf58476d1ce4e5b9u;
	}
	return hash ^ hash >> 32;
}

/* More samples where time is left, fewer where they took too much. */
static void adapt(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	uint64_t all_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	uint64_t budget_ns = BUDGET_NS + all_ns / BUDGET_SHARE;
	int wanted = samples.interval;
	if (samples.spent_ns > budget_ns && samples.n_samples >= LEAST_SAMPLES)
		wanted++;
	else if (samples.spent_ns < budget_ns / 2)
		wanted--;
	wanted = wanted < samples.least ? samples.least : wanted;
	wanted = wanted > MAX_INTERVAL ? MAX_INTERVAL : wanted;
	if (wanted != samples.interval &&
		(*samples.jvmti)->SetHeapSamplingInterval(samples.jvmti, 1 << wanted) ==
			JVMTI_ERROR_NONE) {
		samples.interval = wanted;
		samples.n_samples = 0;
	}
}

static void JNICALL on_sample(
	jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	jvmtiFrameInfo frames[DEPTH];
	jint n = 0;
	uint32_t site;

	(void)jni, (void)thread, (void)class, (void)size;
	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, DEPTH, frames, &n) != JVMTI_ERROR_NONE)
		return;
	pthread_mutex_lock(&samples.lock);
	uint64_t stack = hash_of(frames, n);
	Slot *slot = &samples.slots[stack % CACHE_SLOTS];
	if (slot->stack != stack || slot->site == 0)
		*slot = (Slot){stack, find_site(frames, n)};
	site = slot->site;
	samples.spent_ns += SAMPLE_NS + (uint64_t)n * FRAME_NS;
	if (++samples.n_samples % CHECK_SAMPLES == 0 || samples.interval >= OFTEN_CHECKED)
		adapt();
	pthread_mutex_unlock(&samples.lock);
	if (site != 0)
		(*jvmti)->SetTag(jvmti, object, site);
}

bool heap_samples_prepare(JavaVM *vm)
{
	jvmtiCapabilities capabilities;
	jvmtiEventCallbacks callbacks;
	void *environment = NULL;
	jvmtiEnv *jvmti;

	memset(&capabilities, 0, sizeof capabilities);
	capabilities.can_tag_objects = 1;
	capabilities.can_get_line_numbers = 1;
	capabilities.can_get_source_file_name = 1;
	capabilities.can_generate_sampled_object_alloc_events = 1;
	memset(&callbacks, 0, sizeof callbacks);
	callbacks.SampledObjectAlloc = on_sample;
	if ((*vm)->GetEnv(vm, &environment, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	jvmti = samples.jvmti = environment;
	return (*jvmti)->AddCapabilities(jvmti, &capabilities) == JVMTI_ERROR_NONE &&
	       (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) ==
	               JVMTI_ERROR_NONE &&
	       (*jvmti)->SetHeapSamplingInterval(jvmti, 1 << samples.interval) ==
	               JVMTI_ERROR_NONE &&
	       (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
		       JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL) == JVMTI_ERROR_NONE;
}

void heap_samples_set_heap_bytes(uint64_t bytes)
{
	int least = MIN_INTERVAL;

	while (least < MAX_INTERVAL && bytes >> least > MAX_OBJECTS)
		least++;
	pthread_mutex_lock(&samples.lock);
	samples.least = least;
	pthread_mutex_unlock(&samples.lock);
}

typedef struct {
	uint64_t address;
	uint32_t site;
} Tagged;

static int compare_tagged(const void *a, const void *b)
{
	const Tagged *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

static void write_samples(HeapSamples *self, Tagged *tagged, size_t n)
{
	uint64_t last = 0;

	qsort(tagged, n, sizeof *tagged, compare_tagged);
	for (size_t i = 0; i < n; i++) {
		uint64_t step = (tagged[i].address - last) / UNIT;
		self->n += heap_log_put_number(self->bytes + self->n, step);
		self->n += heap_log_put_number(self->bytes + self->n, tagged[i].site);
		last = tagged[i].address;
	}
}

void heap_samples_init(HeapSamples *self, JNIEnv *jni)
{
	jvmtiEnv *jvmti = samples.jvmti;
	jlong tags[MAX_SITES], *found_tags;
	jobject *objects;
	jint n = 0;

	memset(self, 0, sizeof *self);
	pthread_mutex_lock(&samples.lock);
	jint n_tags = (jint)samples.n_sites;
	pthread_mutex_unlock(&samples.lock);
	for (jint i = 0; i < n_tags; i++)
		tags[i] = i + 1;
	if (n_tags == 0 || (*jvmti)->GetObjectsWithTags(jvmti, n_tags, tags, &n, &objects,
				   &found_tags) != JVMTI_ERROR_NONE)
		return;
	Tagged *tagged = malloc(((size_t)n + 1) * sizeof *tagged);
	self->bytes = malloc((size_t)n * 2 * HEAP_LOG_NUMBER_BYTES + 1);
	for (jint i = 0; i < n; i++) {
		if (tagged != NULL)
			tagged[i] = (Tagged){*(const uint64_t *)(const void *)objects[i],
				(uint32_t)found_tags[i]};
		(*jni)->DeleteLocalRef(jni, objects[i]);
	}
	if (tagged != NULL && self->bytes != NULL)
		write_samples(self, tagged, (size_t)n);
	free(tagged);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)objects);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)found_tags);
}

void heap_samples_clear(HeapSamples *self)
{
	free(self->bytes);
}

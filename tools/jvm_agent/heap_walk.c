/* SPDX-License-Identifier: MIT */
#include "heap_walk.h"

#include "base/text/java_name.h"
#include "heap_log.h"
#include "heap_samples.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MIN_OBJECTS = 512, /* from anchor to anchor */
	MIN_BYTES = 1 << 16,
	WANTED_ANCHORS = 2048,
	MAX_ANCHORS = 8192, /* finding them takes quadratic time */
	MAX_RUN_BYTES = 3 * HEAP_LOG_NUMBER_BYTES,
	MAX_NAME = 1024,
	UNIT = 8, /* of sizes and addresses */
};

#define FIRST_MS 200                  /* before the first walk, and at least between two */
#define SHARE 40                      /* the pause after a walk is so many times as long */
#define MAX_PAUSE_NS 500000000u       /* processor time of one walk: the program stands still */
#define FIRST_ANCHOR ((jlong)1 << 62) /* lower tags are numbers of classes' names */

/* The objects from an anchor up to the next. */
typedef struct {
	jlong anchor;     /* the tag of its first object */
	uint64_t address; /* of that object; 0: not known */
	uint64_t bytes;   /* of all its objects */
	uint64_t n;       /* number of objects */
	size_t runs;      /* offset of its first run in Walk.runs */
} Stretch;

typedef struct {
	uint8_t *runs; /* name, size in units, number: LEB128 each, as they are written */
	size_t n_runs, capacity;
	Stretch *stretches;
	size_t n_stretches;
	uint64_t end_ns;            /* in processor time of the thread that visits */
	uint64_t name, size, count; /* the run that is not yet among `runs` */
	uint64_t n_visited, n_bytes;
	bool is_cut;
} Walk;

static struct {
	jrawMonitorID monitor;
	atomic_uint n_moves; /* collections begun */
	uint64_t move_begin_ns;
	uint32_t n_names;
	jlong n_anchors;
	uint64_t objects_between, bytes_between;
	uint64_t first_ns;
	uint64_t start, end; /* addresses seen so far */
	bool has_samples, is_over;
} heap = {.objects_between = MIN_OBJECTS, .bytes_between = MIN_BYTES};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void end_run(Walk *self)
{
	if (self->count == 0)
		return;
	self->n_runs += heap_log_put_number(self->runs + self->n_runs, self->name);
	self->n_runs += heap_log_put_number(self->runs + self->n_runs, self->size);
	self->n_runs += heap_log_put_number(self->runs + self->n_runs, self->count);
	self->count = 0;
}

static bool grow(Walk *self)
{
	if (self->capacity - self->n_runs >= 2 * MAX_RUN_BYTES)
		return true;
	size_t capacity = 2 * self->capacity + (1 << 16);
	uint8_t *runs = heap_log_has_room(capacity) ? realloc(self->runs, capacity) : NULL;
	if (runs == NULL)
		return false;
	self->runs = runs;
	self->capacity = capacity;
	return true;
}

/* An anchor of the last walk stays one, unless there are too many: so it is known whether it
 * moved. */
static void take_anchor(Walk *self, uint64_t size, jlong *tag)
{
	const Stretch *last = self->n_stretches > 0 ? &self->stretches[self->n_stretches - 1]
	                                            : NULL;
	bool is_due = last == NULL || last->n >= heap.objects_between ||
	              last->bytes >= heap.bytes_between || size >= heap.bytes_between;
	bool was_anchor = *tag >= FIRST_ANCHOR;

	if (was_anchor && !is_due && last->n < heap.objects_between / 4)
		*tag = 0;
	/* a class is never an anchor: its tag is the number of its name */
	if (is_due && *tag == 0)
		*tag = FIRST_ANCHOR + heap.n_anchors++;
	if (*tag < FIRST_ANCHOR)
		return;
	end_run(self);
	self->stretches[self->n_stretches++] = (Stretch){.anchor = *tag, .runs = self->n_runs};
}

/* Called at a safepoint: no other thread of the program runs. */
static jint JNICALL on_object(
	jlong class_tag, jlong size, jlong *tag_ptr, jint length, void *user_data)
{
	Walk *self = user_data;
	uint64_t units = (uint64_t)size / UNIT;

	(void)length;
	if (self->n_visited == 0)
		self->end_ns = cpu_ns() + MAX_PAUSE_NS;
	self->is_cut |= (self->n_visited % 1024 == 0 && cpu_ns() > self->end_ns) || !grow(self) ||
	                self->n_stretches == MAX_ANCHORS;
	if (self->is_cut)
		return JVMTI_VISIT_ABORT;
	self->n_visited++;
	self->n_bytes += (uint64_t)size;
	take_anchor(self, (uint64_t)size, tag_ptr);
	if (self->n_stretches == 0)
		return 0;
	if (self->name != (uint64_t)class_tag || self->size != units)
		end_run(self);
	self->name = (uint64_t)class_tag;
	self->size = units;
	self->count++;
	self->stretches[self->n_stretches - 1].bytes += (uint64_t)size;
	self->stretches[self->n_stretches - 1].n++;
	return 0;
}

/* Gives each new class a number as its tag, and logs its name under it. */
static bool name_classes(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes;
	jint n;

	if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < n; i++) {
		char name[MAX_NAME], *signature;
		jlong tag = 0;

		if ((*jvmti)->GetTag(jvmti, classes[i], &tag) == JVMTI_ERROR_NONE && tag == 0 &&
			(*jvmti)->GetClassSignature(jvmti, classes[i], &signature, NULL) ==
				JVMTI_ERROR_NONE) {
			lode_java_type_name_write(name, sizeof name, signature);
			(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
			(*jvmti)->SetTag(jvmti, classes[i], ++heap.n_names);
			heap_log_add_name(heap.n_names, name);
		}
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	return true;
}

static int compare_stretches(const void *a, const void *b)
{
	const Stretch *const *left = a, *const *right = b;

	return ((*left)->anchor > (*right)->anchor) - ((*left)->anchor < (*right)->anchor);
}

static void take_addresses(
	Stretch **by_anchor, size_t n, const jlong *tags, const jobject *objects, jint n_found)
{
	for (jint i = 0; i < n_found; i++) {
		const Stretch key = {.anchor = tags[i]}, *wanted = &key;
		Stretch **found = bsearch(
			&wanted, by_anchor, n, sizeof(Stretch *), compare_stretches);
		if (found != NULL)
			(*found)->address = *(const uint64_t *)(const void *)objects[i];
	}
}

static void find_addresses(Walk *self, jvmtiEnv *jvmti, JNIEnv *jni)
{
	size_t n = self->n_stretches;
	Stretch **by_anchor = malloc((n + 1) * sizeof(Stretch *));
	jlong *tags = malloc((n + 1) * sizeof *tags), *found_tags;
	jobject *objects;
	jint n_found;

	for (size_t i = 0; by_anchor != NULL && tags != NULL && i < n; i++) {
		by_anchor[i] = &self->stretches[i];
		tags[i] = self->stretches[i].anchor;
	}
	if (by_anchor != NULL && tags != NULL && n > 0 &&
		(*jvmti)->GetObjectsWithTags(jvmti, (jint)n, tags, &n_found, &objects,
			&found_tags) == JVMTI_ERROR_NONE) {
		qsort(by_anchor, n, sizeof(Stretch *), compare_stretches);
		take_addresses(by_anchor, n, found_tags, objects, n_found);
		for (jint i = 0; i < n_found; i++)
			(*jni)->DeleteLocalRef(jni, objects[i]);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)objects);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)found_tags);
	}
	free(tags);
	free(by_anchor);
}

/* Whether the stretch has all objects up to the next one. */
static bool is_whole(const Walk *self, size_t i)
{
	const Stretch *at = &self->stretches[i];

	return at->address != 0 && i + 1 < self->n_stretches &&
	       at->address + at->bytes == self->stretches[i + 1].address;
}

/* Collectors that move objects at any time do not visit them by address, so that hardly any
 * stretch is whole: then nothing is logged. */
static bool is_by_address(const Walk *self)
{
	size_t n = 0, n_whole = 0;

	for (size_t i = 0; i < self->n_stretches; i++) {
		n += self->stretches[i].n > 1;
		n_whole += self->stretches[i].n > 1 && is_whole(self, i);
	}
	return n > 0 && 2 * n_whole >= n;
}

/* HotSpot's heap is one range of addresses, which may grow. */
static void write_range(const Walk *self)
{
	uint64_t start = heap.start, end = heap.end;

	for (size_t i = 0; i < self->n_stretches; i++) {
		const Stretch *at = &self->stretches[i];
		if (at->address != 0 && (start == 0 || at->address < start))
			start = at->address;
		if (at->address != 0)
			end = larger(end, at->address + at->bytes);
	}
	if (start != heap.start || end != heap.end)
		heap_log_add_range(start, end);
	heap.start = start;
	heap.end = end;
}

static void write_walk(const Walk *self, const HeapSamples *samples, uint64_t time_ns)
{
	write_range(self);
	heap_log_add_walk(time_ns);
	if (samples->n > 0)
		heap_log_add_samples(samples->bytes, samples->n);
	for (size_t i = 0; i < self->n_stretches; i++) {
		const Stretch *at = &self->stretches[i];
		const uint8_t *runs = self->runs + at->runs;
		size_t end = i + 1 < self->n_stretches ? at[1].runs : self->n_runs;
		uint8_t first[MAX_RUN_BYTES];

		if (is_whole(self, i)) {
			heap_log_add_block(at->address, (uint64_t)at->anchor, runs, end - at->runs);
		} else if (at->address != 0 && end > at->runs) {
			/* the anchor itself is at its address, whether or not the stretch is whole
			 */
			size_t n = 0;
			for (int fields = 0; fields < 2; n++) {
				first[n] = runs[n];
				fields += runs[n] < 0x80;
			}
			first[n++] = 1;
			heap_log_add_block(at->address, (uint64_t)at->anchor, first, n);
		}
	}
}

static void walk(jvmtiEnv *jvmti, JNIEnv *jni)
{
	const jvmtiHeapCallbacks callbacks = {.heap_iteration_callback = on_object};
	HeapSamples samples = {0};
	Walk self = {0};
	unsigned n_moves;

	self.stretches = malloc(MAX_ANCHORS * sizeof *self.stretches);
	if (self.stretches == NULL || !name_classes(jvmti, jni))
		goto out;
	n_moves = atomic_load(&heap.n_moves);
	(*jvmti)->IterateThroughHeap(jvmti, 0, NULL, &callbacks, &self);
	end_run(&self);
	find_addresses(&self, jvmti, jni);
	if (heap.has_samples)
		heap_samples_init(&samples, jni);
	uint64_t time_ns = heap_log_now_ns();
	if (atomic_load(&heap.n_moves) == n_moves && is_by_address(&self) &&
		heap_log_has_room(self.n_runs + self.n_stretches * sizeof(Stretch) + samples.n))
		write_walk(&self, &samples, time_ns);
	heap_samples_set_heap_bytes(self.n_bytes);
	heap.objects_between = larger(MIN_OBJECTS, self.n_visited / WANTED_ANCHORS);
	heap.bytes_between = larger(MIN_BYTES, self.n_bytes / WANTED_ANCHORS);
	if (self.n_stretches == MAX_ANCHORS)
		heap.bytes_between *= 4;
out:
	heap_samples_clear(&samples);
	free(self.stretches);
	free(self.runs);
}

static void JNICALL on_move_begin(jvmtiEnv *jvmti)
{
	(void)jvmti;
	heap.move_begin_ns = heap_log_now_ns();
	atomic_fetch_add(&heap.n_moves, 1);
}

static void JNICALL on_move_end(jvmtiEnv *jvmti)
{
	(void)jvmti;
	heap_log_add_move(heap.move_begin_ns, heap_log_now_ns());
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *data)
{
	jlong wait_ms = FIRST_MS;

	(void)data;
	(*jvmti)->RawMonitorEnter(jvmti, heap.monitor);
	while (!heap.is_over &&
		(*jvmti)->RawMonitorWait(jvmti, heap.monitor, wait_ms) == JVMTI_ERROR_NONE &&
		!heap.is_over) {
		uint64_t begin_ns = heap_log_now_ns();
		walk(jvmti, jni);
		wait_ms = (jlong)(SHARE * (heap_log_now_ns() - begin_ns) / 1000000);
		wait_ms = wait_ms < FIRST_MS ? FIRST_MS : wait_ms;
	}
	(*jvmti)->RawMonitorExit(jvmti, heap.monitor);
}

bool heap_walk_prepare(JavaVM *vm, jvmtiEnv *jvmti, const char *directory)
{
	jvmtiCapabilities capabilities;

	memset(&capabilities, 0, sizeof capabilities);
	capabilities.can_tag_objects = 1;
	capabilities.can_generate_garbage_collection_events = 1;
	if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
		(*jvmti)->CreateRawMonitor(jvmti, "lode heap", &heap.monitor) != JVMTI_ERROR_NONE ||
		!heap_log_open(directory, "[Java heap]"))
		return false;
	heap.has_samples = heap_samples_prepare(vm);
	return true;
}

void heap_walk_set_callbacks(jvmtiEventCallbacks *callbacks)
{
	callbacks->GarbageCollectionStart = on_move_begin;
	callbacks->GarbageCollectionFinish = on_move_end;
}

void heap_walk_start(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jmethodID make = class != NULL ? (*jni)->GetMethodID(
						 jni, class, "<init>", "(Ljava/lang/String;)V")
	                               : NULL;
	jstring name = make != NULL ? (*jni)->NewStringUTF(jni, "lode heap") : NULL;
	jobject thread = name != NULL ? (*jni)->NewObject(jni, class, make, name) : NULL;

	heap.first_ns = heap_log_now_ns() + FIRST_MS * 1000000u;
	if (thread != NULL)
		(*jvmti)->RunAgentThread(jvmti, thread, run, NULL, JVMTI_THREAD_NORM_PRIORITY);
	(*jni)->ExceptionClear(jni);
}

void heap_walk_finish(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(*jvmti)->RawMonitorEnter(jvmti, heap.monitor);
	bool is_first = !heap.is_over;
	heap.is_over = true;
	(*jvmti)->RawMonitorNotifyAll(jvmti, heap.monitor);
	if (is_first && heap.first_ns != 0 && heap_log_now_ns() > heap.first_ns)
		walk(jvmti, jni);
	(*jvmti)->RawMonitorExit(jvmti, heap.monitor);
	heap_log_close();
}

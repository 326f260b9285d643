/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/scripts/sampled_scripts.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/variants/script_image.h"
#include "model/index.h"
#include "sources/perf_data/perf_data_format.h"
#include "sources/perf_data/script_look.h"

#include <math.h>
#include <string.h>

/* Looks are some hundred a second, for all threads together, and seldom at threads that run now and
 * then. */
#define MOST_NS UINT64_C(1000000000)

enum {
	MAX_FRAMES = 1 << 27,
	MAX_LOOPS = 1 << 16,
	MAX_SAMPLES = 1 << 25,
	MAX_SWITCHES = 1 << 24,
	ENOUGH_LOOKS = 12, /* at a thread that had a processor */
};

/* A sample further from a look than this does not say where the thread was then. */
#define BESIDE_NS UINT64_C(2000000)

/* Code that was told: its texts are the chunk's. */
typedef struct {
	const char *function, *file;
	uint32_t first_line, last_line, image;
	LodeImageKind kind; /* its language */
} Code;

typedef struct {
	uint64_t time_ns;
	uint32_t first, n; /* of `frames` */
} Look;

/* When a thread got a processor, or lost it. */
typedef struct {
	uint64_t time_ns;
	bool is_out;
} Switch;

/* Where a thread was; 0: in the kernel. */
typedef struct {
	uint64_t time_ns, address;
} Sample;

typedef struct {
	uint32_t recording, pid;
	GArray *looks;      /* Look, by time once they are frozen */
	GArray *running;    /* of these, those while it had a processor */
	GArray *waits;      /* likewise, those while it waited */
	GArray *samples;    /* Sample; empty once they are */
	GArray *switches;   /* Switch; likewise */
	GHashTable *beside; /* native function → GArray of Look, by time */
} Thread;

/* Where an interpreter said that its loop is. */
typedef struct {
	uint64_t address, time_ns;
	uint32_t recording, pid;
} Loop;

struct LodeSampledScripts {
	LodePlaces *places_of_all; /* borrowed, with their images */
	LodeCodeImages *images;
	guint n_samples, n_switches;
	GHashTable *gaps; /* recording → GArray of times from which on switches are not known */
	GStringChunk *texts;
	GHashTable *codes;   /* recording << 32 | number → Code */
	GHashTable *threads; /* recording << 32 | tid → Thread */
	GArray *frames;      /* LodeScriptFrame; once they are frozen `places` */
	GArray *places;      /* LodePlace */
	GArray *frame_codes; /* Code *, of each frame; NULL: it was not told */
	GArray *told_loops;  /* Loop */
	GHashTable *loops;   /* a number of function_at() */
	uint64_t n_torn;
	LodeScriptLook look;
};

static void free_array(void *data)
{
	g_array_unref(data);
}

static void free_thread(void *data)
{
	Thread *self = data;

	g_array_unref(self->looks);
	g_array_unref(self->running);
	g_array_unref(self->waits);
	g_array_unref(self->samples);
	g_array_unref(self->switches);
	g_hash_table_unref(self->beside);
	g_free(self);
}

LodeSampledScripts *lode_sampled_scripts_new(LodePlaces *places)
{
	LodeSampledScripts *self = g_new0(LodeSampledScripts, 1);

	self->places_of_all = places;
	self->images = lode_places_images(places);
	self->texts = g_string_chunk_new(4096);
	self->gaps = g_hash_table_new_full(NULL, NULL, NULL, free_array);
	self->codes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	self->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_thread);
	self->frames = g_array_new(FALSE, FALSE, sizeof(LodeScriptFrame));
	self->places = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	self->frame_codes = g_array_new(FALSE, FALSE, sizeof(const Code *));
	self->told_loops = g_array_new(FALSE, FALSE, sizeof(Loop));
	self->loops = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return self;
}

void lode_sampled_scripts_free(LodeSampledScripts *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->gaps);
	g_hash_table_unref(self->codes);
	g_hash_table_unref(self->threads);
	g_array_unref(self->frames);
	g_array_unref(self->places);
	g_array_unref(self->frame_codes);
	g_array_unref(self->told_loops);
	g_hash_table_unref(self->loops);
	g_string_chunk_free(self->texts);
	g_free(self);
}

static uint64_t key_of(uint32_t recording, uint32_t number)
{
	return (uint64_t)recording << 32 | number;
}

static void add_code(LodeSampledScripts *self, uint64_t key, const LodeScriptCode *told)
{
	int kind = lode_image_kind_from_text(told->language);
	const Code added = {
		.function = g_string_chunk_insert_const(self->texts, told->function),
		.file = g_string_chunk_insert_const(self->texts, told->file),
		.first_line = told->first_line,
		.last_line = told->last_line,
		.kind = (LodeImageKind)kind,
	};

	if (kind < 0 || !lode_image_kind_is_script((LodeImageKind)kind))
		return;
	/* Looks that came before have the code that was told before. */
	if (!g_hash_table_contains(self->codes, &key))
		g_hash_table_insert(self->codes, g_memdup2(&key, sizeof(key)),
			g_memdup2(&added, sizeof(added)));
}

static Thread *thread_of(LodeSampledScripts *self, uint32_t recording, const LodePerfRecord *record)
{
	uint64_t key = key_of(recording, record->tid);
	Thread *thread = g_hash_table_lookup(self->threads, &key);

	if (thread == NULL) {
		thread = g_new0(Thread, 1);
		*thread = (Thread){recording, record->pid, g_array_new(FALSE, FALSE, sizeof(Look)),
			g_array_new(FALSE, FALSE, sizeof(Look)),
			g_array_new(FALSE, FALSE, sizeof(Look)),
			g_array_new(FALSE, FALSE, sizeof(Sample)),
			g_array_new(FALSE, FALSE, sizeof(Switch)),
			g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_array)};
		g_hash_table_insert(self->threads, g_memdup2(&key, sizeof(key)), thread);
	}
	return thread;
}

void lode_sampled_scripts_note_sample(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns)
{
	const Sample added = {time_ns, record->mode == LODE_PERF_MODE_USER ? record->sample.ip : 0};

	if (self->n_samples >= MAX_SAMPLES)
		return;
	self->n_samples++;
	g_array_append_val(thread_of(self, recording, record)->samples, added);
}

static void note_gap(LodeSampledScripts *self, uint32_t recording, uint64_t time_ns)
{
	GArray *gaps = g_hash_table_lookup(self->gaps, GUINT_TO_POINTER(recording));

	if (gaps == NULL) {
		gaps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		g_hash_table_insert(self->gaps, GUINT_TO_POINTER(recording), gaps);
	}
	if (gaps->len < MAX_SWITCHES)
		g_array_append_val(gaps, time_ns);
}

void lode_sampled_scripts_note_switch(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns)
{
	const Switch added = {time_ns, record->is_out};
	uint64_t key = key_of(recording, record->tid);
	Thread *thread = g_hash_table_lookup(self->threads, &key);

	if (record->pid == 0 && record->tid == LODE_PERF_NO_SWITCHES_TID && record->is_out)
		note_gap(self, recording, time_ns);
	if (thread == NULL || self->n_switches >= MAX_SWITCHES)
		return;
	self->n_switches++;
	g_array_append_val(thread->switches, added);
}

/* Frames of waiting are not those of samples, which are of running. */
static void add_look(LodeSampledScripts *self, uint32_t recording, const LodePerfRecord *record,
	uint64_t time_ns)
{
	const LodeScriptLook *look = &self->look;
	const Look added = {time_ns, self->frames->len, look->n_frames};

	self->n_torn += (look->flags & LODE_SCRIPT_WAS_TORN) != 0;
	if (look->n_frames == 0 || self->frames->len > MAX_FRAMES)
		return;
	g_array_append_vals(self->frames, look->frames, look->n_frames);
	Thread *thread = thread_of(self, recording, record);
	bool is_waiting = (look->flags & LODE_SCRIPT_IS_WAITING) != 0;
	g_array_append_val(is_waiting ? thread->waits : thread->looks, added);
}

bool lode_sampled_scripts_note(LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns)
{
	LodeScriptLook *look = &self->look;

	if (!lode_script_look_read(look, record->sample.raw, record->sample.raw_size))
		return false;
	if (look->kind == LODE_SCRIPT_CODE) {
		add_code(self, key_of(recording, look->code.number), &look->code);
		return true;
	}
	if (look->kind == LODE_SCRIPT_LOOP) {
		const Loop told = {look->loop, time_ns, recording, record->pid};
		if (self->told_loops->len < MAX_LOOPS)
			g_array_append_val(self->told_loops, told);
		return true;
	}
	if (look->kind == LODE_SCRIPT_COMMAND)
		return true;
	/* The numbers of frames become those of all recordings below. */
	guint first = self->frames->len;
	add_look(self, recording, record, time_ns);
	for (guint i = first; i < self->frames->len; i++) {
		uint64_t key = key_of(
			recording, g_array_index(self->frames, LodeScriptFrame, i).code);
		const Code *code = g_hash_table_lookup(self->codes, &key);
		g_array_append_val(self->frame_codes, code);
	}
	return true;
}

/* --- places --- */

/* The functions of each file (LodeScriptFunction). */
static GHashTable *sort_codes(const LodeSampledScripts *self)
{
	GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_array);
	GHashTableIter iterator;
	void *value;

	g_hash_table_iter_init(&iterator, self->codes);
	while (g_hash_table_iter_next(&iterator, NULL, &value)) {
		const Code *code = value;
		const LodeScriptFunction function = {
			code->function, code->first_line, code->last_line};
		GArray *functions = g_hash_table_lookup(files, code->file);
		if (functions == NULL) {
			functions = g_array_new(FALSE, FALSE, sizeof(LodeScriptFunction));
			g_hash_table_insert(files, (char *)code->file, functions);
		}
		g_array_append_val(functions, function);
	}
	return files;
}

static void make_images(LodeSampledScripts *self)
{
	g_autoptr(GHashTable) files = sort_codes(self);
	GHashTableIter iterator;
	void *value;

	g_hash_table_iter_init(&iterator, self->codes);
	while (g_hash_table_iter_next(&iterator, NULL, &value)) {
		Code *code = value;
		GArray *functions = g_hash_table_lookup(files, code->file);
		code->image = lode_code_images_add_kind(self->images, code->kind, code->file);
		if (lode_code_images_peek(self->images, code->image)->binary == NULL)
			lode_code_images_set_binary(self->images, code->image,
				lode_script_image_new(code->file, functions));
	}
}

const GArray *lode_sampled_scripts_places(const LodeSampledScripts *self)
{
	return self->places;
}

static LodePlace place_of(const LodeSampledScripts *self, const Code *code, uint32_t line)
{
	LodePlace place = {LODE_NONE, 0};

	if (code == NULL)
		return place;
	place.address = lode_script_image_address(
		lode_code_images_peek(self->images, code->image)->binary, code->function,
		code->first_line, line);
	if (place.address != 0)
		place.image = code->image;
	return place;
}

LODE_ORDER(compare_looks, Look, LODE_ASCENDING(time_ns), LODE_ASCENDING(first))
LODE_ORDER(compare_switches, Switch, LODE_ASCENDING(time_ns), LODE_DESCENDING(is_out))
LODE_ORDER(compare_samples, Sample, LODE_ASCENDING(time_ns), LODE_ASCENDING(address))

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A number for the native function at a place; 0: it is not known, or the kernel. */
static uint64_t function_at(const LodeSampledScripts *self, const LodePlace *code)
{
	if (code == NULL || code->image >= lode_code_images_count(self->images))
		return 0;
	const LodeBinaryFunction *function = lode_code_image_function(
		lode_code_images_at(self->images, code->image), code->address);
	return (uint64_t)(code->image + 1) << 48 ^ (function != NULL ? function->address : 1);
}

/* Of an array whose elements begin with their time. */
static uint64_t time_at(const GArray *sorted, guint i)
{
	return *(const uint64_t *)(const void *)(sorted->data +
						 (gsize)i * g_array_get_element_size(
								    (GArray *)sorted));
}

/* The element of such an array, sorted, that is nearest to a time, and no further than that; NULL:
 * none. */
static const void *nearest(const GArray *sorted, uint64_t time_ns, uint64_t most_ns)
{
	guint best = LODE_PARTITION_POINT(sorted->len, i, time_at(sorted, i) <= time_ns);

	if (sorted->len == 0)
		return NULL;
	if (best == sorted->len || (best > 0 && distance(time_at(sorted, best - 1), time_ns) <=
							distance(time_at(sorted, best), time_ns)))
		best--;
	return distance(time_at(sorted, best), time_ns) <= most_ns
	               ? sorted->data + (gsize)best * g_array_get_element_size((GArray *)sorted)
	               : NULL;
}

/* Whether a thread had no processor at a time: it lost it before, gets one afterwards, and all
 * switches in between are known. */
static bool is_off(const LodeSampledScripts *self, const Thread *thread, uint64_t time_ns)
{
	const Switch *all = (const void *)thread->switches->data;
	const GArray *gaps = g_hash_table_lookup(self->gaps, GUINT_TO_POINTER(thread->recording));
	guint next = LODE_PARTITION_POINT(thread->switches->len, i, all[i].time_ns <= time_ns);

	if (next == 0 || next == thread->switches->len || !all[next - 1].is_out || all[next].is_out)
		return false;
	guint gap = gaps == NULL ? 0
	                         : LODE_PARTITION_POINT(
					   gaps->len, i, time_at(gaps, i) <= all[next - 1].time_ns);
	return gaps == NULL || gap == gaps->len || time_at(gaps, gap) > all[next].time_ns;
}

/* What looks saw innermost: how often in all, and while the thread had a processor. */
typedef struct {
	double all, running;
} Seen;

static void count_innermost(
	const LodeSampledScripts *self, const GArray *looks, GHashTable *seen, bool is_running)
{
	for (guint i = 0; i < looks->len; i++) {
		const LodePlace *place = &g_array_index(
			self->places, LodePlace, g_array_index(looks, Look, i).first);
		uint64_t key = (uint64_t)(place->image + 1) << 48 ^ place->address;
		Seen *one = g_hash_table_lookup(seen, &key);
		if (one == NULL) {
			one = g_new0(Seen, 1);
			g_hash_table_insert(seen, g_memdup2(&key, sizeof(key)), one);
		}
		*(is_running ? &one->running : &one->all) += 1;
	}
}

/* Whether looks while a thread had no processor saw something more often than chance makes them:
 * three standard deviations of the difference of two shares. */
static bool are_elsewhere(const LodeSampledScripts *self, const Thread *thread)
{
	g_autoptr(GHashTable)
		seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	double n_running = thread->running->len, n_off = thread->looks->len - n_running;
	GHashTableIter iterator;
	void *value;

	count_innermost(self, thread->looks, seen, false);
	count_innermost(self, thread->running, seen, true);
	g_hash_table_iter_init(&iterator, seen);
	while (n_off > 0 && g_hash_table_iter_next(&iterator, NULL, &value)) {
		const Seen *one = value;
		double share = one->all / (n_running + n_off);
		double more = (one->all - one->running) / n_off - one->running / n_running;
		if (more > 3 * sqrt(share * (1 - share) * (1 / n_running + 1 / n_off)))
			return true;
	}
	return false;
}

static void find_running(const LodeSampledScripts *self, Thread *thread)
{
	g_array_sort(thread->switches, compare_switches);
	for (guint i = 0; i < thread->looks->len; i++) {
		const Look *look = &g_array_index(thread->looks, Look, i);
		if (!is_off(self, thread, look->time_ns))
			g_array_append_vals(thread->running, look, 1);
	}
	if (thread->running->len < ENOUGH_LOOKS || !are_elsewhere(self, thread)) {
		g_array_unref(thread->running);
		thread->running = g_array_ref(thread->looks);
	}
	g_array_set_size(thread->switches, 0);
}

/* Sorts looks by the native function that the thread was in. */
static void sort_looks(LodeSampledScripts *self, Thread *thread)
{
	g_array_sort(thread->looks, compare_looks);
	g_array_sort(thread->waits, compare_looks);
	find_running(self, thread);
	if (thread->looks->len > 0)
		g_array_sort(thread->samples, compare_samples);
	lode_places_select(self->places_of_all, thread->recording);
	for (guint i = 0; i < thread->running->len; i++) {
		const Look *look = &g_array_index(thread->running, Look, i);
		const Sample *sample = nearest(thread->samples, look->time_ns, BESIDE_NS);
		LodePlace place;
		if (sample == NULL)
			continue;
		bool is_found = sample->address != 0 &&
		                lode_places_find(self->places_of_all, thread->pid, sample->time_ns,
					sample->address, &place) == LODE_PLACE_FOUND;
		uint64_t function = function_at(self, is_found ? &place : NULL);
		GArray *list = g_hash_table_lookup(thread->beside, &function);
		if (list == NULL) {
			list = g_array_new(FALSE, FALSE, sizeof(Look));
			g_hash_table_insert(
				thread->beside, g_memdup2(&function, sizeof(function)), list);
		}
		g_array_append_vals(list, look, 1);
	}
	g_array_set_size(thread->samples, 0);
}

static void find_loops(LodeSampledScripts *self)
{
	for (guint i = 0; i < self->told_loops->len; i++) {
		const Loop *told = &g_array_index(self->told_loops, Loop, i);
		LodePlace place;
		lode_places_select(self->places_of_all, told->recording);
		if (lode_places_find(self->places_of_all, told->pid, told->time_ns, told->address,
			    &place) != LODE_PLACE_FOUND)
			continue;
		uint64_t function = function_at(self, &place);
		g_hash_table_add(self->loops, g_memdup2(&function, sizeof(function)));
	}
	g_array_set_size(self->told_loops, 0);
}

void lode_sampled_scripts_freeze(LodeSampledScripts *self)
{
	GHashTableIter iterator;
	void *thread;

	make_images(self);
	find_loops(self);
	for (guint i = 0; i < self->frames->len; i++) {
		const LodeScriptFrame *frame = &g_array_index(self->frames, LodeScriptFrame, i);
		/* Code that was not told ends the chain: it has no image. */
		const LodePlace place = place_of(
			self, g_array_index(self->frame_codes, const Code *, i), frame->line);
		g_array_append_val(self->places, place);
	}
	g_array_set_size(self->frames, 0);
	g_array_set_size(self->frame_codes, 0);
	g_hash_table_iter_init(&iterator, self->gaps);
	while (g_hash_table_iter_next(&iterator, NULL, &thread))
		g_array_sort(thread, lode_compare_u64);
	g_hash_table_iter_init(&iterator, self->threads);
	while (g_hash_table_iter_next(&iterator, NULL, &thread))
		sort_looks(self, thread);
}

uint64_t lode_sampled_scripts_n_torn(const LodeSampledScripts *self)
{
	return self->n_torn;
}

/* --- samples --- */

/* As far as its code was told; NULL: the innermost was not. */
static const LodePlace *frames_of(const LodeSampledScripts *self, const Look *look, guint *out_n)
{
	const LodePlace *places = &g_array_index(self->places, LodePlace, look->first);

	for (*out_n = 0; *out_n < look->n && places[*out_n].image != LODE_NONE;)
		++*out_n;
	return *out_n > 0 ? places : NULL;
}

const LodePlace *lode_sampled_scripts_find(const LodeSampledScripts *self, uint32_t recording,
	const LodePerfRecord *record, uint64_t time_ns, const LodePlace *code, guint *out_n)
{
	uint64_t key = key_of(recording, record->tid);
	const Thread *thread = g_hash_table_lookup(self->threads, &key);

	if (thread == NULL || thread->looks->len == 0)
		return NULL;
	uint64_t function = function_at(self, code);
	const GArray *beside = g_hash_table_lookup(thread->beside, &function);
	const Look *found = beside != NULL ? nearest(beside, time_ns, MOST_NS) : NULL;
	if (found == NULL)
		found = nearest(thread->running, time_ns, MOST_NS);
	if (found == NULL)
		found = nearest(thread->looks, time_ns, MOST_NS);
	return found != NULL ? frames_of(self, found, out_n) : NULL;
}

const LodePlace *lode_sampled_scripts_find_waiting(const LodeSampledScripts *self,
	uint32_t recording, const LodePerfRecord *record, uint64_t begin_ns, uint64_t end_ns,
	guint *out_n)
{
	uint64_t key = key_of(recording, record->tid);
	const Thread *thread = g_hash_table_lookup(self->threads, &key);

	if (thread == NULL)
		return NULL;
	guint first = LODE_PARTITION_POINT(
		thread->waits->len, i, time_at(thread->waits, i) < begin_ns);
	if (first == thread->waits->len || time_at(thread->waits, first) >= end_ns)
		return NULL;
	return frames_of(self, &g_array_index(thread->waits, Look, first), out_n);
}

bool lode_sampled_scripts_is_loop(const LodeSampledScripts *self, const LodePlace *place)
{
	/* What the names begin with. */
	static const char *const loops[] = {
		"_PyEval_EvalFrameDefault", /* CPython */
		"Perl_runops_standard",
		"rb_vm_exec",
	};

	if (place->image >= lode_code_images_count(self->images))
		return false;
	const LodeBinaryFunction *function = lode_code_image_function(
		lode_code_images_at(self->images, place->image), place->address);
	for (size_t i = 0; i < G_N_ELEMENTS(loops) && function != NULL; i++)
		if (g_str_has_prefix(function->name, loops[i]))
			return true;
	uint64_t number = g_hash_table_size(self->loops) > 0 ? function_at(self, place) : 0;
	return function != NULL && number != 0 && g_hash_table_contains(self->loops, &number);
}

/* SPDX-License-Identifier: MIT */
/*
 * In this version of the format only strings and libraries are shared: each thread has tables of
 * its own, with what its samples need.
 *
 *   sample ─▶ stackTable: frame, prefix ─▶ frameTable: func, address, line ─▶ funcTable: name,
 * resource ─▶ libs
 */
#include "views/export/stack_export.h"

#include "base/arrays/name_table.h"
#include "base/arrays/sort_order.h"
#include "base/text/json_stream.h"
#include "model/index.h"
#include "model/run/program_run.h"
#include "model/stacks.h"
#include "views/export/firefox_markers.h"
#include "views/form/format.h"

#include <math.h>

enum { FORMAT_VERSION = 56, GECKO_VERSION = 30, NS_PER_MS = 1000000 };

/* Numbers of rows in the tables of a thread, of those of the export; LODE_NONE: not needed. */
typedef struct {
	uint32_t *of; /* of each */
	GArray *used; /* uint32_t: which, in order */
} Rows;

typedef struct {
	const LodeStackExport *export;
	LodeJsonStream json;
	LodeNameTable strings;
	LodeNameTable images;                               /* paths */
	uint32_t *frame_names, *frame_files, *frame_images; /* of each frame; LODE_NONE: none */
	Rows stacks, frames;                                /* of the present thread */
	GArray *functions;                                  /* Function, of the present thread */
	GHashTable *function_ids;                           /* name and image → index + 1 */
	GHashTable *resource_ids;                           /* image → index + 1 */
	GArray *resources;                                  /* uint32_t: images */
	LodeFirefoxMarkers markers;
} Firefox;

typedef struct {
	uint32_t name, image, file;
} Function;

static void name_frames(Firefox *self)
{
	const GArray *frames = self->export->stacks->frames;

	self->frame_names = g_new(uint32_t, MAX(frames->len, 1));
	self->frame_files = g_new(uint32_t, MAX(frames->len, 1));
	self->frame_images = g_new(uint32_t, MAX(frames->len, 1));
	for (guint i = 0; i < frames->len; i++) {
		const LodeFrame *frame = &g_array_index(frames, LodeFrame, i);
		g_autofree char *name = lode_stack_export_frame_name(frame);
		self->frame_names[i] = lode_name_table_add(&self->strings, name);
		self->frame_files[i] = frame->file != NULL
		                               ? lode_name_table_add(&self->strings, frame->file)
		                               : LODE_NONE;
		self->frame_images[i] = frame->image != NULL
		                                ? lode_name_table_add(&self->images, frame->image)
		                                : LODE_NONE;
	}
	for (guint i = 0; i < self->images.names->len; i++)
		lode_name_table_add(
			&self->strings, lode_stack_export_file_name(self->images.names->pdata[i]));
}

/* Adds a row if it is not there yet. */
static uint32_t use(Rows *rows, uint32_t row)
{
	if (rows->of[row] == LODE_NONE) {
		rows->of[row] = rows->used->len;
		g_array_append_val(rows->used, row);
	}
	return rows->of[row];
}

/* Outer stacks come before inner ones in the export, so that they have to here. */
static void find_stacks(Firefox *self, uint32_t thread)
{
	const LodeStacks *stacks = self->export->stacks;
	GArray *used = self->stacks.used;

	for (guint i = 0; i < used->len; i++)
		self->stacks.of[g_array_index(used, uint32_t, i)] = LODE_NONE;
	for (guint i = 0; i < self->frames.used->len; i++)
		self->frames.of[g_array_index(self->frames.used, uint32_t, i)] = LODE_NONE;
	g_array_set_size(used, 0);
	g_array_set_size(self->frames.used, 0);
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(stacks->samples, LodeStackSample, i);
		if (sample->thread != thread || sample->event != self->export->weight)
			continue;
		for (uint32_t at = sample->stack;
			at != LODE_NONE && self->stacks.of[at] == LODE_NONE;
			at = g_array_index(stacks->stacks, LodeStack, at).outer)
			use(&self->stacks, at);
	}
	g_array_sort(used, lode_compare_u32);
	for (guint i = 0; i < used->len; i++) {
		uint32_t stack = g_array_index(used, uint32_t, i);
		self->stacks.of[stack] = i;
		use(&self->frames, g_array_index(stacks->stacks, LodeStack, stack).frame);
	}
}

static uint32_t function_number(Firefox *self, uint32_t frame)
{
	const Function function = {
		self->frame_names[frame], self->frame_images[frame], self->frame_files[frame]};
	g_autofree char *key = g_strdup_printf(
		"%u %u %u", function.name, function.image, function.file);
	void *found = g_hash_table_lookup(self->function_ids, key);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_array_append_val(self->functions, function);
	g_hash_table_insert(
		self->function_ids, g_steal_pointer(&key), GUINT_TO_POINTER(self->functions->len));
	return self->functions->len - 1;
}

/* −1: no image. */
static double resource_number(Firefox *self, uint32_t image)
{
	if (image == LODE_NONE)
		return -1;
	void *found = g_hash_table_lookup(self->resource_ids, GUINT_TO_POINTER(image));
	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_array_append_val(self->resources, image);
	g_hash_table_insert(self->resource_ids, GUINT_TO_POINTER(image),
		GUINT_TO_POINTER(self->resources->len));
	return self->resources->len - 1;
}

/* A column of `n` values; the last column of a table sets its length. */
static void begin_column(Firefox *self, const char *name)
{
	lode_json_member_begin(&self->json, name, '[');
}

static void end_column(Firefox *self)
{
	lode_json_end(&self->json, ']');
}

static void null(Firefox *self)
{
	lode_json_string(&self->json, NULL);
}

static void index_or_null(Firefox *self, uint32_t index)
{
	if (index == LODE_NONE)
		null(self);
	else
		lode_json_integer(&self->json, index);
}

static void same_column(Firefox *self, const char *name, guint n, double value)
{
	begin_column(self, name);
	for (guint i = 0; i < n; i++) {
		if (isnan(value))
			null(self);
		else
			lode_json_number(&self->json, value);
	}
	end_column(self);
}

static void begin_table(Firefox *self, const char *name, guint n)
{
	lode_json_line(&self->json);
	lode_json_member_begin(&self->json, name, '{');
	lode_json_member_number(&self->json, "length", n);
}

static void end_table(Firefox *self)
{
	lode_json_end(&self->json, '}');
}

static double begin_of(const LodeStackExport *export)
{
	uint64_t least = UINT64_MAX;

	for (guint i = 0; i < export->stacks->samples->len; i++)
		least = MIN(
			least, g_array_index(export->stacks->samples, LodeStackSample, i).time_ns);
	return least == UINT64_MAX ? 0 : (double)least;
}

LODE_ORDER_OF_POINTERS(
	compare_times, LodeStackSample, LODE_ASCENDING(time_ns), (left > right) - (left < right))

/* Lists the samples of a thread by their times. */
static GPtrArray *list_samples(const LodeStackExport *export, uint32_t thread)
{
	GPtrArray *list = g_ptr_array_new();

	for (guint i = 0; i < export->stacks->samples->len; i++) {
		LodeStackSample *sample = &g_array_index(
			export->stacks->samples, LodeStackSample, i);
		if (sample->thread == thread && sample->event == export->weight)
			g_ptr_array_add(list, sample);
	}
	g_ptr_array_sort(list, compare_times);
	return list;
}

/* Time is in milliseconds; what else is counted weighs as it is. */
static void write_samples(Firefox *self, const GPtrArray *samples, double begin_ns)
{
	bool is_time = lode_stack_export_is_time(self->export->profile, self->export->weight);

	begin_table(self, "samples", samples->len);
	begin_column(self, "stack");
	for (guint i = 0; i < samples->len; i++) {
		const LodeStackSample *sample = samples->pdata[i];
		index_or_null(self,
			sample->stack != LODE_NONE ? self->stacks.of[sample->stack] : LODE_NONE);
	}
	end_column(self);
	begin_column(self, "time");
	for (guint i = 0; i < samples->len; i++) {
		const LodeStackSample *sample = samples->pdata[i];
		lode_json_number(
			&self->json, ((double)sample->time_ns - begin_ns) / (double)NS_PER_MS);
	}
	end_column(self);
	begin_column(self, "weight");
	for (guint i = 0; i < samples->len; i++) {
		const LodeStackSample *sample = samples->pdata[i];
		lode_json_number(
			&self->json, is_time ? sample->weight / (double)NS_PER_MS : sample->weight);
	}
	end_column(self);
	lode_json_member_string(&self->json, "weightType", is_time ? "tracing-ms" : "samples");
	end_table(self);
}

static void write_stacks(Firefox *self)
{
	const LodeStacks *stacks = self->export->stacks;
	const GArray *used = self->stacks.used;

	begin_table(self, "stackTable", used->len);
	begin_column(self, "frame");
	for (guint i = 0; i < used->len; i++)
		lode_json_integer(&self->json, self->frames.of[g_array_index(stacks->stacks,
						       LodeStack, g_array_index(used, uint32_t, i))
								       .frame]);
	end_column(self);
	begin_column(self, "prefix");
	for (guint i = 0; i < used->len; i++) {
		uint32_t outer = g_array_index(
			stacks->stacks, LodeStack, g_array_index(used, uint32_t, i))
		                         .outer;
		index_or_null(self, outer != LODE_NONE ? self->stacks.of[outer] : LODE_NONE);
	}
	end_column(self);
	end_table(self);
}

static const LodeFrame *used_frame(const Firefox *self, guint i)
{
	return &g_array_index(self->export->stacks->frames, LodeFrame,
		g_array_index(self->frames.used, uint32_t, i));
}

static void write_frames(Firefox *self)
{
	const GArray *used = self->frames.used;
	guint n = used->len;

	begin_table(self, "frameTable", n);
	begin_column(self, "address");
	for (guint i = 0; i < n; i++) {
		const LodeFrame *frame = used_frame(self, i);
		/* A number of JavaScript's; larger ones are not addresses of code. */
		lode_json_number(
			&self->json, frame->image != NULL && frame->address < UINT64_C(1) << 53
					     ? (double)frame->address
					     : -1);
	}
	end_column(self);
	begin_column(self, "inlineDepth");
	for (guint i = 0; i < n; i++)
		lode_json_integer(&self->json, used_frame(self, i)->is_inlined ? 1 : 0);
	end_column(self);
	same_column(self, "category", n, 0);
	same_column(self, "subcategory", n, 0);
	begin_column(self, "func");
	for (guint i = 0; i < n; i++)
		lode_json_integer(
			&self->json, function_number(self, g_array_index(used, uint32_t, i)));
	end_column(self);
	same_column(self, "nativeSymbol", n, NAN);
	same_column(self, "innerWindowID", n, 0);
	begin_column(self, "line");
	for (guint i = 0; i < n; i++)
		index_or_null(self,
			used_frame(self, i)->line > 0 ? used_frame(self, i)->line : LODE_NONE);
	end_column(self);
	same_column(self, "column", n, NAN);
	end_table(self);
}

static void bool_column(Firefox *self, const char *name, guint n)
{
	begin_column(self, name);
	for (guint i = 0; i < n; i++)
		lode_json_bool(&self->json, false);
	end_column(self);
}

static void write_functions(Firefox *self)
{
	guint n = self->functions->len;

	begin_table(self, "funcTable", n);
	begin_column(self, "name");
	for (guint i = 0; i < n; i++)
		lode_json_integer(&self->json, g_array_index(self->functions, Function, i).name);
	end_column(self);
	bool_column(self, "isJS", n);
	bool_column(self, "relevantForJS", n);
	begin_column(self, "resource");
	for (guint i = 0; i < n; i++)
		lode_json_number(&self->json,
			resource_number(self, g_array_index(self->functions, Function, i).image));
	end_column(self);
	begin_column(self, "fileName");
	for (guint i = 0; i < n; i++)
		index_or_null(self, g_array_index(self->functions, Function, i).file);
	end_column(self);
	same_column(self, "lineNumber", n, NAN);
	same_column(self, "columnNumber", n, NAN);
	end_table(self);
}

static void write_resources(Firefox *self)
{
	enum { LIBRARY = 1 };
	guint n = self->resources->len;

	begin_table(self, "resourceTable", n);
	begin_column(self, "lib");
	for (guint i = 0; i < n; i++)
		lode_json_integer(&self->json, g_array_index(self->resources, uint32_t, i));
	end_column(self);
	begin_column(self, "name");
	for (guint i = 0; i < n; i++)
		lode_json_integer(&self->json,
			lode_name_table_add(&self->strings,
				lode_stack_export_file_name(self->images.names->pdata[g_array_index(
					self->resources, uint32_t, i)])));
	end_column(self);
	same_column(self, "host", n, NAN);
	same_column(self, "type", n, LIBRARY);
	end_table(self);
}

static void write_empty_table(Firefox *self)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};

	begin_table(self, "nativeSymbols", 0);
	for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++)
		same_column(self, symbols[i], 0, 0);
	end_table(self);
}

/* `index` of the export's threads; LODE_NONE: it has no samples. */
static void write_thread(
	Firefox *self, const LodeStackThread *thread, uint32_t index, double begin_ns)
{
	g_autoptr(GPtrArray) samples = list_samples(self->export, index);
	g_autofree char *pid = g_strdup_printf("%" G_GUINT32_FORMAT, thread->pid);
	LodeJsonStream *json = &self->json;

	if (samples->len == 0 &&
		!lode_firefox_markers_have(&self->markers, thread->pid, thread->tid))
		return;
	g_array_set_size(self->functions, 0);
	g_array_set_size(self->resources, 0);
	g_hash_table_remove_all(self->function_ids);
	g_hash_table_remove_all(self->resource_ids);
	find_stacks(self, index);
	lode_json_line_begin(json, '{');
	lode_json_member_string(json, "processType", "default");
	lode_json_member_number(json, "processStartupTime", 0);
	lode_json_key(json, "processShutdownTime");
	null(self);
	lode_json_member_number(json, "registerTime", 0);
	lode_json_key(json, "unregisterTime");
	null(self);
	same_column(self, "pausedRanges", 0, 0);
	lode_json_member_string(json, "name", thread->name != NULL ? thread->name : "[unknown]");
	lode_json_member_string(
		json, "processName", thread->name != NULL ? thread->name : "[unknown]");
	lode_json_member_bool(json, "isMainThread", thread->pid == thread->tid);
	lode_json_member_string(json, "pid", pid);
	lode_json_member_number(json, "tid", thread->tid);
	write_samples(self, samples, begin_ns);
	write_stacks(self);
	write_frames(self);
	write_functions(self);
	write_resources(self);
	write_empty_table(self);
	lode_firefox_markers_put(
		&self->markers, thread->pid, thread->tid, begin_ns, &self->strings, json);
	lode_json_end(json, '}');
}

static void write_threads(Firefox *self)
{
	const GArray *threads = self->export->stacks->threads;
	double begin_ns = begin_of(self->export);
	g_autoptr(GArray) others = lode_firefox_markers_others(&self->markers, threads);

	begin_column(self, "threads");
	for (guint i = 0; i < threads->len; i++)
		write_thread(self, &g_array_index(threads, LodeStackThread, i), i, begin_ns);
	for (guint i = 0; i < others->len; i++)
		write_thread(self, &g_array_index(others, LodeStackThread, i), LODE_NONE, begin_ns);
	end_column(self);
}

/* Milliseconds between samples, which is what each weighs where that is time; else the usual one,
 * as a thread is not sampled while it waits. */
static double find_interval(const LodeStackExport *export)
{
	bool is_time = lode_stack_export_is_time(export->profile, export->weight);
	g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; export->made == NULL && i < export->stacks->threads->len; i++) {
		g_autoptr(GPtrArray) samples = list_samples(export, i);
		for (guint j = 1; j < samples->len; j++) {
			const LodeStackSample *last = samples->pdata[j - 1];
			const LodeStackSample *next = samples->pdata[j];
			double ns = is_time ? next->weight / (1.0 + next->n_more)
			                    : (double)(next->time_ns - last->time_ns) /
			                              (1.0 + last->n_more);
			if (ns > 0)
				g_array_append_val(values, ns);
		}
	}
	g_array_sort(values, lode_compare_doubles);
	return values->len > 0 ? g_array_index(values, double, values->len / 2) / (double)NS_PER_MS
	                       : 1;
}

static void write_meta(Firefox *self)
{
	const LodeProfile *profile = self->export->profile;
	LodeJsonStream *json = &self->json;

	lode_json_line(json);
	lode_json_member_begin(json, "meta", '{');
	lode_json_member_number(json, "preprocessedProfileVersion", FORMAT_VERSION);
	lode_json_member_number(json, "version", GECKO_VERSION);
	lode_json_member_string(json, "product",
		lode_program_run_of(profile)->program != NULL
			? lode_program_run_of(profile)->program
			: "lode");
	lode_json_member_string(json, "importedFrom", "lode");
	lode_json_member_number(json, "interval", find_interval(self->export));
	lode_json_member_number(json, "startTime", 0);
	lode_json_member_number(json, "processType", 0);
	lode_json_member_number(json, "stackwalk", 1);
	lode_json_member_bool(json, "symbolicated", true);
	lode_json_member_bool(json, "usesOnlyOneStackType", true);
	lode_firefox_markers_put_schema(json);
	begin_column(self, "categories");
	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", "Other");
	lode_json_member_string(json, "color", "grey");
	begin_column(self, "subcategories");
	lode_json_string(json, "Other");
	end_column(self);
	lode_json_end(json, '}');
	end_column(self);
	lode_json_end(json, '}');
}

static void write_libraries(Firefox *self)
{
	lode_json_line(&self->json);
	begin_column(self, "libs");
	for (guint i = 0; i < self->images.names->len; i++) {
		const char *path = self->images.names->pdata[i];
		const char *name = lode_stack_export_file_name(path);
		lode_json_begin(&self->json, '{');
		lode_json_member_string(&self->json, "name", name);
		lode_json_member_string(&self->json, "path", path);
		lode_json_member_string(&self->json, "debugName", name);
		lode_json_member_string(&self->json, "debugPath", path);
		lode_json_member_string(&self->json, "breakpadId", "");
		lode_json_member_string(&self->json, "codeId", NULL);
		lode_json_member_string(&self->json, "arch", "x86_64");
		lode_json_end(&self->json, '}');
	}
	end_column(self);
}

static void write_strings(Firefox *self)
{
	lode_json_line(&self->json);
	lode_json_member_begin(&self->json, "shared", '{');
	begin_column(self, "stringArray");
	for (guint i = 0; i < self->strings.names->len; i++)
		lode_json_string(&self->json, self->strings.names->pdata[i]);
	end_column(self);
	lode_json_end(&self->json, '}');
}

static void init_rows(Rows *self, guint n)
{
	self->of = g_new(uint32_t, MAX(n, 1));
	self->used = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < n; i++)
		self->of[i] = LODE_NONE;
}

static void clear_rows(Rows *self)
{
	g_free(self->of);
	g_array_unref(self->used);
}

bool lode_firefox_profile_write(const LodeStackExport *export, FILE *out, GError **error)
{
	Firefox self = {
		.export = export,
		.functions = g_array_new(FALSE, FALSE, sizeof(Function)),
		.function_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.resource_ids = g_hash_table_new(NULL, NULL),
		.resources = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	lode_name_table_init(&self.strings);
	lode_name_table_init(&self.images);
	init_rows(&self.stacks, export->stacks->stacks->len);
	init_rows(&self.frames, export->stacks->frames->len);
	name_frames(&self);
	lode_firefox_markers_init(&self.markers, export->profile);
	lode_json_stream_init(&self.json, out);
	lode_json_begin(&self.json, '{');
	write_meta(&self);
	write_libraries(&self);
	lode_json_line(&self.json);
	write_threads(&self);
	write_strings(&self);
	lode_json_end(&self.json, '}');

	lode_firefox_markers_clear(&self.markers);
	clear_rows(&self.stacks);
	clear_rows(&self.frames);
	g_free(self.frame_names);
	g_free(self.frame_files);
	g_free(self.frame_images);
	g_hash_table_unref(self.function_ids);
	g_hash_table_unref(self.resource_ids);
	lode_name_table_clear(&self.strings);
	lode_name_table_clear(&self.images);
	g_array_unref(self.functions);
	g_array_unref(self.resources);
	return lode_view_flush(out, error);
}

/* SPDX-License-Identifier: MIT */
/*
 * A location of pprof's is an address with all functions that are inlined there; here each of them
 * is a frame of its own:
 *
 *   stack   push (inlined) ◀ fill (inlined) ◀ main     frames
 *           ╰───────────── location ─────────────╯     lines: push, fill, main
 */
#include "views/export/stack_export.h"

#include "base/arrays/name_table.h"
#include "base/error.h"
#include "model/code.h"
#include "model/run/program_run.h"
#include "model/stacks.h"
#include "views/form/format.h"
#include "views/profile.pb-c.h" /* of profile.proto */

#include <math.h>
#include <string.h>
#include <zlib.h>

/* Messages point to each other: those of a kind lie in one block, which must not move. */
typedef struct {
	const LodeStackExport *export;
	LodeNameTable strings; /* the first is "" */
	GHashTable *images;    /* path → mapping's id */
	GHashTable *functions; /* name and file → function's id */
	uint32_t *locations;   /* of each frame: id; 0: none yet */
	GPtrArray *mapping_rows, *function_rows, *location_rows; /* messages; owned */
	GPtrArray *garbage;                                      /* arrays that messages point to */
} Pprof;

static int64_t string_id(Pprof *self, const char *text)
{
	g_autofree char *harmless = lode_stack_export_text(text != NULL ? text : "");

	return lode_name_table_add(&self->strings, harmless);
}

static void *keep(Pprof *self, void *array)
{
	g_ptr_array_add(self->garbage, array);
	return array;
}

/* NULL also if the path had several builds: a location does not say which one. */
static const char *find_build_id(const LodeProfile *profile, const char *path)
{
	const LodeImage *found = NULL;

	for (guint i = 0; i < lode_code_of(profile)->images->len; i++) {
		const LodeImage *image = lode_profile_image(profile, i);
		if (g_strcmp0(image->path, path) != 0)
			continue;
		if (found != NULL && g_strcmp0(found->build_id, image->build_id) != 0)
			return NULL;
		found = image;
	}
	return found != NULL ? found->build_id : NULL;
}

static uint64_t mapping_id(Pprof *self, const char *path)
{
	void *found = path != NULL ? g_hash_table_lookup(self->images, path) : NULL;

	if (path == NULL || found != NULL)
		return GPOINTER_TO_UINT(found);
	LodePprof__Mapping *row = g_new(LodePprof__Mapping, 1);
	lode_pprof__mapping__init(row);
	row->id = self->mapping_rows->len + 1;
	row->filename = string_id(self, path);
	row->build_id = string_id(self, find_build_id(self->export->profile, path));
	row->has_functions = row->has_filenames = true;
	row->has_line_numbers = row->has_inline_frames = true;
	g_ptr_array_add(self->mapping_rows, row);
	g_hash_table_insert(self->images, (char *)path, GUINT_TO_POINTER(row->id));
	return row->id;
}

static uint64_t function_id(Pprof *self, const LodeFrame *frame)
{
	g_autofree char *name = lode_stack_export_frame_name(frame);
	g_autofree char *key = g_strconcat(
		name, "\n", frame->file != NULL ? frame->file : "", NULL);
	void *found = g_hash_table_lookup(self->functions, key);

	if (found != NULL)
		return GPOINTER_TO_UINT(found);
	LodePprof__Function *row = g_new(LodePprof__Function, 1);
	lode_pprof__function__init(row);
	row->id = self->function_rows->len + 1;
	row->name = row->system_name = string_id(self, name);
	row->filename = string_id(self, frame->file);
	g_ptr_array_add(self->function_rows, row);
	g_hash_table_insert(self->functions, g_steal_pointer(&key), GUINT_TO_POINTER(row->id));
	return row->id;
}

static const LodeStack *stack_at(const Pprof *self, uint32_t stack)
{
	return &g_array_index(self->export->stacks->stacks, LodeStack, stack);
}

static const LodeFrame *frame_of(const Pprof *self, uint32_t stack)
{
	return &g_array_index(
		self->export->stacks->frames, LodeFrame, stack_at(self, stack)->frame);
}

/* The function that a frame is inlined into, as a stack; or itself. */
static uint32_t outermost_of(const Pprof *self, uint32_t stack)
{
	while (frame_of(self, stack)->is_inlined && stack_at(self, stack)->outer != LODE_NONE)
		stack = stack_at(self, stack)->outer;
	return stack;
}

static uint64_t add_location(Pprof *self, uint32_t innermost, uint32_t outermost)
{
	const LodeFrame *frame = frame_of(self, outermost);
	LodePprof__Location *row = g_new(LodePprof__Location, 1);
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	size_t n;

	lode_pprof__location__init(row);
	row->id = self->location_rows->len + 1;
	row->mapping_id = mapping_id(self, frame->image);
	row->address = frame->address;
	for (uint32_t at = innermost;; at = stack_at(self, at)->outer) {
		LodePprof__Line *line = keep(self, g_new(LodePprof__Line, 1));
		lode_pprof__line__init(line);
		line->function_id = function_id(self, frame_of(self, at));
		line->line = frame_of(self, at)->line;
		g_ptr_array_add(lines, line);
		if (at == outermost)
			break;
	}
	row->line = keep(self, g_ptr_array_steal(lines, &n));
	row->n_line = n;
	g_ptr_array_add(self->location_rows, row);
	return row->id;
}

static void add_locations(Pprof *self, uint32_t stack, LodePprof__Sample *sample)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	while (stack != LODE_NONE) {
		uint32_t outermost = outermost_of(self, stack);
		uint32_t *known = &self->locations[stack_at(self, stack)->frame];
		if (*known == 0)
			*known = (uint32_t)add_location(self, stack, outermost);
		uint64_t id = *known;
		g_array_append_val(ids, id);
		stack = stack_at(self, outermost)->outer;
	}
	gsize n;
	sample->location_id = keep(self, g_array_steal(ids, &n));
	sample->n_location_id = n;
}

static void add_thread(Pprof *self, uint32_t index, LodePprof__Sample *sample)
{
	const LodeStackThread *thread = &g_array_index(
		self->export->stacks->threads, LodeStackThread, index);
	LodePprof__Label *labels = keep(self, g_new(LodePprof__Label, 2));
	LodePprof__Label **list = keep(self, g_new(LodePprof__Label *, 2));

	if (thread->tid == 0)
		return;
	for (int i = 0; i < 2; i++) {
		lode_pprof__label__init(&labels[i]);
		list[i] = &labels[i];
	}
	labels[0].key = string_id(self, "thread");
	labels[0].str = string_id(self, thread->name != NULL ? thread->name : "[unknown]");
	labels[1].key = string_id(self, "tid");
	labels[1].num = thread->tid;
	sample->label = list;
	sample->n_label = 2;
}

static LodePprof__Sample **make_samples(Pprof *self, size_t *out_n)
{
	g_autofree double *values = NULL;
	g_autoptr(GArray) sums = lode_stack_export_sums(self->export, &values);
	guint n_events = self->export->events->len;
	LodePprof__Sample *rows = keep(self, g_new(LodePprof__Sample, MAX(sums->len, 1)));
	LodePprof__Sample **list = keep(self, g_new(LodePprof__Sample *, MAX(sums->len, 1)));

	for (guint i = 0; i < sums->len; i++) {
		const LodeStackSum *sum = &g_array_index(sums, LodeStackSum, i);
		lode_pprof__sample__init(&rows[i]);
		add_locations(self, sum->stack, &rows[i]);
		add_thread(self, sum->thread, &rows[i]);
		rows[i].n_value = n_events;
		rows[i].value = keep(self, g_new(int64_t, MAX(n_events, 1)));
		for (guint j = 0; j < n_events; j++)
			rows[i].value[j] = llround(MIN(sum->values[j], 9e18));
		list[i] = &rows[i];
	}
	*out_n = sums->len;
	return list;
}

static LodePprof__ValueType **make_types(Pprof *self)
{
	const GArray *events = self->export->events;
	LodePprof__ValueType *rows = keep(self, g_new(LodePprof__ValueType, MAX(events->len, 1)));
	LodePprof__ValueType **list = keep(
		self, g_new(LodePprof__ValueType *, MAX(events->len, 1)));

	for (guint i = 0; i < events->len; i++) {
		uint32_t event = g_array_index(events, uint32_t, i);
		bool is_time = lode_stack_export_is_time(self->export->profile, event);
		lode_pprof__value_type__init(&rows[i]);
		rows[i].type = string_id(
			self, lode_profile_event(self->export->profile, event)->name);
		rows[i].unit = string_id(self, is_time ? "nanoseconds" : "count");
		list[i] = &rows[i];
	}
	return list;
}

static bool write_compressed(const uint8_t *bytes, size_t size, FILE *out, GError **error)
{
	enum { GZIP_WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8 };
	uint8_t buffer[1 << 16];
	z_stream stream = {0};
	int result = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS,
		MEMORY_LEVEL, Z_DEFAULT_STRATEGY);

	while (result == Z_OK) {
		/* zlib counts in 32 bits. */
		uInt part = (uInt)MIN(size, (size_t)1 << 30);
		if (stream.avail_in == 0) {
			stream.next_in = (Bytef *)(uintptr_t)bytes;
			stream.avail_in = part;
			bytes += part;
			size -= part;
		}
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		result = deflate(&stream, size == 0 ? Z_FINISH : Z_NO_FLUSH);
		fwrite(buffer, 1, sizeof(buffer) - stream.avail_out, out);
		if (result == Z_BUF_ERROR)
			result = Z_OK;
	}
	deflateEnd(&stream);
	if (result == Z_STREAM_END)
		return lode_view_flush(out, error);
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot compress: zlib's error %d", result);
	return false;
}

/* pprof takes the first mapping for the program's own. */
static void add_program(Pprof *self)
{
	const LodeStacks *stacks = self->export->stacks;
	const char *program = lode_program_run_of(self->export->profile)->program;
	g_autofree char *path = program != NULL ? g_strndup(program, strcspn(program, " ")) : NULL;

	for (guint i = 0; path != NULL && i < stacks->frames->len; i++) {
		const LodeFrame *frame = &g_array_index(stacks->frames, LodeFrame, i);
		if (frame->image == NULL || strcmp(lode_stack_export_file_name(frame->image),
						    lode_stack_export_file_name(path)) != 0)
			continue;
		mapping_id(self, frame->image);
		return;
	}
}

static void describe(Pprof *self, LodePprof__Profile *message)
{
	const LodeProfile *profile = self->export->profile;
	int64_t *comments = keep(self, g_new(int64_t, 2));

	message->comment = comments;
	if (lode_program_run_of(profile)->program != NULL)
		comments[message->n_comment++] = string_id(
			self, lode_program_run_of(profile)->program);
	if (lode_program_run_of(profile)->creator != NULL)
		comments[message->n_comment++] = string_id(
			self, lode_program_run_of(profile)->creator);
	message->default_sample_type = string_id(
		self, lode_profile_event(profile, self->export->weight)->name);
}

bool lode_pprof_write(const LodeStackExport *export, FILE *out, GError **error)
{
	Pprof self = {
		.export = export,
		.images = g_hash_table_new(g_str_hash, g_str_equal),
		.functions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.locations = g_new0(uint32_t, MAX(export->stacks->frames->len, 1)),
		.mapping_rows = g_ptr_array_new_with_free_func(g_free),
		.function_rows = g_ptr_array_new_with_free_func(g_free),
		.location_rows = g_ptr_array_new_with_free_func(g_free),
		.garbage = g_ptr_array_new_with_free_func(g_free),
	};
	LodePprof__Profile message = LODE_PPROF__PROFILE__INIT;

	lode_name_table_init(&self.strings);
	string_id(&self, "");
	add_program(&self);
	message.sample_type = make_types(&self);
	message.n_sample_type = export->events->len;
	message.sample = make_samples(&self, &message.n_sample);
	describe(&self, &message);
	message.mapping = (LodePprof__Mapping **)self.mapping_rows->pdata;
	message.n_mapping = self.mapping_rows->len;
	message.location = (LodePprof__Location **)self.location_rows->pdata;
	message.n_location = self.location_rows->len;
	message.function = (LodePprof__Function **)self.function_rows->pdata;
	message.n_function = self.function_rows->len;
	message.string_table = (char **)self.strings.names->pdata;
	message.n_string_table = self.strings.names->len;

	size_t size = lode_pprof__profile__get_packed_size(&message);
	g_autofree uint8_t *bytes = g_malloc(size);
	lode_pprof__profile__pack(&message, bytes);
	bool done = write_compressed(bytes, size, out, error);

	g_ptr_array_unref(self.garbage);
	g_ptr_array_unref(self.mapping_rows);
	g_ptr_array_unref(self.function_rows);
	g_ptr_array_unref(self.location_rows);
	g_hash_table_unref(self.functions);
	g_hash_table_unref(self.images);
	lode_name_table_clear(&self.strings);
	g_free(self.locations);
	return done;
}

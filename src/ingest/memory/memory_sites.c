/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of allocation logs → places in source. A log has some thousand stacks that share most
 * of their return addresses: these are looked up once each, sorted, so that an image's lines are
 * read in one pass. An allocation becomes a row only when a sample fell into it.
 */
#include "ingest/memory/memory_sites.h"

#include <stdlib.h>
#include <string.h>

/* Where a return address lies. */
typedef struct {
	uint64_t address; /* run-time; of the call, not of what follows it */
	uint64_t image_address;
	uint32_t log, image;
	const char *function; /* NULL: unknown */
	const char *file;
	uint32_t line;
} Frame;

struct LodeMemorySites {
	LodeProfile *profile;
	LodeMemoryReading *reading;
	GRegex *wrappers;
	GHashTable *site_ids; /* name → index + 1 */
	GArray **stack_sites; /* of each log: uint32_t × stacks */
	guint n_logs;
	GHashTable *allocation_ids; /* LodeLoggedAllocation → index + 1 */
};

static const char *const kind_names[LODE_N_ALLOCATION_KINDS] = {
	[LODE_ALLOCATION_MALLOC] = "malloc",
	[LODE_ALLOCATION_CALLOC] = "calloc",
	[LODE_ALLOCATION_REALLOC] = "realloc",
	[LODE_ALLOCATION_ALIGNED] = "aligned_alloc",
	[LODE_ALLOCATION_NEW] = "new",
	[LODE_ALLOCATION_MAP] = "mmap",
};

static int compare_frames(const void *a, const void *b)
{
	const Frame *left = a, *right = b;

	if (left->log != right->log)
		return left->log < right->log ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

static int compare_places(const void *a, const void *b)
{
	const Frame *left = *(const Frame *const *)a, *right = *(const Frame *const *)b;

	if (left->image != right->image)
		return left->image < right->image ? -1 : 1;
	return (left->image_address > right->image_address) -
	       (left->image_address < right->image_address);
}

/* Each address once, sorted. */
static GArray *collect_frames(const GPtrArray *logs)
{
	GArray *frames = g_array_new(FALSE, TRUE, sizeof(Frame));
	guint n = 0;

	for (guint i = 0; i < logs->len; i++) {
		const LodeAllocationLog *log = g_ptr_array_index(logs, i);
		for (size_t k = 0; k < lode_allocation_log_n_stacks(log); k++) {
			LodeAllocationStack stack = lode_allocation_log_stack(log, k);
			for (size_t j = 0; j < stack.n; j++) {
				/* A return address may lie in the next line or function. */
				Frame frame = {.address = stack.addresses[j] - 1,
					.log = i,
					.image = LODE_NONE};
				g_array_append_val(frames, frame);
			}
		}
	}
	if (frames->len > 1)
		qsort(frames->data, frames->len, sizeof(Frame), compare_frames);
	Frame *rows = (Frame *)frames->data;
	for (guint i = 0; i < frames->len; i++)
		if (n == 0 || compare_frames(&rows[n - 1], &rows[i]) != 0)
			rows[n++] = rows[i];
	g_array_set_size(frames, n);
	return frames;
}

static const LodeAllocationLog *log_at(LodeMemorySites *self, uint32_t index)
{
	return g_ptr_array_index(
		lode_allocations_all(lode_memory_reading_logs(self->reading)), index);
}

static void place_frame(LodeMemorySites *self, Frame *frame, LodeMemoryLoads *loads)
{
	LodeMemoryReading *reading = self->reading;
	const LodeAllocationLogSummary *log = lode_allocation_log_summary(log_at(self, frame->log));
	uint32_t mapping = lode_memory_reading_find_mapping(
		reading, log->pid, frame->address, log->begin_ns);

	if (mapping == LODE_NONE || !lode_memory_loads_find(loads, mapping, frame->address,
					    &frame->image, &frame->image_address))
		return;
	const LodeCodeImage *image = lode_code_images_at(
		lode_memory_reading_images(reading), frame->image);
	const LodeBinaryFunction *function = lode_code_image_function(image, frame->image_address);
	frame->function = function != NULL ? function->name : NULL;
}

/* Source lines of one image's frames, in one pass. */
static void locate_frames(LodeMemorySites *self, LodeCodeImage *image, Frame **frames, guint n)
{
	g_autofree uint64_t *addresses = g_new(uint64_t, n);
	g_autofree LodeBinaryLocation *found = g_new0(LodeBinaryLocation, n);

	if (image->binary == NULL)
		return;
	for (guint i = 0; i < n; i++)
		addresses[i] = frames[i]->image_address;
	lode_binary_image_locate(image->binary, addresses, n, found);
	for (guint i = 0; i < n; i++) {
		/* The library's code in a header is inlined into the program's. */
		bool is_library = found[i].inlined != NULL && found[i].caller_line > 0 &&
		                  g_regex_match(self->wrappers, found[i].inlined, 0, NULL);
		frames[i]->file = is_library ? found[i].caller_file : found[i].file;
		frames[i]->line = is_library ? found[i].caller_line : found[i].line;
	}
}

static void name_frames(LodeMemorySites *self, GArray *frames, LodeMemoryLoads *loads)
{
	LodeCodeImages *images = lode_memory_reading_images(self->reading);
	g_autofree Frame **placed = g_new(Frame *, MAX(frames->len, 1));
	guint n = 0, end;

	for (guint i = 0; i < frames->len; i++) {
		Frame *frame = &g_array_index(frames, Frame, i);
		place_frame(self, frame, loads);
		if (frame->image != LODE_NONE)
			placed[n++] = frame;
	}
	if (n > 1)
		qsort(placed, n, sizeof(Frame *), compare_places);
	for (guint begin = 0; begin < n; begin = end) {
		for (end = begin; end < n && placed[end]->image == placed[begin]->image; end++)
			;
		locate_frames(self, lode_code_images_at(images, placed[begin]->image),
			&placed[begin], end - begin);
	}
}

static const Frame *find_frame(const GArray *frames, guint log, uint64_t return_address)
{
	const Frame key = {.log = log, .address = return_address - 1};

	return bsearch(&key, frames->data, frames->len, sizeof(Frame), compare_frames);
}

static const char *image_name(LodeMemorySites *self, const Frame *frame)
{
	const char *path = lode_code_images_path(
		lode_memory_reading_images(self->reading), frame->image);
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool is_wrapper(LodeMemorySites *self, const Frame *frame)
{
	const char *image = frame->image != LODE_NONE ? image_name(self, frame) : "";

	return frame->image == LODE_NONE || g_str_has_prefix(image, "libc.so") ||
	       g_str_has_prefix(image, "libstdc++.so") || g_str_has_prefix(image, "libc++.so") ||
	       g_str_has_prefix(image, "ld-linux") ||
	       (frame->function != NULL && g_regex_match(self->wrappers, frame->function, 0, NULL));
}

static void append_place(LodeMemorySites *self, GString *out, const Frame *frame)
{
	if (frame == NULL || frame->image == LODE_NONE) {
		g_string_append(out, "?");
	} else if (frame->file != NULL && frame->line > 0) {
		g_autofree char *file = g_path_get_basename(frame->file);
		g_string_append_printf(out, "%s:%" G_GUINT32_FORMAT, file, frame->line);
	} else {
		g_string_append_printf(out, "%s+0x%" G_GINT64_MODIFIER "x", image_name(self, frame),
			frame->image_address);
	}
}

/* The innermost caller that is not a wrapper; where all are wrappers, the outermost. */
static const Frame *site_frame(
	LodeMemorySites *self, const GArray *frames, guint log, const LodeAllocationStack *stack)
{
	const Frame *frame = NULL;

	for (size_t i = 0; i < stack->n; i++) {
		frame = find_frame(frames, log, stack->addresses[i]);
		if (frame != NULL && !is_wrapper(self, frame))
			return frame;
	}
	return frame;
}

static char *stack_text(
	LodeMemorySites *self, const GArray *frames, guint log, const LodeAllocationStack *stack)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < stack->n; i++) {
		const Frame *frame = find_frame(frames, log, stack->addresses[i]);
		g_string_append(text, i > 0 ? " < " : "");
		if (frame != NULL && frame->function != NULL)
			g_string_append_printf(text, "%s ", frame->function);
		append_place(self, text, frame);
	}
	return g_string_free(text, FALSE);
}

static uint32_t add_site(LodeMemorySites *self, const char *name, const char *stack)
{
	LodeMemory *memory = self->profile->memory;
	void *found = g_hash_table_lookup(self->site_ids, name);
	LodeAllocationSite site = {.name = lode_profile_intern(self->profile, name)};

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	if (stack[0] != '\0')
		site.stack = lode_profile_intern(self->profile, stack);
	g_array_append_val(memory->sites, site);
	g_hash_table_insert(self->site_ids, site.name, GUINT_TO_POINTER(memory->sites->len));
	return memory->sites->len - 1;
}

static void add_log(LodeMemorySites *self, const GArray *frames, guint index)
{
	const LodeAllocationLog *log = log_at(self, index);
	size_t n = lode_allocation_log_n_stacks(log);

	self->stack_sites[index] = g_array_sized_new(FALSE, TRUE, sizeof(uint32_t), (guint)n);
	for (size_t i = 0; i < n; i++) {
		LodeAllocationStack stack = lode_allocation_log_stack(log, i);
		g_autoptr(GString) name = g_string_new(kind_names[stack.kind]);
		g_autofree char *text = stack_text(self, frames, index, &stack);
		g_string_append_c(name, '@');
		append_place(self, name, site_frame(self, frames, index, &stack));
		uint32_t site = add_site(self, name->str, text);
		LodeAllocationSite *row = &LODE_AT(
			self->profile->memory->sites, LodeAllocationSite, site);
		row->n += stack.n_allocations;
		row->n_bytes += stack.n_bytes;
		g_array_append_val(self->stack_sites[index], site);
	}
}

LodeMemorySites *lode_memory_sites_new(
	LodeProfile *profile, LodeMemoryReading *reading, LodeMemoryLoads *loads)
{
	static const char wrappers[] =
		"([mcz]|re|x)alloc|Alloc|Malloc|Realloc|alloc(ate|ator|_impl)|strn?dup|memdup"
		"|operator new|^g_slice_|^g_new|^std::|^__gnu_cxx::";
	const GPtrArray *logs = lode_allocations_all(lode_memory_reading_logs(reading));
	LodeMemorySites *self = g_new0(LodeMemorySites, 1);
	g_autoptr(GArray) frames = collect_frames(logs);

	self->profile = profile;
	self->reading = reading;
	self->n_logs = logs->len;
	self->wrappers = g_regex_new(wrappers, G_REGEX_OPTIMIZE, 0, NULL);
	self->site_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->allocation_ids = g_hash_table_new(NULL, NULL);
	self->stack_sites = g_new0(GArray *, MAX(logs->len, 1));
	name_frames(self, frames, loads);
	for (guint i = 0; i < logs->len; i++)
		add_log(self, frames, i);
	return self;
}

void lode_memory_sites_free(LodeMemorySites *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->n_logs; i++)
		g_array_unref(self->stack_sites[i]);
	g_free(self->stack_sites);
	g_regex_unref(self->wrappers);
	g_hash_table_unref(self->site_ids);
	g_hash_table_unref(self->allocation_ids);
	g_free(self);
}

static uint32_t site_of(LodeMemorySites *self, guint index, const LodeLoggedAllocation *logged)
{
	const GArray *sites = self->stack_sites[index];
	g_autofree char *unknown = g_strconcat(kind_names[logged->kind], "@?", NULL);

	if (logged->stack < sites->len)
		return g_array_index(sites, uint32_t, logged->stack);
	return add_site(self, unknown, "");
}

static uint32_t add_allocation(
	LodeMemorySites *self, guint index, const LodeLoggedAllocation *logged)
{
	LodeMemory *memory = self->profile->memory;
	void *found = g_hash_table_lookup(self->allocation_ids, logged);
	uint32_t pid = lode_allocation_log_pid(log_at(self, index));

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	const LodeAllocation allocation = {
		.pid = pid,
		.site = site_of(self, index, logged),
		.thread = lode_threads_look_up(lode_memory_reading_threads(self->reading), pid,
			logged->tid, logged->begin_ns),
		.address = logged->address,
		.size = logged->size,
		.begin_ns = logged->begin_ns,
		.end_ns = logged->end_ns,
	};
	g_array_append_val(memory->allocations, allocation);
	g_hash_table_insert(
		self->allocation_ids, (void *)logged, GUINT_TO_POINTER(memory->allocations->len));
	return memory->allocations->len - 1;
}

/* Whether any of these had given it back when it was forked, or by `time_ns` the first of them. */
static bool is_given_back(LodeMemorySites *self, const LodeMemoryPlace *heirs, unsigned n,
	const LodeLoggedAllocation *found, uint64_t address)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t log = lode_allocations_find(lode_memory_reading_logs(self->reading),
			heirs[i].pid,
			lode_memory_reading_find_birth(
				self->reading, heirs[i].input, heirs[i].pid, heirs[i].time_ns)
				.time_ns,
			heirs[i].time_ns);
		if (log != LODE_NONE && lode_allocation_log_has_given_back(log_at(self, log), found,
						address, heirs[i].time_ns))
			return true;
	}
	return false;
}

/* What was allocated before a fork stands in the log of the parent. */
uint32_t lode_memory_sites_find(
	LodeMemorySites *self, const LodeMemoryPlace *place, uint64_t address)
{
	enum { MAX_ANCESTORS = 64 }; /* hostile files have long chains */
	LodeAllocations *logs = lode_memory_reading_logs(self->reading);
	LodeMemoryPlace line[MAX_ANCESTORS], at = *place;

	for (unsigned i = 0; i < MAX_ANCESTORS; i++) {
		const LodeAddressSpaceBirth birth = lode_memory_reading_find_birth(
			self->reading, at.input, at.pid, at.time_ns);
		uint32_t log = lode_allocations_find(logs, at.pid, birth.time_ns, at.time_ns);
		const LodeLoggedAllocation *found =
			log != LODE_NONE
				? lode_allocation_log_find(log_at(self, log), address, at.time_ns)
				: NULL;
		if (found != NULL)
			return is_given_back(self, line, i, found, address)
			               ? LODE_NONE
			               : add_allocation(self, log, found);
		if (birth.parent == UINT32_MAX)
			break;
		line[i] = at;
		at.pid = birth.parent;
		at.time_ns = birth.time_ns;
	}
	return LODE_NONE;
}

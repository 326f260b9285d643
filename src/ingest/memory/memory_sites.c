/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of allocation logs → sites, and the calls that lead there. A log has some thousand
 * stacks that share most of their return addresses: these are looked up once each, sorted, so that
 * an image's lines are read in one pass. Functions inlined at an address are calls of their own:
 *
 *   return addresses   malloc ◀ 0x1010          ◀ 0x2020            ◀ 0x3030
 *   calls              malloc ◀ xmalloc util.c:3 ◀ push (inlined) list.h:7, fill list.c:12 ◀ main
 *   roles                       passes-size        program            program               program
 *   site                                           malloc@list.h:7
 *
 * Functions that ended in a jump are put back where the code shows them: `take`, between malloc and
 * main, which called take and not malloc.
 *
 * Which functions pass a size on is found from the allocator outward: each caller of a function
 * skipped so far is tested: whether most of its allocations have a size that its callers gave.
 *
 * An allocation becomes a row only when a sample fell into it.
 */
#include "ingest/memory/memory_sites.h"

#include "base/arrays/hash.h"
#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/code/size_arguments.h"
#include "ingest/memory/allocation_figures.h"
#include "ingest/memory/allocator_names.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/memory/tail_path.h"
#include "model/memory.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_STACKS = 1 << 20, /* as many as one recorder can tell apart; of all logs */
	MAX_CALLS = 1 << 23,
	MAX_SIZE_SEARCHES = 200 * 1000,
	MAX_TAIL_PATHS = 100 * 1000,
	N_MASKS = 3,
};

/* Where a return address lies. */
typedef struct {
	uint64_t address; /* run-time; of the call, not of what follows it */
	uint64_t image_address;
	uint32_t log, image;
	const LodeBinaryFunction *function; /* NULL: unknown */
	const char *file;                   /* of the innermost function that was inlined */
	uint32_t line;
	uint32_t first_inlined, n_inlined;
	LodeCallRole role; /* of the function; those that were inlined have their own */
	bool is_tail;      /* a jump's: it returns to the caller of its function */
	LodeArgumentMask asked[N_MASKS], arguments; /* the last question of the size, its answer */
} Frame;

/* One of the calls of a frame. */
typedef struct {
	const char *function, *file; /* NULL: unknown */
	uint32_t line;
	LodeCallRole role;
} Call;

/* How far outward a stack is skipped, while that is being found. */
typedef struct {
	const uint64_t *addresses;
	size_t n, at;
	uint64_t n_allocations;
	uint32_t log;
	LodeArgumentMask masks[N_MASKS]; /* the registers in which the skipped function may take its
	                                    size; all 0: none */
} Way;

/* The calls by a function of skipped functions. */
typedef struct {
	double n, n_passed;  /* allocations */
	const Frame *caller; /* the last that was seen */
	bool has_callers;    /* two or more, or one that is a wrapper itself */
} CallerCount;

struct LodeMemorySites {
	LodeProfile *profile;
	LodeMemoryReading *reading;
	LodeAllocatorNames *names;
	GArray *frames;          /* Frame, by log and address */
	GHashTable *filled;      /* log and stack → GArray of its uint64_t, with calls by jumps */
	LodeIdCache paths_known; /* (frame, function) → index of a path */
	GArray *tail_paths;      /* LodeTailPath */
	GArray *inlined;         /* LodeInlinedCall */
	GHashTable *roles;       /* function's name → role + 1, of those by name */
	GHashTable *passing;     /* "image name" of functions that pass a size on */
	GHashTable *site_ids;    /* name → index + 1 */
	GArray *allocating_calls; /* LodeAllocatingCall of each of the memory's allocations */
	LodeIdCache calls, paths;
	LodeLogPaths *logs;
	guint n_logs;
	uint64_t n_left_out; /* stacks */
	unsigned n_searches;
	GHashTable *allocation_ids; /* LodeLoggedAllocation → index + 1 */
	GArray **by_thread; /* of each log, made at the first use: uint32_t, its allocations by
	                       thread and begin */
};

static const char *const kind_names[LODE_N_ALLOCATION_KINDS] = {
	[LODE_ALLOCATION_MALLOC] = "malloc",
	[LODE_ALLOCATION_CALLOC] = "calloc",
	[LODE_ALLOCATION_REALLOC] = "realloc",
	[LODE_ALLOCATION_ALIGNED] = "aligned_alloc",
	[LODE_ALLOCATION_NEW] = "new",
	[LODE_ALLOCATION_MAP] = "mmap",
};

/* Where the functions of each kind take their size: of several with different parameters, each. */
static const LodeArgumentMask kind_masks[LODE_N_ALLOCATION_KINDS][N_MASKS] = {
	[LODE_ALLOCATION_MALLOC] = {1},
	[LODE_ALLOCATION_CALLOC] = {3},
	[LODE_ALLOCATION_REALLOC] = {2, 6},
	[LODE_ALLOCATION_ALIGNED] = {2, 4, 1},
	[LODE_ALLOCATION_NEW] = {1},
	[LODE_ALLOCATION_MAP] = {2, 4},
};

LODE_ORDER(compare_frames, Frame, LODE_ASCENDING(log), LODE_ASCENDING(address))

LODE_ORDER_OF_POINTERS(compare_places, Frame, LODE_ASCENDING(image), LODE_ASCENDING(image_address))

/* --- frames --- */

static uint64_t filled_key(guint log, size_t stack)
{
	return (uint64_t)log << 32 | stack;
}

static LodeAllocationStack stack_at(const LodeMemorySites *self, guint log, size_t index)
{
	LodeAllocationStack stack = lode_allocation_log_stack(self->logs[log].log, index);
	const uint64_t key = filled_key(log, index);
	const GArray *filled = g_hash_table_lookup(self->filled, &key);

	if (filled != NULL) {
		stack.addresses = (const uint64_t *)(const void *)filled->data;
		stack.n = filled->len;
	}
	return stack;
}

/* Each return address of a log once, sorted. */
static void collect_frames(LodeMemorySites *self, guint log, size_t n_stacks)
{
	g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (size_t k = 0; k < n_stacks; k++) {
		LodeAllocationStack stack = stack_at(self, log, k);
		g_array_append_vals(addresses, stack.addresses, (guint)stack.n);
	}
	if (addresses->len > 1)
		qsort(addresses->data, addresses->len, sizeof(uint64_t), lode_compare_u64);
	for (guint i = 0; i < addresses->len; i++) {
		uint64_t address = g_array_index(addresses, uint64_t, i);
		/* A return address may lie in the next line or function. */
		Frame frame = {.address = address - 1, .log = log, .image = LODE_NONE};
		if (i == 0 || address != g_array_index(addresses, uint64_t, i - 1))
			g_array_append_val(self->frames, frame);
	}
}

/* The mapping that an address was in, in any of the recordings, at the end of the program that a
 * process ran at that time; LODE_NONE. */
static uint32_t find_mapping(
	LodeMemoryReading *self, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		const LodeAddressSpaceBirth birth = lode_places_find_birth(
			self->options.places, i, pid, time_ns);
		lode_places_select(self->options.places, i);
		const LodeMappedRange *range = lode_places_find_mapping(
			self->options.places, pid, birth.end_ns - 1, address);
		if (range != NULL)
			return range->file;
	}
	return LODE_NONE;
}

static void place_frame(LodeMemorySites *self, Frame *frame, LodeMemoryLoads *loads)
{
	LodeMemoryReading *reading = self->reading;
	const LodeAllocationLogSummary *log = lode_allocation_log_summary(
		self->logs[frame->log].log);
	uint32_t mapping = find_mapping(reading, log->pid, frame->address, log->begin_ns);

	if (mapping == LODE_NONE || !lode_memory_loads_find(loads, mapping, frame->address,
					    &frame->image, &frame->image_address))
		return;
	frame->function = lode_code_image_function(
		lode_code_images_at(lode_places_images(reading->options.places), frame->image),
		frame->image_address);
}

/* Source lines and inlined functions of one image's frames, in one pass. */
static void locate_frames(LodeMemorySites *self, LodeCodeImage *image, Frame **frames, guint n)
{
	g_autofree uint64_t *addresses = g_new(uint64_t, n);
	g_autofree LodeBinaryLocation *found = g_new0(LodeBinaryLocation, n);
	guint first = self->inlined->len;

	if (image->binary == NULL)
		return;
	for (guint i = 0; i < n; i++)
		addresses[i] = frames[i]->image_address;
	lode_binary_image_locate_calls(image->binary, addresses, n, found, self->inlined);
	for (guint i = 0; i < n; i++) {
		frames[i]->file = found[i].file;
		frames[i]->line = found[i].line;
	}
	for (guint i = first; i < self->inlined->len; i++) {
		Frame *frame = frames[g_array_index(self->inlined, LodeInlinedCall, i).index];
		if (frame->n_inlined++ == 0)
			frame->first_inlined = i;
	}
}

static const char *image_name(LodeMemorySites *self, const Frame *frame)
{
	if (frame->image == LODE_NONE)
		return "";
	const char *path = lode_code_images_at(
		lode_places_images(self->reading->options.places), frame->image)
	                           ->path;
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool is_runtime(LodeMemorySites *self, const Frame *frame)
{
	const char *library = image_name(self, frame);

	return *library == '\0' || lode_allocator_names_is_runtime(self->names, library);
}

/* By its name alone. */
static LodeCallRole find_named_role(LodeMemorySites *self, const char *function)
{
	void *found = g_hash_table_lookup(self->roles, function);
	LodeCallRole role = LODE_CALL_OF_PROGRAM;

	if (found != NULL)
		return (LodeCallRole)(GPOINTER_TO_UINT(found) - 1);
	if (lode_allocator_names_is_allocator(self->names, function))
		role = LODE_CALL_IN_ALLOCATOR;
	g_hash_table_insert(self->roles, (void *)function, GUINT_TO_POINTER(role + 1));
	return role;
}

/* By a function's name, its library, and the source file in which it makes the call. */
static LodeCallRole role_of(
	LodeMemorySites *self, const Frame *frame, const char *function, const char *file)
{
	if (lode_allocator_names_is_skipped(self->names, function, image_name(self, frame)))
		return LODE_CALL_SKIPPED;
	if (is_runtime(self, frame) || g_strcmp0(function, "_start") == 0 ||
		(file != NULL && lode_allocator_names_is_runtime_source(file)))
		return LODE_CALL_IN_RUNTIME;
	return function != NULL ? find_named_role(self, function) : LODE_CALL_OF_PROGRAM;
}

static Frame *find_frame(LodeMemorySites *self, guint log, uint64_t return_address)
{
	const Frame key = {.log = log, .address = return_address - 1};

	return bsearch(&key, self->frames->data, self->frames->len, sizeof(Frame), compare_frames);
}

/* --- functions that ended in a jump --- */

static LodeCodeImage *image_at(LodeMemorySites *self, uint32_t image)
{
	return lode_code_images_at(lode_places_images(self->reading->options.places), image);
}

/* Between the call of a frame and the function of the next inner one. NULL: none. */
static const LodeTailPath *find_tail_path(
	LodeMemorySites *self, const Frame *frame, const Frame *inner)
{
	const LodeBinaryFunction *function = inner != NULL ? inner->function : NULL;
	const LodeIdKey key = {{(uint64_t)frame->image << 32 | (inner != NULL),
		frame->image_address, (uint64_t)(uintptr_t)function}};
	bool is_new;

	if (frame->function == NULL || is_runtime(self, frame) ||
		(inner != NULL && function == NULL) || self->tail_paths->len >= MAX_TAIL_PATHS)
		return NULL;
	LodeIdSlot *slot = lode_id_cache_find(&self->paths_known, &key, &is_new);
	if (is_new) {
		const LodeTailPath path = lode_tail_path_find(&(LodeTailQuestion){
			.names = self->names,
			.image = image_at(self, frame->image),
			.return_address = frame->image_address + 1,
			.inner = function,
			.is_inner_of_runtime = inner != NULL && is_runtime(self, inner),
		});
		slot->id = self->tail_paths->len;
		g_array_append_val(self->tail_paths, path);
	}
	const LodeTailPath *path = &LODE_AT(self->tail_paths, LodeTailPath, slot->id);
	return path->n > 0 || path->is_unknown ? path : NULL;
}

/* Adds the addresses of the jumps, and their frames. */
static void add_tail(LodeMemorySites *self, const Frame *caller, const LodeTailPath *path,
	GArray *addresses, GArray *frames)
{
	const uint64_t unknown = 0;

	for (size_t i = 0; i < path->n; i++) {
		Frame frame = {
			.address = caller->address + (path->jumps[i] - caller->image_address),
			.image_address = path->jumps[i],
			.log = caller->log,
			.image = caller->image,
			.is_tail = true,
		};
		const uint64_t after = frame.address + 1;
		frame.function = lode_code_image_function(
			image_at(self, frame.image), frame.image_address);
		g_array_append_val(frames, frame);
		g_array_append_val(addresses, after);
	}
	if (path->is_unknown)
		g_array_append_val(addresses, unknown);
}

static void fill_stack(LodeMemorySites *self, guint log, size_t index, GArray *frames)
{
	const LodeAllocationStack stack = stack_at(self, log, index);
	const Frame *inner = NULL;
	GArray *filled = NULL;

	for (size_t i = 0; i < stack.n; i++) {
		const Frame *frame = find_frame(self, log, stack.addresses[i]);
		const LodeTailPath *path = frame != NULL ? find_tail_path(self, frame, inner)
		                                         : NULL;
		if (path != NULL && filled == NULL) {
			filled = g_array_new(FALSE, FALSE, sizeof(uint64_t));
			g_array_append_vals(filled, stack.addresses, (guint)i);
		}
		if (path != NULL)
			add_tail(self, frame, path, filled, frames);
		if (filled != NULL)
			g_array_append_val(filled, stack.addresses[i]);
		inner = frame;
	}
	if (filled != NULL) {
		const uint64_t key = filled_key(log, index);
		g_hash_table_insert(self->filled, g_memdup2(&key, sizeof(key)), filled);
	}
}

static void fill_stacks(LodeMemorySites *self, const size_t *n_stacks)
{
	g_autoptr(GArray) frames = g_array_new(FALSE, TRUE, sizeof(Frame));
	guint n = 0;

	for (guint log = 0; log < self->n_logs; log++)
		for (size_t i = 0; i < n_stacks[log]; i++)
			fill_stack(self, log, i, frames);
	if (frames->len == 0)
		return;
	g_array_append_vals(self->frames, frames->data, frames->len);
	g_array_sort(self->frames, compare_frames);
	for (guint i = 0; i < self->frames->len; i++) {
		const Frame *frame = &LODE_AT(self->frames, Frame, i);
		if (n == 0 || compare_frames(frame, &LODE_AT(self->frames, Frame, n - 1)) != 0)
			LODE_AT(self->frames, Frame, n++) = *frame;
	}
	g_array_set_size(self->frames, n);
}

static void name_frames(LodeMemorySites *self)
{
	LodeCodeImages *images = lode_places_images(self->reading->options.places);
	g_autofree Frame **placed = g_new(Frame *, MAX(self->frames->len, 1));
	guint n = 0, end;

	for (guint i = 0; i < self->frames->len; i++) {
		Frame *frame = &g_array_index(self->frames, Frame, i);
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
	for (guint i = 0; i < self->frames->len; i++) {
		Frame *frame = &g_array_index(self->frames, Frame, i);
		frame->role = role_of(self, frame,
			frame->function != NULL ? frame->function->name : NULL,
			frame->n_inlined > 0 ? LODE_AT(self->inlined, LodeInlinedCall,
						       frame->first_inlined + frame->n_inlined - 1)
						       .file
					     : frame->file);
	}
}

/* --- calls of a frame, the innermost first; the last is of the function itself --- */

static char *passing_key(uint32_t image, const char *function)
{
	return g_strdup_printf("%" G_GUINT32_FORMAT " %s", image, function);
}

static LodeCallRole role_of_inlined(
	LodeMemorySites *self, const Frame *frame, const char *function, const char *file)
{
	LodeCallRole role = role_of(self, frame, function, file);

	if (role != LODE_CALL_OF_PROGRAM || function == NULL)
		return role;
	g_autofree char *key = passing_key(frame->image, function);
	return g_hash_table_contains(self->passing, key) ? LODE_CALL_PASSES_SIZE : role;
}

static Call call_of(LodeMemorySites *self, const Frame *frame, uint32_t index)
{
	const LodeInlinedCall *inlined = &g_array_index(
		self->inlined, LodeInlinedCall, frame->first_inlined);
	Call call = {.file = frame->file, .line = frame->line, .role = frame->role};

	if (index > 0) {
		call.file = inlined[index - 1].file;
		call.line = inlined[index - 1].line;
	}
	if (index < frame->n_inlined) {
		call.function = inlined[index].function;
		call.role = role_of_inlined(self, frame, call.function, call.file);
	} else if (frame->function != NULL) {
		call.function = frame->function->name;
	}
	return call;
}

static bool is_skipped(LodeMemorySites *self, const Frame *frame)
{
	for (uint32_t i = 0; i <= frame->n_inlined; i++)
		if (call_of(self, frame, i).role == LODE_CALL_OF_PROGRAM)
			return false;
	return true;
}

/* --- functions that pass a size on --- */

/* The function's arguments that make up the size of the call here. */
static LodeArgumentMask find_size(
	LodeMemorySites *self, Frame *frame, const LodeArgumentMask *masks)
{
	LodeCodeImage *image = frame->image != LODE_NONE
	                               ? lode_code_images_at(
						 lode_places_images(self->reading->options.places),
						 frame->image)
	                               : NULL;
	size_t n = 0;

	if (image == NULL || image->binary == NULL || frame->function == NULL || masks[0] == 0)
		return 0;
	if (memcmp(frame->asked, masks, sizeof(frame->asked)) == 0)
		return frame->arguments;
	const uint8_t *code = lode_binary_image_bytes(image->binary, frame->function->address, &n);
	memcpy(frame->asked, masks, sizeof(frame->asked));
	frame->arguments = 0;
	for (unsigned i = 0; code != NULL && i < N_MASKS && masks[i] != 0 &&
			     self->n_searches < MAX_SIZE_SEARCHES;
		i++) {
		self->n_searches++;
		frame->arguments |= lode_size_arguments_find(code, MIN(n, frame->function->size),
			frame->function->address, frame->image_address + 1, masks[i]);
	}
	return frame->arguments;
}

/* Where an allocator of the list takes its size, if its code does not tell. Methods have other
 * arguments, and containers take a number of elements. */
static void guess_masks(const char *function, LodeArgumentMask *out_masks)
{
	static const struct {
		const char *word;
		LodeArgumentMask masks[N_MASKS];
	} guesses[] = {{"calloc", {3, 1}}, {"ealloc", {2, 4}}, {"alloc", {1}}, {"new", {1}}};

	memset(out_masks, 0, N_MASKS);
	if (function != NULL && strstr(function, "::") != NULL &&
		!g_str_has_prefix(function, "operator new"))
		return;
	for (size_t i = 0; function != NULL && i < G_N_ELEMENTS(guesses); i++)
		if (strstr(function, guesses[i].word) != NULL) {
			memcpy(out_masks, guesses[i].masks, N_MASKS);
			return;
		}
}

/* Goes outward over all functions that are skipped so far. False: none is left, or the last skipped
 * function is not given a size. */
static bool advance(LodeMemorySites *self, Way *way)
{
	for (; way->at < way->n; way->at++) {
		Frame *frame = find_frame(self, way->log, way->addresses[way->at]);
		if (frame == NULL || !is_skipped(self, frame))
			return frame != NULL && way->masks[0] != 0;
		LodeArgumentMask arguments = find_size(self, frame, way->masks);
		if (arguments != 0)
			memcpy(way->masks, (LodeArgumentMask[N_MASKS]){arguments}, N_MASKS);
		else
			guess_masks(
				frame->function != NULL ? frame->function->name : NULL, way->masks);
	}
	return false;
}

static void count_call(LodeMemorySites *self, const Way *way, GHashTable *callers)
{
	Frame *frame = find_frame(self, way->log, way->addresses[way->at]);
	bool has_caller = way->at + 1 < way->n;

	/* The source of a size that an inlined function passes is unknown. */
	if (frame->function == NULL || frame->n_inlined > 0)
		return;
	CallerCount *of = g_hash_table_lookup(callers, frame->function);
	if (of == NULL) {
		of = g_new0(CallerCount, 1);
		g_hash_table_insert(callers, (void *)frame->function, of);
	}
	const LodeArgumentMask masks[N_MASKS] = {find_size(self, frame, way->masks)};
	of->n += (double)way->n_allocations;
	if (masks[0] == 0)
		return;
	of->n_passed += (double)way->n_allocations;
	Frame *caller = has_caller ? find_frame(self, way->log, way->addresses[way->at + 1]) : NULL;
	if (caller == NULL)
		return;
	of->has_callers |= of->caller != NULL && compare_places(&of->caller, &caller) != 0;
	/* main and a thread's function are called by a library, which passes no sizes */
	of->has_callers |= !is_runtime(self, caller) &&
	                   (is_skipped(self, caller) || find_size(self, caller, masks) != 0);
	of->caller = caller;
}

/* Whether the function of a way's frame passes the size of most of its allocations. */
static bool mark_passing(LodeMemorySites *self, const Way *way, GHashTable *callers)
{
	Frame *frame = find_frame(self, way->log, way->addresses[way->at]);
	const CallerCount *of = frame->function != NULL
	                                ? g_hash_table_lookup(callers, frame->function)
	                                : NULL;

	if (of == NULL || !of->has_callers || 2 * of->n_passed <= of->n ||
		frame->role != LODE_CALL_OF_PROGRAM || find_size(self, frame, way->masks) == 0)
		return false;
	frame->role = LODE_CALL_PASSES_SIZE;
	g_hash_table_add(self->passing, passing_key(frame->image, frame->function->name));
	return true;
}

static void find_passing(LodeMemorySites *self, GArray *ways)
{
	enum { MAX_ROUNDS = 16 };
	bool is_found = true;

	for (unsigned round = 0; is_found && round < MAX_ROUNDS; round++) {
		g_autoptr(GHashTable) callers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
		guint n = 0;
		for (guint i = 0; i < ways->len; i++) {
			Way *way = &g_array_index(ways, Way, i);
			if (!advance(self, way))
				continue;
			count_call(self, way, callers);
			g_array_index(ways, Way, n++) = *way;
		}
		g_array_set_size(ways, n);
		is_found = false;
		for (guint i = 0; i < n; i++)
			is_found |= mark_passing(self, &g_array_index(ways, Way, i), callers);
	}
}

static void add_ways(LodeMemorySites *self, guint log, size_t n_stacks, GArray *ways)
{
	for (size_t i = 0; i < n_stacks; i++) {
		LodeAllocationStack stack = stack_at(self, log, i);
		Way way = {.addresses = stack.addresses,
			.n = stack.n,
			.n_allocations = stack.n_allocations,
			.log = log};
		memcpy(way.masks, kind_masks[stack.kind], N_MASKS);
		g_array_append_val(ways, way);
	}
}

/* --- sites and paths --- */

static uint32_t add_call(
	LodeMemorySites *self, uint32_t inner, const Frame *frame, const Call *call)
{
	g_autofree char *place = lode_code_images_place_text(
		lode_places_images(self->reading->options.places), frame->image,
		frame->image_address, call->file, call->line);
	LodeAllocationCall row = {
		.function = lode_profile_intern(self->profile, call->function),
		.place = lode_profile_intern(self->profile, place),
		.inner = inner,
		.role = call->role,
	};
	const LodeIdKey key = {{(uint64_t)inner << 8 | row.role, (uint64_t)(uintptr_t)row.function,
		(uint64_t)(uintptr_t)row.place}};
	GArray *calls = self->profile->memory->calls;
	bool is_new;

	if (calls->len >= MAX_CALLS)
		return inner;
	LodeIdSlot *slot = lode_id_cache_find(&self->calls, &key, &is_new);
	if (is_new) {
		g_array_append_val(calls, row);
		slot->id = calls->len - 1;
	}
	return slot->id;
}

/* The outermost call of a stack; *out_site is the innermost of the program's, or of none the
 * outermost. */
static uint32_t add_calls(
	LodeMemorySites *self, guint log, const LodeAllocationStack *stack, uint32_t *out_site)
{
	uint32_t last = LODE_NONE, depth = 0;

	*out_site = LODE_NONE;
	for (size_t i = 0; i < stack->n; i++) {
		const Frame *frame = find_frame(self, log, stack->addresses[i]);
		for (uint32_t k = 0; frame != NULL && k <= frame->n_inlined &&
				     depth++ < LODE_ALLOCATION_MAX_DEPTH;
			k++) {
			const Call call = call_of(self, frame, k);
			last = add_call(self, last, frame, &call);
			if (*out_site == LODE_NONE && call.role == LODE_CALL_OF_PROGRAM)
				*out_site = last;
		}
	}
	if (*out_site == LODE_NONE)
		*out_site = last;
	return last;
}

static const LodeAllocationCall *call_at(LodeMemorySites *self, uint32_t call)
{
	return &LODE_AT(self->profile->memory->calls, LodeAllocationCall, call);
}

/* "new_node list.c:12 < main list.c:40" */
static char *stack_text(LodeMemorySites *self, uint32_t outermost)
{
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GString *text = g_string_new(NULL);

	for (uint32_t i = outermost; i != LODE_NONE; i = call_at(self, i)->inner)
		g_array_append_val(calls, i);
	for (guint i = calls->len; i-- > 0;) {
		const LodeAllocationCall *call = call_at(self, g_array_index(calls, uint32_t, i));
		g_string_append_printf(text, "%s%s%s%s", text->len > 0 ? " < " : "",
			call->function != NULL ? call->function : "",
			call->function != NULL ? " " : "", call->place);
	}
	return g_string_free(text, FALSE);
}

uint32_t lode_memory_sites_add(LodeMemorySites *self, const char *name, const char *stack)
{
	LodeMemory *memory = self->profile->memory;
	void *found = g_hash_table_lookup(self->site_ids, name);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	const LodeAllocationSite site = {.name = lode_profile_intern(self->profile, name),
		.stack = stack != NULL ? lode_profile_intern(self->profile, stack) : NULL};
	g_array_append_val(memory->sites, site);
	g_hash_table_insert(self->site_ids, site.name, GUINT_TO_POINTER(memory->sites->len));
	return memory->sites->len - 1;
}

static uint32_t add_site(LodeMemorySites *self, const char *name, uint32_t outermost)
{
	bool is_known = g_hash_table_contains(self->site_ids, name);
	g_autofree char *stack = outermost != LODE_NONE && !is_known ? stack_text(self, outermost)
	                                                             : NULL;

	return lode_memory_sites_add(self, name, stack);
}

/* Whether a function that was skipped gives its caller what the allocator gave it; one of a C++
 * library may return anything. */
static bool is_handing_on(const Frame *frame)
{
	const char *name = frame->function != NULL ? frame->function->name : "";

	return strstr(name, "::") == NULL && strchr(name, '<') == NULL;
}

/* Where the call returns to that allocates at the site of a stack. */
static LodeAllocatingCall allocating_call(
	LodeMemorySites *self, guint log, const LodeAllocationStack *stack)
{
	for (size_t i = 0; i < stack->n; i++) {
		const Frame *frame = find_frame(self, log, stack->addresses[i]);

		if (frame == NULL || frame->image == LODE_NONE)
			break;
		if (frame->is_tail && is_handing_on(frame))
			continue;
		if (!is_skipped(self, frame))
			return (LodeAllocatingCall){frame->image, frame->image_address + 1};
		if (!is_handing_on(frame))
			break;
	}
	return (LodeAllocatingCall){0};
}

const LodeAllocatingCall *lode_memory_sites_call(const LodeMemorySites *self, uint32_t allocation)
{
	const LodeAllocatingCall *call = &LODE_AT(
		self->allocating_calls, LodeAllocatingCall, allocation);

	return call->return_address == 0 ? NULL : call;
}

static uint32_t add_path(
	LodeMemorySites *self, LodeAllocationKind kind, uint32_t site_call, uint32_t outermost)
{
	GArray *paths = self->profile->memory->paths;
	g_autofree char *name = g_strdup_printf("%s@%s", kind_names[kind],
		site_call != LODE_NONE ? call_at(self, site_call)->place : "?");
	const LodeAllocationPath path = {
		.site = add_site(self, name, outermost), .call = outermost};
	const LodeIdKey key = {{(uint64_t)path.site << 32 | path.call, 0, 0}};
	bool is_new;

	LodeIdSlot *slot = lode_id_cache_find(&self->paths, &key, &is_new);
	if (is_new) {
		g_array_append_val(paths, path);
		slot->id = paths->len - 1;
	}
	return slot->id;
}

static void add_log(LodeMemorySites *self, guint log, size_t n_stacks)
{
	LodeLogPaths *paths = &self->logs[log];
	GArray *stack_paths = g_array_sized_new(FALSE, TRUE, sizeof(uint32_t), (guint)n_stacks);
	size_t n;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(paths->log, &n);

	paths->stack_paths = stack_paths;
	for (size_t i = 0; i < n_stacks; i++) {
		LodeAllocationStack stack = stack_at(self, log, i);
		uint32_t site_call, outermost = add_calls(self, log, &stack, &site_call);
		uint32_t path = add_path(self, stack.kind, site_call, outermost);
		LodeAllocationPath *row = &LODE_AT(
			self->profile->memory->paths, LodeAllocationPath, path);
		row->n += stack.n_allocations;
		row->n_bytes += MIN(stack.n_bytes, UINT64_MAX - row->n_bytes);
		g_array_append_val(stack_paths, path);
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].stack == UINT32_MAX && paths->unknown[all[i].kind] == LODE_NONE)
			paths->unknown[all[i].kind] = add_path(
				self, all[i].kind, LODE_NONE, LODE_NONE);
}

static void add_up_sites(LodeMemory *memory)
{
	for (guint i = 0; i < memory->paths->len; i++) {
		const LodeAllocationPath *path = &LODE_AT(memory->paths, LodeAllocationPath, i);
		LodeAllocationSite *site = &LODE_AT(memory->sites, LodeAllocationSite, path->site);
		site->n += path->n;
		site->n_bytes += MIN(path->n_bytes, UINT64_MAX - site->n_bytes);
	}
}

static void account(const LodeMemorySites *self, bool has_peaks, GArray *unresolved)
{
	const struct {
		const char *reason;
		uint64_t n;
	} lacks[] = {
		{"allocation stacks beyond the number that is kept", self->n_left_out},
		{"allocation peaks for which there was not enough memory", !has_peaks},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lacks); i++) {
		LodeUnresolved row = {.samples = (double)lacks[i].n};
		if (lacks[i].n == 0)
			continue;
		row.reason = lode_profile_intern(self->profile, lacks[i].reason);
		g_array_append_val(unresolved, row);
	}
}

static LodeMemorySites *sites_new(LodeProfile *profile, LodeMemoryReading *reading)
{
	const GPtrArray *logs = lode_allocations_all(reading->logs);
	LodeMemorySites *self = g_new0(LodeMemorySites, 1);

	self->profile = profile;
	self->reading = reading;
	self->n_logs = logs->len;
	self->allocating_calls = g_array_new(FALSE, TRUE, sizeof(LodeAllocatingCall));
	self->names = lode_allocator_names_new(reading->options.skipped_frames);
	self->frames = g_array_new(FALSE, TRUE, sizeof(Frame));
	self->inlined = g_array_new(FALSE, FALSE, sizeof(LodeInlinedCall));
	self->filled = g_hash_table_new_full(
		g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
	self->tail_paths = g_array_new(FALSE, FALSE, sizeof(LodeTailPath));
	lode_id_cache_init(&self->paths_known);
	self->roles = g_hash_table_new(g_str_hash, g_str_equal);
	self->passing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	self->site_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->allocation_ids = g_hash_table_new(NULL, NULL);
	self->logs = g_new0(LodeLogPaths, MAX(logs->len, 1));
	self->by_thread = g_new0(GArray *, MAX(logs->len, 1));
	lode_id_cache_init(&self->calls);
	lode_id_cache_init(&self->paths);
	for (guint i = 0; i < logs->len; i++) {
		self->logs[i].log = logs->pdata[i];
		for (size_t kind = 0; kind < LODE_N_ALLOCATION_KINDS; kind++)
			self->logs[i].unknown[kind] = LODE_NONE;
	}
	return self;
}

LodeMemorySites *lode_memory_sites_new(
	LodeProfile *profile, LodeMemoryReading *reading, LodeMemoryLoads *loads)
{
	LodeMemorySites *self = sites_new(profile, reading);
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(Way));
	g_autofree size_t *n_stacks = g_new0(size_t, MAX(self->n_logs, 1));
	size_t n_left = MAX_STACKS;

	for (guint i = 0; i < self->n_logs; i++) {
		size_t n = lode_allocation_log_n_stacks(self->logs[i].log);
		n_stacks[i] = MIN(n, n_left);
		n_left -= n_stacks[i];
		self->n_left_out += n - n_stacks[i];
		collect_frames(self, i, n_stacks[i]);
	}
	for (guint i = 0; i < self->frames->len; i++)
		place_frame(self, &LODE_AT(self->frames, Frame, i), loads);
	fill_stacks(self, n_stacks);
	name_frames(self);
	for (guint i = 0; i < self->n_logs; i++)
		add_ways(self, i, n_stacks[i], ways);
	find_passing(self, ways);
	for (guint i = 0; i < self->n_logs; i++)
		add_log(self, i, n_stacks[i]);
	bool has_peaks = self->n_logs == 0 ||
	                 lode_allocation_figures_add(profile->memory, self->logs, self->n_logs);
	add_up_sites(profile->memory);
	account(self, has_peaks, profile->unresolved);
	return self;
}

void lode_memory_sites_free(LodeMemorySites *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->n_logs; i++) {
		g_array_unref((GArray *)self->logs[i].stack_paths);
		if (self->by_thread[i] != NULL)
			g_array_unref(self->by_thread[i]);
	}
	g_free(self->by_thread);
	g_free(self->logs);
	lode_id_cache_clear(&self->calls);
	lode_id_cache_clear(&self->paths);
	g_hash_table_unref(self->allocation_ids);
	g_hash_table_unref(self->site_ids);
	g_array_unref(self->allocating_calls);
	g_hash_table_unref(self->passing);
	g_hash_table_unref(self->roles);
	g_array_unref(self->inlined);
	g_array_unref(self->frames);
	g_hash_table_unref(self->filled);
	g_array_unref(self->tail_paths);
	lode_id_cache_clear(&self->paths_known);
	lode_allocator_names_free(self->names);
	g_free(self);
}

/* --- allocations that samples fell into --- */

/* LODE_NONE: of a call left out. */
static LodeAllocatingCall find_call(
	LodeMemorySites *self, guint index, const LodeLoggedAllocation *logged)
{
	const LodeAllocationLog *log = self->logs[index].log;

	if (logged->stack >= lode_allocation_log_n_stacks(log))
		return (LodeAllocatingCall){0};
	const LodeAllocationStack stack = stack_at(self, index, logged->stack);
	return allocating_call(self, index, &stack);
}

static uint32_t add_allocation(
	LodeMemorySites *self, guint index, const LodeLoggedAllocation *logged)
{
	LodeMemory *memory = self->profile->memory;
	void *found = g_hash_table_lookup(self->allocation_ids, logged);
	uint32_t pid = lode_allocation_log_pid(self->logs[index].log);
	const LodeAllocationPathOf of = {lode_log_paths_find(&self->logs[index], logged)};

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	if (of.path == LODE_NONE)
		return LODE_NONE;
	const LodeAllocation allocation = {
		.pid = pid,
		.site = LODE_AT(memory->paths, LodeAllocationPath, of.path).site,
		.thread = lode_threads_look_up(
			&self->reading->threads, pid, logged->tid, logged->begin_ns),
		.address = logged->address,
		.size = logged->size,
		.begin_ns = logged->begin_ns,
		.end_ns = logged->end_ns,
	};
	g_array_append_val(memory->allocations, allocation);
	g_array_append_val(memory->allocation_paths, of);
	const LodeAllocatingCall call = find_call(self, index, logged);
	g_array_append_val(self->allocating_calls, call);
	g_hash_table_insert(
		self->allocation_ids, (void *)logged, GUINT_TO_POINTER(memory->allocations->len));
	return memory->allocations->len - 1;
}

/* Whether any of these had given it back when it was forked, or by `time_ns` the first of them. */
static bool is_given_back(LodeMemorySites *self, const LodeMemoryPlace *heirs, unsigned n,
	const LodeLoggedAllocation *found, uint64_t address)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t log = lode_allocations_find(self->reading->logs, heirs[i].pid,
			lode_places_find_birth(self->reading->options.places, heirs[i].input,
				heirs[i].pid, heirs[i].time_ns)
				.time_ns,
			heirs[i].time_ns);
		if (log != LODE_NONE && lode_allocation_log_has_given_back(self->logs[log].log,
						found, address, heirs[i].time_ns))
			return true;
	}
	return false;
}

/* Blocks allocated before a fork are in the log of the parent. */
uint32_t lode_memory_sites_find(
	LodeMemorySites *self, const LodeMemoryPlace *place, uint64_t address)
{
	enum { MAX_ANCESTORS = 64 }; /* hostile files have long chains */
	LodeAllocations *logs = self->reading->logs;
	LodeMemoryPlace line[MAX_ANCESTORS], at = *place;

	for (unsigned i = 0; i < MAX_ANCESTORS; i++) {
		const LodeAddressSpaceBirth birth = lode_places_find_birth(
			self->reading->options.places, at.input, at.pid, at.time_ns);
		uint32_t log = lode_allocations_find(logs, at.pid, birth.time_ns, at.time_ns);
		const LodeLoggedAllocation *found =
			log != LODE_NONE
				? lode_allocation_log_find(self->logs[log].log, address, at.time_ns)
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

/* --- allocations that are not there yet --- */

LODE_ORDER_OF_INDICES(
	compare_by_thread, LodeLoggedAllocation, LODE_ASCENDING(tid), LODE_ASCENDING(begin_ns))

static const GArray *sort_by_thread(LodeMemorySites *self, uint32_t log)
{
	size_t n;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(self->logs[log].log, &n);

	if (self->by_thread[log] != NULL)
		return self->by_thread[log];
	GArray *order = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), (guint)n);
	for (uint32_t i = 0; i < n; i++)
		g_array_append_val(order, i);
	if (n > 1)
		g_qsort_with_data(
			order->data, (gint)n, sizeof(uint32_t), compare_by_thread, (void *)all);
	self->by_thread[log] = order;
	return order;
}

/* The first that a thread got from that time on; NULL: none. */
static const LodeLoggedAllocation *find_next(
	LodeMemorySites *self, uint32_t log, uint32_t tid, uint64_t time_ns)
{
	const GArray *order = sort_by_thread(self, log);
	size_t n;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(self->logs[log].log, &n);
	const uint32_t *rows = (const uint32_t *)(const void *)order->data;

	guint at = LODE_PARTITION_POINT(order->len, i,
		all[rows[i]].tid < tid ||
			(all[rows[i]].tid == tid && all[rows[i]].begin_ns < time_ns));
	return at < order->len && all[rows[at]].tid == tid ? &all[rows[at]] : NULL;
}

uint32_t lode_memory_sites_find_ongoing(LodeMemorySites *self, const LodeMemoryPlace *place,
	uint32_t tid, uint32_t image, uint64_t address)
{
	/* An allocator's own data lies beside its blocks, and it may have to align them. */
	const uint64_t nearby = UINT64_C(1) << 16;
	const Frame code = {.image = image};

	if (image == LODE_NONE ||
		!lode_allocator_names_is_runtime(self->names, image_name(self, &code)))
		return LODE_NONE;
	const LodeAddressSpaceBirth birth = lode_places_find_birth(
		self->reading->options.places, place->input, place->pid, place->time_ns);
	uint32_t log = lode_allocations_find(
		self->reading->logs, place->pid, birth.time_ns, place->time_ns);
	const LodeLoggedAllocation *next = log != LODE_NONE
	                                           ? find_next(self, log, tid, place->time_ns)
	                                           : NULL;
	if (next == NULL || address + nearby < next->address ||
		address >= next->address + next->size + nearby)
		return LODE_NONE;
	uint32_t path = lode_log_paths_find(&self->logs[log], next);
	return path != LODE_NONE
	               ? LODE_AT(self->profile->memory->paths, LodeAllocationPath, path).site
	               : LODE_NONE;
}

/* SPDX-License-Identifier: MIT */
/*
 * Functions of all sources are sorted by image and address; those of one address become one, whose
 * instructions are sorted by address in turn. With that each source's instructions have their
 * numbers in the merged profile, and all else are rows of origins, which are sorted and added up.
 */
#include "analyses/merge/profile_merge.h"

#include "analyses/merge/observed_rows.h"
#include "analyses/merge/origin_rows.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/memory.h"
#include "model/observed/loops.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

/* A profile to be added, by what its origins gave. The arrays have the number in the merged profile
 * of the source's origins, images, events and instructions; LODE_NONE: none is taken of it. */
typedef struct {
	const LodeMergeSource *given;
	const LodeProfile *profile;
	LodeOriginParts *own; /* made here of a profile that was not merged */
	const LodeOriginParts *parts;
	uint32_t *origins, *images, *events, *instructions;
	uint32_t *stacks; /* likewise; NULL: the merged profile has none of its */
	double *counts;   /* of its instructions, by the origins that are taken; −1: by none */
	uint32_t n_origins;
	bool is_whole; /* all origins are taken */
} Source;

typedef struct {
	uint64_t key; /* address; of a graph, the number of its name */
	uint32_t image, source, function;
} FunctionPart;

typedef struct {
	uint64_t address;
	uint32_t source, instruction;
} InstructionPart;

/* The source that gives an instruction its attributes and location: the one that executed it most.
 */
typedef struct {
	uint32_t source, instruction;
} Likeness;

typedef struct {
	const LodeMergeOptions *options;
	const LodeProgress *progress;
	LodeProfile *merged;
	Source *sources;
	uint32_t n_sources;
	GHashTable *names;  /* of origins */
	GHashTable *graphs; /* name of a graph → its number + 1 */
	GArray *functions;  /* FunctionPart */
	GArray *rows;       /* InstructionPart, of one function */
	GArray *likenesses; /* Likeness, by instruction */
	GArray *edges;      /* LodeOriginEdgePart */
} Merge;

static void merge_init(Merge *self, const LodeMergeOptions *options, const LodeProgress *progress,
	const LodeMergeSource *sources, size_t n)
{
	*self = (Merge){
		.options = options,
		.progress = progress,
		.merged = lode_profile_new(),
		.sources = g_new0(Source, n),
		.n_sources = (uint32_t)n,
		.names = g_hash_table_new(g_str_hash, g_str_equal),
		.graphs = g_hash_table_new(g_str_hash, g_str_equal),
		.functions = g_array_new(FALSE, FALSE, sizeof(FunctionPart)),
		.rows = g_array_new(FALSE, FALSE, sizeof(InstructionPart)),
		.likenesses = g_array_new(FALSE, FALSE, sizeof(Likeness)),
		.edges = g_array_new(FALSE, FALSE, sizeof(LodeOriginEdgePart)),
	};
	self->merged->origin_parts = lode_origin_parts_new();
	for (size_t i = 0; i < n; i++)
		self->sources[i] = (Source){.given = &sources[i], .profile = sources[i].profile};
}

static void merge_clear(Merge *self)
{
	for (uint32_t i = 0; i < self->n_sources; i++) {
		Source *source = &self->sources[i];
		lode_origin_parts_free(source->own);
		g_free(source->origins);
		g_free(source->images);
		g_free(source->events);
		g_free(source->instructions);
		g_free(source->stacks);
		g_free(source->counts);
	}
	g_free(self->sources);
	lode_profile_free(self->merged);
	g_hash_table_unref(self->names);
	g_hash_table_unref(self->graphs);
	g_array_unref(self->functions);
	g_array_unref(self->rows);
	g_array_unref(self->likenesses);
	g_array_unref(self->edges);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Merge, merge_clear)

static bool refuse(const Source *source, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* Always false. */
static bool refuse(const Source *source, GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *why = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "%s: %s", source->given->path, why);
	return false;
}

/* A profile that was not merged, as what its one origin gave. */
static LodeOriginParts *parts_of_one(const LodeProfile *profile)
{
	LodeOriginParts *parts = lode_origin_parts_new();

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		uint32_t first = LODE_AT(profile->code.cost_starts, uint32_t, i);
		uint32_t end = LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		const LodeOriginCount row = {0, i, instruction->count, instruction->next_count};
		g_array_append_val(parts->counts, row);
		for (uint32_t k = first; k < end; k++) {
			const LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, k);
			const LodeOriginCost part = {0, i, cost->event, cost->value};
			g_array_append_val(parts->costs, part);
		}
	}
	for (uint32_t i = 0; i < profile->code.edges->len; i++) {
		const LodeOriginEdge part = {0, i, LODE_AT(profile->code.edges, LodeEdge, i).count};
		g_array_append_val(parts->edges, part);
	}
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const LodeOriginTotal part = {0, i, lode_profile_event(profile, i)->total};
		g_array_append_val(parts->totals, part);
	}
	return parts;
}

/* "a", "a-2", "a-3"… */
static char *unique_name(Merge *self, const char *wanted)
{
	g_autofree char *name = g_strdup(wanted);

	for (unsigned i = 2; g_hash_table_contains(self->names, name); i++) {
		g_free(name);
		name = g_strdup_printf("%s-%u", wanted, i);
	}
	char *kept = lode_profile_intern(self->merged, name);
	g_hash_table_add(self->names, kept);
	return kept;
}

static bool is_wanted(const Merge *self, const LodeOrigin *origin, const char *name)
{
	const char *const *patterns = self->options->origins;

	if (patterns == NULL)
		return true;
	for (; *patterns != NULL; patterns++)
		if (g_pattern_match_simple(*patterns, name) ||
			(origin->host != NULL && g_pattern_match_simple(*patterns, origin->host)))
			return true;
	return false;
}

static void take_origin(Merge *self, Source *source, uint32_t index, const LodeOrigin *origin)
{
	const char *name = origin->name != NULL ? origin->name : source->given->name;
	LodeOrigin row = *origin;

	source->origins[index] = LODE_NONE;
	if (!is_wanted(self, origin, name)) {
		source->is_whole = false;
		return;
	}
	row.name = unique_name(self, name);
	row.host = lode_profile_intern(self->merged, origin->host);
	row.program = lode_profile_intern(self->merged, origin->program);
	self->merged->run.n_samples += row.n_samples;
	self->merged->run.total_count += row.total_count;
	source->origins[index] = self->merged->origins->len;
	g_array_append_val(self->merged->origins, row);
}

static void take_origins(Merge *self, Source *source)
{
	const LodeProfile *profile = source->profile;
	LodeOrigin one = {.program = profile->run.program,
		.n_samples = profile->run.n_samples,
		.total_count = profile->run.total_count};
	bool is_merged = profile->origin_parts != NULL;

	source->is_whole = true;
	if (!is_merged)
		source->own = parts_of_one(profile);
	source->parts = is_merged ? profile->origin_parts : source->own;
	source->n_origins = is_merged ? profile->origins->len : 1;
	source->origins = g_new(uint32_t, source->n_origins);
	if (!is_merged && profile->origins->len > 0)
		one = LODE_AT(profile->origins, LodeOrigin, 0);
	for (uint32_t i = 0; i < source->n_origins; i++)
		take_origin(self, source, i,
			is_merged ? &LODE_AT(profile->origins, LodeOrigin, i) : &one);
}

/* How often the origins that are taken executed each instruction. */
static void count_instructions(Source *self)
{
	uint32_t n = self->profile->code.instructions->len;

	self->counts = g_new(double, MAX(n, 1));
	self->instructions = g_new(uint32_t, MAX(n, 1));
	for (uint32_t i = 0; i < n; i++) {
		self->counts[i] = -1;
		self->instructions[i] = LODE_NONE;
	}
	for (guint i = 0; i < self->parts->counts->len; i++) {
		const LodeOriginCount *row = &LODE_AT(self->parts->counts, LodeOriginCount, i);
		double *count = &self->counts[row->instruction];
		if (self->origins[row->origin] != LODE_NONE)
			*count = MAX(*count, 0) + row->count;
	}
}

/* Two images of one profile are two, also where the path is all that is known of them. */
static bool is_taken(const Source *source, uint32_t image)
{
	for (guint i = 0; i < source->profile->code.images->len; i++)
		if (source->images[i] == image)
			return true;
	return false;
}

/* Code that is the same in two runs has the same build-id. */
static bool find_image(Merge *self, const Source *source, const LodeImage *image,
	uint32_t *out_image, GError **error)
{
	LodeProfile *merged = self->merged;
	bool is_own = image->kind == LODE_IMAGE_JIT || image->kind == LODE_IMAGE_UNRESOLVED;

	if (!is_own && image->build_id == NULL && !self->options->same_paths && self->n_sources > 1)
		return refuse(source, error,
			"'%s' has no build-id, so that nothing says whether it is the same file as "
			"in another profile; %slet files of the same path be the same by "
			"--same-paths",
			image->path,
			image->kind == LODE_IMAGE_FILE
				? "build it with -Wl,--build-id and record again, or "
				: "");
	for (uint32_t i = 0; !is_own && i < merged->code.images->len; i++) {
		const LodeImage *known = lode_profile_image(merged, i);
		bool is_same = image->build_id != NULL && known->build_id != NULL
		                       ? strcmp(image->build_id, known->build_id) == 0
		                       : image->build_id == known->build_id &&
		                                 strcmp(image->path, known->path) == 0;
		if (is_same && known->kind == image->kind &&
			(image->build_id != NULL || !is_taken(source, i))) {
			*out_image = i;
			return true;
		}
	}
	const LodeImage row = {lode_profile_intern(merged, image->path),
		lode_profile_intern(merged, image->build_id), image->kind};
	*out_image = merged->code.images->len;
	g_array_append_val(merged->code.images, row);
	return true;
}

/* Whether anything is taken of a function. */
static bool is_function_taken(const Source *self, const LodeFunction *function)
{
	for (uint32_t i = 0; i < function->n_instructions; i++)
		if (self->counts[function->first_instruction + i] >= 0)
			return true;
	return false;
}

static uint64_t graph_number(Merge *self, const char *name)
{
	void *number = g_hash_table_lookup(self->graphs, name);

	if (number == NULL) {
		number = GSIZE_TO_POINTER(g_hash_table_size(self->graphs) + 1);
		g_hash_table_insert(self->graphs, (char *)name, number);
	}
	return GPOINTER_TO_SIZE(number);
}

static bool take_functions(Merge *self, uint32_t source_index, GError **error)
{
	Source *source = &self->sources[source_index];
	const LodeProfile *profile = source->profile;

	source->images = g_new(uint32_t, MAX(profile->code.images->len, 1));
	memset(source->images, 0xff, profile->code.images->len * sizeof(*source->images));
	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		const LodeImage *image = lode_profile_image(profile, function->image);
		uint32_t *image_row = &source->images[function->image];
		if (!is_function_taken(source, function))
			continue;
		if (*image_row == LODE_NONE && !find_image(self, source, image, image_row, error))
			return false;
		bool is_graph = image->kind == LODE_IMAGE_GRAPHS;
		const FunctionPart part = {
			is_graph ? graph_number(self, function->name) : function->address,
			*image_row, source_index, i};
		g_array_append_val(self->functions, part);
	}
	return true;
}

static bool is_same_event(
	const LodeProfile *a, const LodeEvent *left, const LodeProfile *b, const LodeEvent *right)
{
	guint n = left->terms != NULL ? left->terms->len : 0;

	if (left->kind != right->kind || n != (right->terms != NULL ? right->terms->len : 0))
		return false;
	for (guint i = 0; i < n; i++) {
		const LodeEventTerm *of_left = &LODE_AT(left->terms, LodeEventTerm, i);
		const LodeEventTerm *of_right = &LODE_AT(right->terms, LodeEventTerm, i);
		if (of_left->factor != of_right->factor ||
			strcmp(lode_profile_event(a, of_left->event)->name,
				lode_profile_event(b, of_right->event)->name) != 0)
			return false;
	}
	return true;
}

/* What a run may not have had: then it happened 0 times. */
static bool may_lack(const LodeEvent *event)
{
	return strcmp(event->name, LODE_WINDOW_ACCESSES) == 0 ||
	       g_str_has_prefix(event->name, LODE_KERNEL_EVENTS) ||
	       lode_is_page_fault_event(event->name);
}

static guint count_needed(const LodeProfile *profile)
{
	guint n = 0;

	for (guint i = 0; i < profile->code.events->len; i++)
		n += !may_lack(lode_profile_event(profile, i));
	return n;
}

static uint32_t add_event(LodeProfile *merged, const LodeEvent *event)
{
	uint32_t added = lode_profile_add_event(merged, event->name, event->description,
		event->kind,
		event->terms != NULL ? (LodeEventTerm *)(void *)event->terms->data : NULL,
		event->terms != NULL ? event->terms->len : 0);

	lode_profile_event(merged, added)->is_attribute = event->is_attribute;
	return added;
}

/* The first source's events; the others must have the same, or rates would be of a part only. */
static bool take_events(Merge *self, Source *source, GError **error)
{
	const LodeProfile *profile = source->profile, *first = self->sources[0].profile;
	const char *first_path = self->sources[0].given->path;
	LodeProfile *merged = self->merged;

	source->events = g_new(uint32_t, MAX(profile->code.events->len, 1));
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		if (source == self->sources) {
			source->events[i] = add_event(merged, event);
			continue;
		}
		uint32_t known = lode_profile_find_event(first, event->name);
		if (known == LODE_NONE && may_lack(event)) {
			uint32_t other = lode_profile_find_event(merged, event->name);
			source->events[i] = other != LODE_NONE ? other : add_event(merged, event);
			continue;
		}
		if (known == LODE_NONE)
			return refuse(source, error, "it has the event '%s', and %s has not",
				event->name, first_path);
		if (!is_same_event(first, lode_profile_event(first, known), profile, event))
			return refuse(source, error,
				"its event '%s' is made in another way than that of %s",
				event->name, first_path);
		source->events[i] = known;
	}
	if (count_needed(profile) != count_needed(first))
		return refuse(source, error, "%s has events that it has not", first_path);
	if (profile->code.weight_event != LODE_NONE &&
		source->events[profile->code.weight_event] != first->code.weight_event)
		return refuse(source, error, "it is weighted by '%s', and %s is not",
			lode_profile_event(profile, profile->code.weight_event)->name, first_path);
	return true;
}

/* Each once: "a; b". Texts of NULL are left out. */
static char *join_texts(LodeProfile *merged, const GPtrArray *texts)
{
	enum { SHOWN = 3 };
	GString *joined = g_string_new(NULL);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < texts->len; i++) {
		char *text = texts->pdata[i];
		if (text == NULL || !g_hash_table_add(seen, text) ||
			g_hash_table_size(seen) > SHOWN)
			continue;
		g_string_append_printf(joined, "%s%s", joined->len > 0 ? "; " : "", text);
	}
	guint n = g_hash_table_size(seen);
	if (n > SHOWN)
		g_string_append_printf(
			joined, "; and %u other%s", n - SHOWN, n - SHOWN == 1 ? "" : "s");
	char *kept = n > 0 ? lode_profile_intern(merged, joined->str) : NULL;
	g_string_free(joined, TRUE);
	return kept;
}

/* The programs of the origins that are taken, and who made the profiles that they are taken from.
 */
static void take_texts(Merge *self)
{
	g_autoptr(GPtrArray) programs = g_ptr_array_new();
	g_autoptr(GPtrArray) creators = g_ptr_array_new();

	for (guint i = 0; i < self->merged->origins->len; i++)
		g_ptr_array_add(programs, LODE_AT(self->merged->origins, LodeOrigin, i).program);
	for (uint32_t i = 0; i < self->n_sources; i++)
		g_ptr_array_add(creators, self->sources[i].profile->run.creator);
	self->merged->run.program = join_texts(self->merged, programs);
	self->merged->run.creator = join_texts(self->merged, creators);
}

static bool take_facts(Merge *self, GError **error)
{
	LodeProfile *merged = self->merged;

	take_texts(self);
	merged->code.weight_event = self->sources[0].profile->code.weight_event;
	merged->run.frequency = self->sources[0].profile->run.frequency;
	merged->run.is_kernel_sampled = true;
	for (uint32_t i = 0; i < self->n_sources; i++) {
		const Source *source = &self->sources[i];
		const LodeProfile *profile = source->profile;
		if ((profile->run.frequency == LODE_FREQUENCY_GIVEN) !=
			(merged->run.frequency == LODE_FREQUENCY_GIVEN))
			return refuse(source, error,
				"flow graphs that were given cannot be merged with programs that "
				"were recorded");
		/* They are in the order of trust. */
		merged->run.frequency = MAX(merged->run.frequency, profile->run.frequency);
		merged->run.is_kernel_sampled &= profile->run.is_kernel_sampled;
		if (!source->is_whole)
			continue;
		merged->run.user_seconds += profile->run.user_seconds;
		merged->run.system_seconds += profile->run.system_seconds;
		merged->run.n_equal_samples += lode_profile_equal_samples(profile);
		merged->run.system_error = hypot(
			merged->run.system_error, lode_profile_system_error(profile));
		merged->run.inflow_checked += profile->run.inflow_checked;
		merged->run.inflow_equal += profile->run.inflow_equal;
	}
	return true;
}

LODE_ORDER(compare_functions, FunctionPart, LODE_ASCENDING(image), LODE_ASCENDING(key),
	LODE_ASCENDING(source))

LODE_ORDER(compare_rows, InstructionPart, LODE_ASCENDING(address), LODE_ASCENDING(source))

static const LodeFunction *function_of(const Merge *self, const FunctionPart *part)
{
	return lode_profile_function(self->sources[part->source].profile, part->function);
}

/* The calls of a source that is taken in part: by the share of the entry's executions. */
static double calls_of(const Source *source, const LodeFunction *function)
{
	if (source->is_whole || function->n_instructions == 0)
		return function->calls;
	uint32_t entry = function->first_instruction;
	double count = lode_profile_instruction(source->profile, entry)->count;
	return count > 0 ? function->calls * MAX(source->counts[entry], 0) / count : 0;
}

/* Names and bounds of one source, which has them from the best of places. */
static LodeFunction add_up_functions(const Merge *self, const FunctionPart *parts, size_t n)
{
	LodeProfile *merged = self->merged;
	const LodeFunction *best = function_of(self, &parts[0]), *coded = best;
	LodeFunction sum = {.image = parts[0].image};

	for (size_t i = 0; i < n; i++) {
		const LodeFunction *function = function_of(self, &parts[i]);
		best = function->source < best->source ? function : best;
		sum.size = MAX(sum.size, function->size);
		sum.calls += calls_of(&self->sources[parts[i].source], function);
		if (function->code != NULL &&
			(coded->code == NULL ||
				g_bytes_get_size(function->code) > g_bytes_get_size(coded->code)))
			coded = function;
	}
	sum.source = best->source;
	sum.name = lode_profile_intern(merged, best->name);
	sum.symbol = lode_profile_intern(merged, best->symbol);
	sum.address = best->address;
	sum.code = coded->code != NULL ? g_bytes_ref(coded->code) : NULL;
	return sum;
}

static bool add_instruction(
	Merge *self, const InstructionPart *parts, size_t n, uint32_t function, GError **error)
{
	const InstructionPart *most = &parts[0];
	double count = 0;

	for (size_t i = 0; i < n; i++) {
		Source *source = &self->sources[parts[i].source];
		double own = source->counts[parts[i].instruction];
		source->instructions[parts[i].instruction] = self->merged->code.instructions->len;
		count += own;
		if (own > self->sources[most->source].counts[most->instruction])
			most = &parts[i];
	}
	const LodeInstruction *like = lode_profile_instruction(
		self->sources[most->source].profile, most->instruction);
	for (size_t i = 0; i < n && like->name != NULL; i++) {
		const Source *source = &self->sources[parts[i].source];
		const LodeInstruction *other = lode_profile_instruction(
			source->profile, parts[i].instruction);
		if (g_strcmp0(other->name, like->name) != 0)
			return refuse(source, error,
				"in graph '%s' it has the vertex '%s' where another profile has "
				"'%s': the graphs are not the same",
				lode_profile_function(self->merged, function)->name, other->name,
				like->name);
	}
	const LodeInstruction row = {
		.address = like->address,
		.count = count,
		.next_count = -1,
		.function = function,
		.block = LODE_NONE,
		.location = LODE_NONE,
		.size = like->size,
		.name = lode_profile_intern(self->merged, like->name),
	};
	const Likeness likeness = {most->source, most->instruction};
	g_array_append_val(self->merged->code.instructions, row);
	g_array_append_val(self->likenesses, likeness);
	return true;
}

static bool add_instructions(
	Merge *self, const FunctionPart *parts, size_t n, uint32_t index, GError **error)
{
	GArray *rows = self->rows;

	g_array_set_size(rows, 0);
	for (size_t i = 0; i < n; i++) {
		const Source *source = &self->sources[parts[i].source];
		const LodeFunction *function = function_of(self, &parts[i]);
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			uint32_t own = function->first_instruction + k;
			const InstructionPart row = {
				lode_profile_instruction(source->profile, own)->address,
				parts[i].source, own};
			if (source->counts[own] >= 0)
				g_array_append_val(rows, row);
		}
	}
	g_array_sort(rows, compare_rows);
	for (guint first = 0, end; first < rows->len; first = end) {
		const InstructionPart *row = &LODE_AT(rows, InstructionPart, first);
		for (end = first + 1; end < rows->len; end++) {
			const InstructionPart *other = &LODE_AT(rows, InstructionPart, end);
			/* Two of one source at one address stay two. */
			if (other->address != row->address || other->source == other[-1].source)
				break;
		}
		if (!add_instruction(self, row, end - first, index, error))
			return false;
	}
	return true;
}

LODE_ORDER(compare_blocks, LodeBlock, LODE_ASCENDING(address), LODE_ASCENDING(end))

/* A block that another source knows to be entered inside ends there. */
static void cut_blocks(GArray *blocks)
{
	guint n = 0;

	for (guint i = 0; i < blocks->len; i++) {
		LodeBlock block = LODE_AT(blocks, LodeBlock, i);
		LodeBlock *last = n > 0 ? &LODE_AT(blocks, LodeBlock, n - 1) : NULL;
		if (last != NULL && last->address == block.address) {
			last->end = MAX(last->end, block.end);
			last->loop_depth = MAX(last->loop_depth, block.loop_depth);
			last->is_loop_head |= block.is_loop_head;
			continue;
		}
		if (last != NULL && last->end > block.address) {
			/* This block takes over the end of the last one, which ends where this one
			 * begins. */
			block.end = MAX(block.end, last->end);
			last->end = block.address;
		}
		LODE_AT(blocks, LodeBlock, n++) = block;
	}
	g_array_set_size(blocks, n);
}

/* The last block that begins at or before the instruction, and holds it. */
static void find_blocks(LodeProfile *merged, const LodeFunction *function)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < function->n_instructions; i++) {
		LodeInstruction *instruction = lode_profile_instruction(
			merged, function->first_instruction + i);
		while (next < function->n_blocks &&
			lode_profile_block(merged, function->first_block + next)->address <=
				instruction->address)
			next++;
		if (next == 0)
			continue;
		LodeBlock *block = lode_profile_block(merged, function->first_block + next - 1);
		if (instruction->address >= block->end && block->end > block->address)
			continue;
		instruction->block = function->first_block + next - 1;
		if (instruction->address == block->address)
			block->count = instruction->count;
	}
}

static void add_blocks(
	Merge *self, const FunctionPart *parts, size_t n, uint32_t index, LodeFunction *function)
{
	g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(LodeBlock));

	for (size_t i = 0; i < n; i++) {
		const LodeFunction *own = function_of(self, &parts[i]);
		const LodeProfile *profile = self->sources[parts[i].source].profile;
		for (uint32_t k = 0; k < own->n_blocks; k++) {
			LodeBlock block = *lode_profile_block(profile, own->first_block + k);
			block.function = index;
			block.count = 0;
			g_array_append_val(blocks, block);
		}
	}
	g_array_sort(blocks, compare_blocks);
	cut_blocks(blocks);
	function->first_block = self->merged->code.blocks->len;
	function->n_blocks = blocks->len;
	g_array_append_vals(self->merged->code.blocks, blocks->data, blocks->len);
	find_blocks(self->merged, function);
}

static bool add_function(Merge *self, const FunctionPart *parts, size_t n, GError **error)
{
	LodeProfile *merged = self->merged;
	LodeFunction function = add_up_functions(self, parts, n);
	uint32_t index = merged->code.functions->len;

	function.first_instruction = merged->code.instructions->len;
	g_array_append_val(merged->code.functions, function);
	if (!add_instructions(self, parts, n, index, error))
		return false;
	LodeFunction *kept = lode_profile_function(merged, index);
	kept->n_instructions = merged->code.instructions->len - kept->first_instruction;
	add_blocks(self, parts, n, index, kept);
	return true;
}

static bool add_functions(Merge *self, GError **error)
{
	GArray *parts = self->functions;

	g_array_sort(parts, compare_functions);
	for (guint first = 0, end; first < parts->len; first = end) {
		const FunctionPart *part = &LODE_AT(parts, FunctionPart, first);
		for (end = first + 1; end < parts->len; end++) {
			const FunctionPart *other = &LODE_AT(parts, FunctionPart, end);
			if (other->image != part->image || other->key != part->key ||
				other->source == other[-1].source)
				break;
		}
		if (!add_function(self, part, end - first, error))
			return false;
		lode_progress_report(self->progress, "merging functions", first, parts->len, NULL);
		if (lode_progress_is_cancelled(self->progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "cancelled");
			return false;
		}
	}
	return true;
}

/* All rows of a source's parts with the merged profile's numbers. */
static void renumber_parts(Merge *self, const Source *source)
{
	LodeOriginParts *parts = self->merged->origin_parts;

	for (guint i = 0; i < source->parts->counts->len; i++) {
		LodeOriginCount row = LODE_AT(source->parts->counts, LodeOriginCount, i);
		bool is_graph = source->profile->run.frequency == LODE_FREQUENCY_GIVEN;
		uint32_t origin = source->origins[row.origin], own = row.instruction;
		if (origin == LODE_NONE)
			continue;
		if (row.next_count >= 0 && own + 1 < source->profile->code.instructions->len &&
			source->instructions[own + 1] != LODE_NONE) {
			const LodeOriginEdgePart edge = {
				{source->instructions[own], source->instructions[own + 1],
					is_graph ? LODE_EDGE_GIVEN : LODE_EDGE_FALL_THROUGH,
					row.next_count},
				origin};
			g_array_append_val(self->edges, edge);
		}
		row = (LodeOriginCount){origin, source->instructions[own], row.count, -1};
		g_array_append_val(parts->counts, row);
	}
	for (guint i = 0; i < source->parts->costs->len; i++) {
		LodeOriginCost row = LODE_AT(source->parts->costs, LodeOriginCost, i);
		row.origin = source->origins[row.origin];
		row.instruction = source->instructions[row.instruction];
		row.event = source->events[row.event];
		if (row.origin != LODE_NONE && row.instruction != LODE_NONE)
			g_array_append_val(parts->costs, row);
	}
	for (guint i = 0; i < source->parts->edges->len; i++) {
		const LodeOriginEdge *row = &LODE_AT(source->parts->edges, LodeOriginEdge, i);
		const LodeEdge *edge = &LODE_AT(source->profile->code.edges, LodeEdge, row->edge);
		const LodeOriginEdgePart part = {
			{source->instructions[edge->source], source->instructions[edge->target],
				edge->kind, row->count},
			source->origins[row->origin]};
		if (part.origin != LODE_NONE && part.edge.source != LODE_NONE &&
			part.edge.target != LODE_NONE)
			g_array_append_val(self->edges, part);
	}
	for (guint i = 0; i < source->parts->totals->len; i++) {
		LodeOriginTotal row = LODE_AT(source->parts->totals, LodeOriginTotal, i);
		row.origin = source->origins[row.origin];
		row.event = source->events[row.event];
		if (row.origin == LODE_NONE)
			continue;
		lode_profile_event(self->merged, row.event)->total += row.value;
		g_array_append_val(parts->totals, row);
	}
}

static uint32_t merged_location(Merge *self, const LodeProfile *profile, uint32_t id)
{
	const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation, id);

	return lode_profile_location(
		self->merged, location->file, location->line, location->inlined);
}

/* Outermost first, as inner ones refer to outer ones. */
static uint32_t merged_inlining(Merge *self, const LodeProfile *profile, uint32_t id)
{
	uint32_t path[LODE_INLINING_MAX_DEPTH], n = 0, outer = LODE_NONE;

	for (; id != LODE_NONE; id = LODE_AT(profile->code.inlinings, LodeInlining, id).outer)
		path[n++] = id;
	while (n-- > 0) {
		uint32_t call = LODE_AT(profile->code.inlinings, LodeInlining, path[n]).location;
		outer = lode_profile_inlining(
			self->merged, merged_location(self, profile, call), outer);
	}
	return outer;
}

/* Attributes and the location of its likeness, and who executed it. */
static void name_instruction(
	Merge *self, uint32_t index, const LodeOriginCount *rows, size_t n, GArray *ids)
{
	const Likeness *like = &LODE_AT(self->likenesses, Likeness, index);
	const LodeProfile *profile = self->sources[like->source].profile;
	const LodeInstruction *own = lode_profile_instruction(profile, like->instruction);
	uint32_t n_members;
	const uint32_t *members = lode_profile_set_members(profile, own->attribute_set, &n_members);
	LodeInstruction *instruction = lode_profile_instruction(self->merged, index);

	g_array_set_size(ids, 0);
	for (uint32_t i = 0; i < n_members; i++) {
		const char *name = lode_profile_attribute_name(profile, members[i]);
		if (g_str_has_prefix(name, "origin:"))
			continue;
		uint32_t id = lode_profile_attribute(self->merged, name);
		g_array_append_val(ids, id);
	}
	for (size_t i = 0; i < n; i++) {
		const LodeOrigin *origin = &LODE_AT(
			self->merged->origins, LodeOrigin, rows[i].origin);
		g_autofree char *name = g_strconcat("origin:", origin->name, NULL);
		uint32_t id = lode_profile_attribute(self->merged, name);
		if (rows[i].count > 0)
			g_array_append_val(ids, id);
	}
	instruction->attribute_set = lode_profile_attribute_set(
		self->merged, (uint32_t *)(void *)ids->data, ids->len);
	uint32_t inlining = lode_profile_inlining_of(profile, like->instruction);
	if (own->location != LODE_NONE)
		instruction->location = merged_location(self, profile, own->location);
	if (inlining != LODE_NONE)
		lode_profile_set_inlining(
			self->merged, index, merged_inlining(self, profile, inlining));
}

static void name_instructions(Merge *self)
{
	const GArray *counts = self->merged->origin_parts->counts;
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint first = 0, end; first < counts->len; first = end) {
		const LodeOriginCount *row = &LODE_AT(counts, LodeOriginCount, first);
		for (end = first + 1; end < counts->len; end++)
			if (LODE_AT(counts, LodeOriginCount, end).instruction != row->instruction)
				break;
		name_instruction(self, row->instruction, row, end - first, ids);
	}
}

/* Reasons are not known by origin: of a part of a merged profile, only how much is missing. */
static void take_unresolved(Merge *self)
{
	LodeProfile *merged = self->merged;
	bool is_whole = true;

	for (uint32_t i = 0; i < self->n_sources; i++)
		is_whole &= self->sources[i].is_whole;
	for (uint32_t i = 0; is_whole && i < self->n_sources; i++) {
		const GArray *rows = self->sources[i].profile->unresolved;
		for (guint k = 0; k < rows->len; k++) {
			const LodeUnresolved *row = &LODE_AT(rows, LodeUnresolved, k);
			guint at = 0;
			lode_profile_add_unresolved(
				merged, row->reason, row->example, row->count, row->weight);
			while (strcmp(LODE_AT(merged->unresolved, LodeUnresolved, at).reason,
				       row->reason) != 0)
				at++;
			LodeUnresolved *sum = &LODE_AT(merged->unresolved, LodeUnresolved, at);
			sum->places += row->places - 1;
			sum->samples += row->samples;
		}
	}
	if (!is_whole)
		lode_origin_rows_add_missing(merged);
}

bool lode_profile_merge_has_stacks(const LodeProfile *profile)
{
	return !(profile->run.n_samples > 0) ||
	       (profile->stacks != NULL && profile->stacks->has_chains);
}

/* Stacks have no origin, and those of a part would look like all. */
static void take_stacks(Merge *self)
{
	g_auto(LodeStackRows) rows = {0};
	bool has_all = true, has_any = false, has_chains = true, has_tops = false;

	for (uint32_t i = 0; i < self->n_sources; i++) {
		const Source *source = &self->sources[i];
		bool has_samples = source->profile->stacks != NULL;
		has_any |= has_samples;
		has_tops |= has_samples && source->profile->stacks->has_tops;
		has_all &= source->is_whole &&
		           (has_samples || !(source->profile->run.n_samples > 0));
		has_chains &= lode_profile_merge_has_stacks(source->profile);
	}
	if (!has_all || !has_any)
		return;
	lode_stack_rows_init(&rows, self->merged);
	for (uint32_t i = 0; i < self->n_sources; i++) {
		Source *source = &self->sources[i];
		if (source->profile->stacks != NULL)
			source->stacks = lode_stack_rows_add(&rows, source->profile->stacks,
				source->events, source->instructions);
	}
	self->merged->stacks->has_chains = has_chains;
	self->merged->stacks->has_tops = has_tops && !has_chains;
}

/* Waits have no origin, either, and a sum without those of a run would look like all. */
static void take_waits(Merge *self)
{
	g_auto(LodeWaitRows) rows = {0};

	for (uint32_t i = 0; i < self->n_sources; i++)
		if (!self->sources[i].is_whole || self->sources[i].profile->waits == NULL)
			return;
	lode_wait_rows_init(&rows, self->merged);
	for (uint32_t i = 0; i < self->n_sources; i++)
		lode_wait_rows_add(&rows, self->sources[i].profile->waits, self->sources[i].stacks);
	lode_wait_rows_sort(&rows);
}

static void take_windows(Merge *self)
{
	for (uint32_t i = 0; i < self->n_sources; i++) {
		const Source *source = &self->sources[i];
		if (source->is_whole && source->profile->windows != NULL)
			lode_window_rows_add(
				self->merged, source->profile->windows, source->instructions);
	}
	lode_window_rows_add_up(self->merged);
}

/* Cycles of different cores have no mean: the merged profile has no loops then. */
static void take_loops(Merge *self)
{
	LodeProfile *merged = self->merged;
	bool is_whole = true;

	merged->run.core = lode_profile_intern(merged, self->sources[0].profile->run.core);
	for (uint32_t i = 0; i < self->n_sources; i++) {
		is_whole &= self->sources[i].is_whole;
		if (g_strcmp0(self->sources[i].profile->run.core, merged->run.core) != 0)
			merged->run.core = NULL;
	}
	for (uint32_t i = 0; i < self->n_sources && merged->run.core != NULL; i++)
		lode_loop_rows_add(merged, self->sources[i].profile, self->sources[i].instructions);
	lode_loop_rows_add_up(merged);
	if (!is_whole)
		lode_loops_recount(merged);
}

/* Adding a run to itself would double it. */
static bool check_different(const Merge *self, GError **error)
{
	for (uint32_t i = 0; i < self->n_sources; i++)
		for (uint32_t k = 0; k < i; k++) {
			const char *content = self->sources[i].profile->file.content;
			if (content[0] != '\0' &&
				strcmp(content, self->sources[k].profile->file.content) == 0)
				return refuse(&self->sources[i], error,
					"it is the same profile as %s",
					self->sources[k].given->path);
		}
	return true;
}

static bool take_sources(Merge *self, GError **error)
{
	if (!check_different(self, error))
		return false;
	for (uint32_t i = 0; i < self->n_sources; i++) {
		Source *source = &self->sources[i];
		take_origins(self, source);
		count_instructions(source);
		if (!take_events(self, source, error) || !take_functions(self, i, error))
			return false;
	}
	if (self->merged->origins->len == 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no origin has such a name or host; 'lode info' lists them");
		return false;
	}
	return take_facts(self, error);
}

LodeProfile *lode_profile_merge(const LodeMergeSource *sources, size_t n,
	const LodeMergeOptions *options, const LodeProgress *progress, GError **error)
{
	g_auto(Merge) self;

	merge_init(&self, options, progress, sources, n);
	if (!take_sources(&self, error) || !add_functions(&self, error))
		return NULL;
	for (uint32_t i = 0; i < self.n_sources; i++)
		renumber_parts(&self, &self.sources[i]);
	lode_origin_rows_add_up(self.merged, self.edges);
	name_instructions(&self);
	lode_origin_rows_sort(self.merged->origin_parts);
	take_unresolved(&self);
	take_stacks(&self);
	take_waits(&self);
	take_windows(&self);
	take_loops(&self);
	return g_steal_pointer(&self.merged);
}

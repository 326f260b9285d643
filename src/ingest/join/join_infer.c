/* SPDX-License-Identifier: MIT */
/*
 * Samples → executions, where nothing counted them: every function with samples or branches gets
 * the counts that fit them best, and the recording is replaced by one that looks as if these had
 * been counted. Functions are worked out on all workers and put together in their order.
 */
#include "ingest/join/join_infer.h"

#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/worker_pool.h"
#include "ingest/sampled/registers/sample_pairs.h"
#include "model/index.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_VALUES = 1 << 29 }; /* instructions × columns: 4 GiB */

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const LodeRecording *samples;
	const GArray *sites;           /* LodeJoinSite, of the samples */
	GArray *ranges;                /* LodeInferredSpan, by (image, first) */
	GArray *branches;              /* LodeInferredSpan, by (image, source) */
	GArray *entries;               /* the same, by (target image, target) */
	GArray *steps;                 /* LodeInferredSpan, by (image, source): by windows */
	GArray *arrivals;              /* the same, by (target image, target) */
	GArray *callers;               /* the same, by (image, first): calls of sampled code */
	GArray *functions;             /* LodeInferredEvidence: of which any of these is known */
	GArray *stray;                 /* LodeJoinSite: in no function */
	LodeInferredFunction *results; /* of each of `functions` */
	LodeInferenceScratch *scratch; /* of each worker */
	GArray *image_objects;         /* uint32_t × images: an object of it */
} Inference;

/* Positions in the sorted arrays while functions are swept in the order of addresses. */
typedef struct {
	uint32_t site, range, branch, entry, step, arrival, caller;
} Cursor;

LODE_ORDER(compare_by_first, LodeInferredSpan, LODE_ASCENDING(image), LODE_ASCENDING(first),
	LODE_ASCENDING(last))

LODE_ORDER(compare_by_last, LodeInferredSpan, LODE_ASCENDING(target_image), LODE_ASCENDING(last),
	compare_by_first(left, right))

static uint32_t image_of(const Inference *self, uint32_t object)
{
	return g_array_index(self->images->object_images, uint32_t, object);
}

/* Jumps are needed twice: by where they leave from, and by where they lead. */
static void collect_spans(Inference *self)
{
	const LodeRecording *recording = self->samples;

	for (guint i = 0; i < recording->ranges->len; i++) {
		const LodeRecordedRange *range = &g_array_index(
			recording->ranges, LodeRecordedRange, i);
		uint32_t image = image_of(self, range->object);
		const LodeInferredSpan span = {
			image, image, range->first, range->last, range->count};
		g_array_append_val(self->ranges, span);
	}
	for (guint i = 0; i < recording->jumps->len; i++) {
		const LodeRecordedJump *jump = &g_array_index(
			recording->jumps, LodeRecordedJump, i);
		const LodeInferredSpan span = {image_of(self, jump->object),
			image_of(self, jump->target_object), jump->source, jump->target,
			jump->taken};
		g_array_append_val(self->branches, span);
		g_array_append_val(self->entries, span);
	}
	g_array_sort(self->ranges, compare_by_first);
	g_array_sort(self->branches, compare_by_first);
	g_array_sort(self->entries, compare_by_last);
}

/* Branch stacks have more of all that windows have: where there are any, windows are left out. */
static void collect_steps(Inference *self)
{
	const LodeRecording *recording = self->samples;

	for (guint i = 0; i < recording->steps->len && recording->ranges->len == 0; i++) {
		const LodeRecordedStep *step = &g_array_index(
			recording->steps, LodeRecordedStep, i);
		const LodeInferredSpan span = {image_of(self, step->object),
			image_of(self, step->target_object), step->source, step->target,
			step->steps, step->windows, step->hits};
		g_array_append_val(self->steps, span);
		g_array_append_val(self->arrivals, span);
	}
	g_array_sort(self->steps, compare_by_first);
	g_array_sort(self->arrivals, compare_by_last);
}

static void collect_callers(Inference *self)
{
	LodeSamplePairs *pairs = self->images->context->pairs;
	const GArray *list = pairs != NULL ? lode_sample_pairs_list(pairs) : NULL;

	for (guint i = 0; list != NULL && i < list->len; i++) {
		const LodeSamplePair *pair = &LODE_AT(list, LodeSamplePair, i);
		const LodePlace *place = &pair->places[1];
		const LodeInferredSpan span = {
			.image = lode_join_image_of(self->images, place->image),
			.first = place->address,
		};
		if (pair->is_of_caller && span.image != LODE_NONE)
			g_array_append_val(self->callers, span);
	}
	g_array_sort(self->callers, compare_by_first);
}

/* How many rows of a sorted array, from `at` on, lie before (image, end). */
static uint32_t count_spans(
	const GArray *spans, uint32_t at, bool by_target, uint32_t image, uint64_t end)
{
	uint32_t n = 0;

	for (; at + n < spans->len; n++) {
		const LodeInferredSpan *span = &g_array_index(spans, LodeInferredSpan, at + n);
		uint32_t own = by_target ? span->target_image : span->image;
		uint64_t address = by_target ? span->last : span->first;
		if (own > image || (own == image && address >= end))
			break;
	}
	return n;
}

static uint32_t count_sites(const GArray *sites, uint32_t at, uint32_t image, uint64_t end)
{
	uint32_t n = 0;

	for (; at + n < sites->len; n++) {
		const LodeJoinSite *site = &g_array_index(sites, LodeJoinSite, at + n);
		if (site->image > image || (site->image == image && site->address >= end))
			break;
	}
	return n;
}

static void keep_stray(Inference *self, uint32_t first, uint32_t n)
{
	g_array_append_vals(self->stray, &g_array_index(self->sites, LodeJoinSite, first), n);
}

/* Everything before (image, address) belongs to no function: samples are kept, branches of code
 * without bounds say nothing that could be inferred from. */
static void skip_to(Inference *self, Cursor *cursor, uint32_t image, uint64_t address)
{
	uint32_t n = count_sites(self->sites, cursor->site, image, address);

	if (n > 0)
		keep_stray(self, cursor->site, n);
	cursor->site += n;
	cursor->range += count_spans(self->ranges, cursor->range, false, image, address);
	cursor->branch += count_spans(self->branches, cursor->branch, false, image, address);
	cursor->entry += count_spans(self->entries, cursor->entry, true, image, address);
	cursor->step += count_spans(self->steps, cursor->step, false, image, address);
	cursor->arrival += count_spans(self->arrivals, cursor->arrival, true, image, address);
	cursor->caller += count_spans(self->callers, cursor->caller, false, image, address);
}

static const LodeInferredSpan *spans_from(const GArray *spans, uint32_t at)
{
	return spans->len > 0 ? &g_array_index(spans, LodeInferredSpan, at) : NULL;
}

/* Where code is not decoded, one place stands for a function, as in the kernel. */
static bool is_undecoded(const Inference *self, uint32_t image)
{
	const LodeBinaryImage *binary = self->images->binaries[image];

	return lode_profile_image(self->profile, image)->kind == LODE_IMAGE_KERNEL ||
	       (binary != NULL && lode_binary_image_undecoded(binary) != NULL);
}

static void take_undecoded(
	Inference *self, Cursor *cursor, uint32_t image, const LodeBinaryFunction *function)
{
	skip_to(self, cursor, image, function->address);
	guint begin = self->stray->len;
	skip_to(self, cursor, image, function->address + function->size);
	for (guint i = begin; i < self->stray->len; i++)
		g_array_index(self->stray, LodeJoinSite, i).address = function->address;
}

static void take_function(
	Inference *self, Cursor *cursor, uint32_t image, const LodeBinaryFunction *function)
{
	uint64_t end = function->address + function->size;
	const GArray *sites = self->sites;

	skip_to(self, cursor, image, function->address);
	LodeInferredEvidence evidence = {
		.image = image,
		.function = function,
		.sites = sites->len > 0 ? &g_array_index(sites, LodeJoinSite, cursor->site) : NULL,
		.n_sites = count_sites(self->sites, cursor->site, image, end),
		.ranges = spans_from(self->ranges, cursor->range),
		.n_ranges = count_spans(self->ranges, cursor->range, false, image, end),
		.branches = spans_from(self->branches, cursor->branch),
		.n_branches = count_spans(self->branches, cursor->branch, false, image, end),
		.entries = spans_from(self->entries, cursor->entry),
		.n_entries = count_spans(self->entries, cursor->entry, true, image, end),
		.steps = spans_from(self->steps, cursor->step),
		.n_steps = count_spans(self->steps, cursor->step, false, image, end),
		.arrivals = spans_from(self->arrivals, cursor->arrival),
		.n_arrivals = count_spans(self->arrivals, cursor->arrival, true, image, end),
		.n_called = count_spans(self->callers, cursor->caller, false, image, end),
	};
	cursor->site += evidence.n_sites;
	cursor->range += evidence.n_ranges;
	cursor->branch += evidence.n_branches;
	cursor->entry += evidence.n_entries;
	cursor->step += evidence.n_steps;
	cursor->arrival += evidence.n_arrivals;
	cursor->caller += evidence.n_called;
	if (evidence.n_sites + evidence.n_ranges + evidence.n_branches + evidence.n_steps > 0 ||
		evidence.n_called >= LODE_INFERRED_CALLED)
		g_array_append_val(self->functions, evidence);
}

static void collect_functions(Inference *self)
{
	const LodeJoinImages *images = self->images;
	Cursor cursor = {0};

	for (uint32_t i = 0; i < images->n; i++) {
		size_t n = 0;
		const LodeBinaryFunction *functions = images->binaries[i] != NULL
		                                              ? lode_binary_image_functions(
									images->binaries[i], &n)
		                                              : NULL;
		bool is_decoded = !is_undecoded(self, i);
		for (size_t j = 0; j < n && is_decoded; j++)
			take_function(self, &cursor, i, &functions[j]);
		for (size_t j = 0; j < n && !is_decoded; j++)
			take_undecoded(self, &cursor, i, &functions[j]);
		skip_to(self, &cursor, i, UINT64_MAX);
	}
	if (cursor.site < self->sites->len)
		keep_stray(self, cursor.site, self->sites->len - cursor.site);
}

static void keep_code(const LodeInferenceScratch *scratch, const uint8_t *code, size_t size,
	LodeInferredFunction *result)
{
	const LodeJoinFunctionBytes bytes = {code, size, result->code.address};
	g_autofree uint64_t *addresses = g_new(uint64_t, MAX(result->rows->len, 1));
	uint32_t n = 0;

	/* Several samples at one place have a row each. */
	for (guint i = 0; i < result->rows->len; i++) {
		uint64_t address = g_array_index(result->rows, LodeInferredRow, i).address;
		if (n == 0 || addresses[n - 1] != address)
			addresses[n++] = address;
	}
	lode_join_function_code_take(&result->code, &scratch->flow, &bytes, addresses, n);
}

static void infer_function(size_t task, unsigned worker, void *user_data)
{
	Inference *self = user_data;
	const LodeInferredEvidence *evidence = &g_array_index(
		self->functions, LodeInferredEvidence, task);
	LodeInferredFunction *result = &self->results[task];
	size_t available = 0;
	const uint8_t *code = lode_binary_image_bytes(
		self->images->binaries[evidence->image], evidence->function->address, &available);

	result->rows = g_array_new(FALSE, FALSE, sizeof(LodeInferredRow));
	result->jumps = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	result->calls = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	size_t size = code != NULL ? MIN(evidence->function->size, available) : 0;
	lode_join_infer_function(&self->scratch[worker], evidence, code, size, result);
	result->code.image = evidence->image;
	result->code.address = evidence->function->address;
	if (evidence->n_branches == 0 && code != NULL)
		keep_code(&self->scratch[worker], code, size, result);
}

/* Executions that branch stacks show for one unit of weight, to bring the two together. */
static double branch_scale(const LodeRecording *recording, double weight)
{
	double executions = 0;

	for (guint i = 0; i < recording->ranges->len; i++) {
		const LodeRecordedRange *range = &g_array_index(
			recording->ranges, LodeRecordedRange, i);
		/* In bytes, of an instruction: ranges are not decoded for a mere scale. */
		enum { TYPICAL_LENGTH = 4 };
		executions += range->count *
		              (1 + (double)(range->last - range->first) / TYPICAL_LENGTH);
	}
	return weight > 0 ? executions / weight : 0;
}

/* The instructions of a function that were executed, and those that were stepped through. */
typedef struct {
	double executed, steps;
	double windows; /* in how many, at least */
} Executed;

static Executed count_executed(const Inference *self, guint function)
{
	const LodeInferredEvidence *evidence = &g_array_index(
		self->functions, LodeInferredEvidence, function);
	const GArray *rows = self->results[function].rows;
	Executed sum = {0};

	for (guint i = 0; i < rows->len; i++)
		sum.executed += g_array_index(rows, LodeInferredRow, i).count;
	for (uint32_t i = 0; i < evidence->n_steps; i++) {
		sum.steps += evidence->steps[i].count - evidence->steps[i].n_hits;
		sum.windows = MAX(sum.windows, evidence->steps[i].n_windows);
	}
	return sum;
}

static void scale_function(LodeInferredFunction *self, double scale)
{
	for (guint i = 0; i < self->rows->len; i++)
		g_array_index(self->rows, LodeInferredRow, i).count *= scale;
	for (guint i = 0; i < self->jumps->len; i++)
		g_array_index(self->jumps, LodeInferredSpan, i).count *= scale;
	for (guint i = 0; i < self->calls->len; i++)
		g_array_index(self->calls, LodeInferredSpan, i).count *= scale;
}

/*
 * Neither samples nor steps say how many instructions one function executes compared with another:
 * both are shares of time, which steps tell better within a window and samples beyond. A
 * mean of both logarithms is nearer to the truth than either (docs/inside/inference.md, section 7).
 */
static void scale_functions(Inference *self)
{
	const double share_of_steps = 0.7, half_windows = 10;
	g_autofree Executed *all = g_new0(Executed, MAX(self->functions->len, 1));
	double executed = 0, steps = 0;

	for (guint i = 0; i < self->functions->len; i++) {
		all[i] = count_executed(self, i);
		executed += self->results[i].is_relative ? 0 : all[i].executed;
		steps += all[i].steps;
	}
	for (guint i = 0; i < self->functions->len && executed > 0; i++) {
		if (!(all[i].executed > 0) || all[i].steps == 0)
			continue;
		double by_steps = all[i].steps / steps * executed / all[i].executed;
		double weight = self->results[i].is_relative
		                        ? 1
		                        : share_of_steps * all[i].windows /
		                                  (all[i].windows + half_windows);
		scale_function(&self->results[i], pow(by_steps, weight));
	}
}

static void append_row(LodeRecording *into, const LodeRecording *samples, uint32_t object,
	const LodeInferredRow *row)
{
	guint n = into->events->len;
	LodeRecordedInstruction instruction = {
		.address = row->address,
		.object = object,
		.function = row->row != LODE_NONE ? g_array_index(samples->instructions,
							    LodeRecordedInstruction, row->row)
	                                                    .function
	                                          : LODE_NONE,
		.file = LODE_NONE,
		.first_value = into->instructions->len * n,
		.n_values = n,
	};
	double *values = into->values + instruction.first_value;

	if (row->row != LODE_NONE) {
		const LodeRecordedInstruction *own = &g_array_index(
			samples->instructions, LodeRecordedInstruction, row->row);
		for (guint i = 0; i < n; i++)
			values[i] = samples->values[own->first_value + i];
	}
	values[0] = row->count; /* the column "Ir" */
	g_array_index(into->totals, double, 0) += row->count;
	g_array_append_val(into->instructions, instruction);
}

static uint32_t object_of(const Inference *self, uint32_t image)
{
	return g_array_index(self->image_objects, uint32_t, image);
}

static void append_jumps(const Inference *self, LodeRecording *into, const GArray *spans)
{
	for (guint i = 0; i < spans->len; i++) {
		const LodeInferredSpan *span = &g_array_index(spans, LodeInferredSpan, i);
		const LodeRecordedJump jump = {
			.source = span->first,
			.target = span->last,
			.object = object_of(self, span->image),
			.target_object = object_of(self, span->target_image),
			.target_function = LODE_NONE,
			.taken = span->count,
			.executed = span->count,
		};
		g_array_append_val(into->jumps, jump);
	}
}

static void append_calls(const Inference *self, LodeRecording *into, const GArray *spans)
{
	for (guint i = 0; i < spans->len; i++) {
		const LodeInferredSpan *span = &g_array_index(spans, LodeInferredSpan, i);
		const LodeRecordedCall call = {
			.source = span->first,
			.target = span->last,
			.object = object_of(self, span->image),
			.target_object = object_of(self, span->target_image),
			.target_function = LODE_NONE,
			.count = span->count,
		};
		g_array_append_val(into->calls, call);
	}
}

static void add_site(GArray *sites, uint32_t image, uint64_t address)
{
	const LodeJoinSite site = {address, image, sites->len};

	g_array_append_val(sites, site);
}

static double weight_of(const Inference *self, uint32_t row)
{
	const LodeRecordedInstruction *own = &g_array_index(
		self->samples->instructions, LodeRecordedInstruction, row);

	return self->samples->values[own->first_value + self->scratch->weight_column];
}

/*
 * Outside any function nothing is known but the samples: as many executions as weight. Functions of
 * the kernel, and of code that is not decoded, have as many as the program's decoded code has for
 * its weight, `per_weight`, so that they have its mean cost.
 */
static LodeInferredRow stray_row(const Inference *self, const LodeJoinSite *site, double per_weight)
{
	return (LodeInferredRow){site->address, site->row,
		weight_of(self, site->row) * (is_undecoded(self, site->image) ? per_weight : 1)};
}

static LodeRecording *recording_like(const LodeRecording *samples, size_t n_rows)
{
	LodeRecording *self = lode_recording_new();

	for (guint i = 0; i < samples->events->len; i++)
		g_ptr_array_add(self->events, samples->events->pdata[i]);
	g_array_append_vals(self->totals, samples->totals->data, samples->totals->len);
	g_array_append_vals(self->objects, samples->objects->data, samples->objects->len);
	for (guint i = 0; i < samples->names->len; i++)
		g_ptr_array_add(self->names, samples->names->pdata[i]);
	self->frequency = samples->frequency;
	self->n_sampled = samples->n_sampled;
	self->instructions = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeRecordedInstruction), (guint)n_rows);
	self->values = g_new0(double, MAX(n_rows * samples->events->len, 1));
	self->jumps = g_array_new(FALSE, FALSE, sizeof(LodeRecordedJump));
	self->calls = g_array_new(FALSE, FALSE, sizeof(LodeRecordedCall));
	return self;
}

/* A function whose inference failed keeps its measured counts; its flow is not conserved. */
static void account_failed(const Inference *self)
{
	for (guint i = 0; i < self->functions->len; i++) {
		const LodeInferredEvidence *evidence = &g_array_index(
			self->functions, LodeInferredEvidence, i);
		if (self->results[i].has_failed)
			lode_profile_add_unresolved(self->profile,
				"function too large to infer its executions",
				evidence->function->name, 0, 0);
	}
}

static size_t count_rows(const Inference *self)
{
	size_t n = self->stray->len;

	for (guint i = 0; i < self->functions->len; i++)
		n += self->results[i].rows->len;
	return n;
}

static LodeRecording *assemble(Inference *self, GArray *sites)
{
	const LodeRecording *samples = self->samples;
	LodeRecording *into = recording_like(samples, count_rows(self));
	double weight = 0, count = 0;

	for (guint i = 0; i < self->functions->len; i++) {
		const LodeInferredFunction *result = &self->results[i];
		uint32_t image = g_array_index(self->functions, LodeInferredEvidence, i).image;
		for (guint j = 0; j < result->rows->len; j++) {
			const LodeInferredRow *row = &g_array_index(
				result->rows, LodeInferredRow, j);
			add_site(sites, image, row->address);
			append_row(into, samples, object_of(self, image), row);
			weight += row->row != LODE_NONE ? weight_of(self, row->row) : 0;
			count += row->count;
		}
		append_jumps(self, into, result->jumps);
		append_calls(self, into, result->calls);
	}
	for (guint i = 0; i < self->stray->len; i++) {
		const LodeJoinSite *stray = &g_array_index(self->stray, LodeJoinSite, i);
		const LodeInferredRow row = stray_row(
			self, stray, weight > 0 && count > 0 ? count / weight : 1);
		add_site(sites, stray->image, row.address);
		append_row(into, samples, object_of(self, stray->image), &row);
	}
	g_array_sort(sites, lode_join_compare_sites);
	return into;
}

static void find_objects(Inference *self)
{
	const GArray *object_images = self->images->object_images;

	g_array_set_size(self->image_objects, self->profile->code.images->len);
	/* From the last, so that the first object of an image is the one that stays. */
	for (guint i = object_images->len; i-- > 0;) {
		uint32_t image = g_array_index(object_images, uint32_t, i);
		if (image != LODE_NONE)
			g_array_index(self->image_objects, uint32_t, image) = i;
	}
}

static void inference_init(Inference *self)
{
	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	self->branches = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	self->entries = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	self->steps = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	self->arrivals = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	self->callers = g_array_new(FALSE, FALSE, sizeof(LodeInferredSpan));
	self->functions = g_array_new(FALSE, FALSE, sizeof(LodeInferredEvidence));
	self->stray = g_array_new(FALSE, FALSE, sizeof(LodeJoinSite));
	self->image_objects = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->scratch = g_new0(LodeInferenceScratch, self->images->n_workers);
}

static void inference_clear(Inference *self)
{
	for (guint i = 0; i < self->functions->len; i++) {
		g_array_unref(self->results[i].rows);
		g_array_unref(self->results[i].jumps);
		g_array_unref(self->results[i].calls);
		lode_join_function_code_clear(&self->results[i].code);
	}
	for (unsigned i = 0; i < self->images->n_workers; i++)
		lode_inference_scratch_clear(&self->scratch[i]);
	g_free(self->results);
	g_free(self->scratch);
	g_array_unref(self->ranges);
	g_array_unref(self->branches);
	g_array_unref(self->entries);
	g_array_unref(self->steps);
	g_array_unref(self->arrivals);
	g_array_unref(self->callers);
	g_array_unref(self->functions);
	g_array_unref(self->stray);
	g_array_unref(self->image_objects);
}

static double sample_weight(const LodeRecording *recording, uint32_t column)
{
	double total = g_array_index(recording->totals, double, column);

	return total > 0 && recording->n_samples > 0 ? total / recording->n_samples : 1;
}

/* Data of the samples that all workers need. */
static void begin_scratch(Inference *self)
{
	enum { UNIT_PARTS = 256 };
	const LodeRecording *samples = self->samples;
	uint32_t column = lode_recording_weight_column(samples);
	double sample = sample_weight(samples, column);
	double scale = branch_scale(samples, g_array_index(samples->totals, double, column));

	for (unsigned i = 0; i < self->images->n_workers; i++) {
		lode_inference_scratch_init(&self->scratch[i], samples);
		self->scratch[i].weight_column = column;
		self->scratch[i].branch_scale = scale;
		self->scratch[i].sample = sample;
		/* A small part of a sample, since a block gets one instruction's share. */
		self->scratch[i].unit = scale > 0 ? 1 : sample / UNIT_PARTS;
	}
}

static void give_codes(Inference *self, GArray *known)
{
	for (guint i = 0; i < self->functions->len; i++) {
		g_array_append_vals(known, &self->results[i].code, 1);
		self->results[i].code = (LodeJoinFunctionCode){0};
	}
}

LodeRecording *lode_join_infer(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinPlaced *samples, GArray *known, GArray **out_sites, GError **error)
{
	Inference inference = {.profile = profile,
		.images = images,
		.samples = samples->recording,
		.sites = samples->sites};
	LodeRecording *executions = NULL;

	inference_init(&inference);
	begin_scratch(&inference);
	collect_spans(&inference);
	collect_steps(&inference);
	collect_callers(&inference);
	collect_functions(&inference);
	find_objects(&inference);
	inference.results = g_new0(LodeInferredFunction, MAX(inference.functions->len, 1));
	lode_worker_pool_run(
		inference.functions->len, images->n_workers, infer_function, &inference);
	scale_functions(&inference);
	size_t n_values = count_rows(&inference) * samples->recording->events->len;
	if (n_values <= MAX_VALUES && lode_large_array_has_room(sizeof(double), n_values)) {
		*out_sites = g_array_new(FALSE, FALSE, sizeof(LodeJoinSite));
		executions = assemble(&inference, *out_sites);
		uint32_t event = lode_profile_find_event(profile, "instructions");
		profile->run.total_count = g_array_index(executions->totals, double, 0);
		lode_profile_event(profile, event)->total = profile->run.total_count;
		account_failed(&inference);
		give_codes(&inference, known);
	} else {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for %u events of %zu instructions",
			samples->recording->events->len, count_rows(&inference));
	}
	inference_clear(&inference);
	return executions;
}

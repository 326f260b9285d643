/* SPDX-License-Identifier: MIT */
#include "analyses/compare/comparison.h"

#include "analyses/compare/comparison_figures.h"
#include "analyses/compare/function_pairs.h"
#include "analyses/compare/lone_attributes.h"
#include "analyses/compare/moved_code.h"
#include "analyses/findings/findings.h"
#include "analyses/flow_graph/function_filter.h"
#include "analyses/mine/miner.h"
#include "analyses/mine/occurrences.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/json_stream.h"
#include "model/causes.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* Terms that explain fewer samples than this explain none. */
#define NO_SAMPLES 1e-3

enum { MAX_SEQUENCES = 2000 }; /* of each profile, the heaviest ones */

typedef struct {
	double weight, executions;
	uint32_t n; /* instructions */
} FunctionSum;

typedef struct {
	const LodeProfile *const *profiles;
	const LodeComparisonOptions *options;
	const LodeProgress *progress;
	LodeComparison *out;
	LodeMiningParameters parameters;
	LodeFunctionFilter filter;
	LodeFunctionPairs *pairs;
	uint32_t events[2];
	double units[2]; /* weight of a sample; 0: the weight was counted */
	char *exclude;
	/* The weight in each profile of its functions, and of the other's functions, inlined. */
	FunctionSum *own[2], *lent[2];
	GHashTable *files[2]; /* build-ids */
} Work;

static bool fail(GError **error, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(GError **error, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (error != NULL)
		*error = g_error_new_valist(LODE_ERROR, code, format, arguments);
	va_end(arguments);
	return false;
}

/* The standard error of a weight: that of its samples; 0 where it was counted. A row with less than
 * a sample could as well have had one: a recording of few samples does not show that it took no
 * time.
 */
static double weight_error(const Work *self, int side, double weight)
{
	double unit = self->units[side];

	return sqrt(unit) * sqrt(fmax(weight, unit));
}

static LodeEstimate weigh(const Work *self, int side, double weight)
{
	double work = self->out->profiles[side].work;

	return (LodeEstimate){weight / work, weight_error(self, side, weight) / work};
}

enum {
	MIN_CONTROLS = 3, /* functions with the same code that say something of all */
	MIN_CELL_SAMPLES = 5,
	MIN_FREEDOM = 4,
	MOVED_DEVIATIONS = 2, /* of lines that took what others of a function lost */
};

static void clear_row(void *data)
{
	LodeComparedRow *row = data;

	g_free(row->text);
	g_free(row->old_text);
}

static LodeComparedRow new_row(LodeComparedKind kind)
{
	LodeComparedRow row = {.kind = kind};

	for (int side = 0; side < 2; side++) {
		row.sides[side].executed = row.sides[side].each = lode_estimate_unknown;
		row.sides[side].function = row.sides[side].instruction = LODE_NONE;
	}
	return row;
}

static LodeComparedRow *add_row(Work *self, LodeComparedKind kind)
{
	LodeComparedRow row = new_row(kind);
	GArray *rows = self->out->kinds[kind].rows;

	g_array_append_val(rows, row);
	return &g_array_index(rows, LodeComparedRow, rows->len - 1);
}

/* Sets one side of a row from its weight and executions. */
static void set_side(Work *self, LodeComparedRow *row, int side, double weight, double executions)
{
	LodeComparedSide *out = &row->sides[side];

	out->time = weigh(self, side, weight);
	if (!self->out->is_counted)
		return;
	out->executed = (LodeEstimate){executions / self->out->profiles[side].work, 0};
	if (executions > 0)
		out->each = (LodeEstimate){
			weight / executions, weight_error(self, side, weight) / executions};
	else if (weight > 0)
		out->executed = lode_estimate_unknown;
	else
		out->each = (LodeEstimate){0, 0};
}

static int compare_rows(const void *a, const void *b)
{
	const LodeComparedRow *left = a, *right = b;
	/* Without their last digits, which are of rounding where the changes are equal. */
	float x = (float)fabs(left->change.value), y = (float)fabs(right->change.value);

	double all = left->sides[0].time.value + left->sides[1].time.value;
	double others = right->sides[0].time.value + right->sides[1].time.value;

	if (x < y || x > y)
		return x < y ? 1 : -1;
	/* For equal changes the row with the least time is first: it locates the change best. */
	if (all < others || all > others)
		return all < others ? -1 : 1;
	return strcmp(left->text, right->text);
}

static void finish_rows(LodeComparedRows *self, const LodeComparison *comparison, size_t n_kinds)
{
	/* Each kind has the same part of the chance. */
	self->deviations = lode_comparison_deviations(self->rows->len * n_kinds);
	for (guint i = 0; i < self->rows->len; i++) {
		LodeComparedRow *row = &g_array_index(self->rows, LodeComparedRow, i);
		bool is_in_both = row->match == LODE_MATCH_SAME || row->match == LODE_MATCH_RENAMED;
		/* Rows of one profile alone do not depend on where samples fall. */
		for (int side = 0; side < 2 && row->kind != LODE_COMPARED_FUNCTION && is_in_both;
			side++) {
			row->sides[side].time.error *= comparison->scatter;
			row->sides[side].each.error *= comparison->scatter;
		}
		lode_compared_row_divide(row);
		row->is_told = lode_speed_is_exceeded(&comparison->speed, row->sides[0].time,
			row->sides[1].time, self->deviations);
	}
	g_array_sort(self->rows, compare_rows);
}

/* --- what the profiles have in common --- */

static char *list_common_events(const LodeProfile *const profiles[2])
{
	GString *list = g_string_new(NULL);

	for (guint i = 0; i < profiles[0]->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profiles[0], i);
		uint32_t other = lode_profile_find_event(profiles[1], event->name);
		if (other == LODE_NONE || !(event->total > 0) ||
			!(lode_profile_event(profiles[1], other)->total > 0))
			continue;
		g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", event->name);
	}
	return g_string_free(list, FALSE);
}

/* Where the other profile's weight is different, as one of them has hardly a sample: that of the
 * one with more samples, where it was sampled, if both have it; else NULL. */
static const char *find_common_weight(const LodeProfile *const profiles[2])
{
	const LodeProfile *most = profiles[profiles[1]->run.n_samples > profiles[0]->run.n_samples];
	for (int side = 0; side < 2; side++)
		if (profiles[side]->code.weight_event >= profiles[side]->code.events->len)
			return NULL;
	uint32_t sampled = lode_profile_event_as_sampled(most, most->code.weight_event);
	if (sampled == LODE_NONE ||
		strcmp(lode_profile_event(profiles[0], profiles[0]->code.weight_event)->name,
			lode_profile_event(profiles[1], profiles[1]->code.weight_event)->name) == 0)
		return NULL;
	const char *name = lode_profile_event(most, sampled)->name;
	return lode_profile_find_event(profiles[0], name) != LODE_NONE &&
	                       lode_profile_find_event(profiles[1], name) != LODE_NONE
	               ? name
	               : NULL;
}

static bool find_weight(Work *self, GError **error)
{
	const LodeProfile *base = self->profiles[0];
	const char *name = self->options->weight;
	g_autofree char *common = list_common_events(self->profiles);

	uint32_t chosen = name != NULL ? lode_profile_find_weight(base, name)
	                               : base->code.weight_event;
	const char *both = name == NULL ? find_common_weight(self->profiles) : NULL;

	if (both != NULL)
		name = both;
	else if (chosen < base->code.events->len)
		name = lode_profile_event(base, chosen)->name;
	if (name == NULL)
		return fail(error, LODE_ERROR_UNSUPPORTED, "the base has no weight to compare");
	for (int side = 0; side < 2; side++) {
		const LodeProfile *profile = self->profiles[side];
		uint32_t event = lode_profile_find_event(profile, name);
		const char *which = side == 0 ? "the base" : "the other profile";
		if (event == LODE_NONE)
			return fail(error, LODE_ERROR_NOT_FOUND, "%s has no event '%s'%s%s", which,
				name,
				*common != '\0' ? "; both have, for --weight: "
						: "; the profiles have no event in common",
				common);
		double total = lode_profile_event(profile, event)->total;
		if (!(total >= 0) || !isfinite(total))
			return fail(error, LODE_ERROR_UNSUPPORTED,
				"%s has no %s: there is nothing to compare", which, name);
		bool is_sampled = lode_profile_event(profile, event)->kind == LODE_EVENT_SAMPLED &&
		                  profile->run.n_samples > 0;
		self->events[side] = event;
		self->units[side] = is_sampled ? total / lode_profile_equal_samples(profile) : 0;
		self->out->profiles[side].samples = is_sampled ? profile->run.n_samples : 0;
		self->out->profiles[side].is_counted =
			profile->run.frequency == LODE_FREQUENCY_EXACT ||
			profile->run.frequency == LODE_FREQUENCY_GIVEN;
	}
	self->out->weight = g_strdup(name);
	self->out->is_counted = self->out->profiles[0].is_counted &&
	                        self->out->profiles[1].is_counted;
	return true;
}

/* --- by which work --- */

static double calls_of(const Work *self, int side, const char *name)
{
	const LodeProfile *profile = self->profiles[side];
	double calls = 0;
	bool is_found = false;

	for (guint f = 0; f < profile->code.functions->len; f++)
		if (strcmp(lode_profile_function(profile, f)->name, name) == 0) {
			calls += lode_profile_function(profile, f)->calls;
			is_found = true;
		}
	for (guint i = 0; i < self->pairs->pairs->len && !is_found; i++) {
		const uint32_t *both =
			g_array_index(self->pairs->pairs, LodeFunctionPair, i).functions;
		if (both[0] != LODE_NONE && both[1] != LODE_NONE &&
			strcmp(lode_profile_function(self->profiles[1 - side], both[1 - side])
					->name,
				name) == 0) {
			calls += lode_profile_function(profile, both[side])->calls;
			is_found = true;
		}
	}
	return is_found ? calls : -1;
}

static bool find_work(Work *self, GError **error)
{
	const LodeComparisonOptions *options = self->options;
	const char *name = options->work_function;

	self->out->normalisation = options->normalisation;
	self->out->work_function = g_strdup(name);
	for (int side = 0; side < 2; side++) {
		const char *which = side == 0 ? "the base" : "the other profile";
		LodeComparedProfile *out = &self->out->profiles[side];
		out->work = 1;
		if (options->normalisation == LODE_NORMALISE_NONE)
			continue;
		if (!out->is_counted)
			return fail(error, LODE_ERROR_UNSUPPORTED,
				"--normalise needs executions, and those of %s were not counted: "
				"'lode run --count' does",
				which);
		out->work = options->normalisation == LODE_NORMALISE_EXECUTIONS
		                    ? self->profiles[side]->run.total_count
		                    : calls_of(self, side, name);
		if (out->work < 0)
			return fail(error, LODE_ERROR_NOT_FOUND,
				"--normalise: %s has no function '%s'", which, name);
		if (!(out->work > 0) || !isfinite(out->work))
			return fail(error, LODE_ERROR_UNSUPPORTED, "--normalise: %s has no %s%s",
				which, name != NULL ? "calls of " : "executions",
				name != NULL ? name : "");
	}
	return true;
}

static void weigh_all(Work *self)
{
	LodeEstimate totals[2];

	for (int side = 0; side < 2; side++) {
		LodeComparedProfile *out = &self->out->profiles[side];
		totals[side] = weigh(self, side,
			lode_profile_event(self->profiles[side], self->events[side])->total);
		out->total = totals[side].value;
		out->total_error = totals[side].error;
	}
	self->out->change = lode_estimate_difference(totals[0], totals[1]);
}

/* For each function, itself, or the one of its name that stands for all versions: a run-time
 * compiler makes some functions several times, in each recording another number. Those that stand
 * for them are partners. The caller frees the array. */
static uint32_t *find_versions(const Work *self, int side)
{
	const LodeProfile *profile = self->profiles[side];
	uint32_t *out = g_new(uint32_t, profile->code.functions->len + 1);
	g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < self->pairs->pairs->len; i++) {
		const uint32_t *both =
			g_array_index(self->pairs->pairs, LodeFunctionPair, i).functions;
		if (both[0] != LODE_NONE && both[1] != LODE_NONE &&
			strcmp(lode_profile_function(self->profiles[0], both[0])->name,
				lode_profile_function(self->profiles[1], both[1])->name) == 0)
			g_hash_table_insert(by_name,
				lode_profile_function(profile, both[side])->name,
				GUINT_TO_POINTER(both[side] + 1));
	}
	for (guint f = 0; f < profile->code.functions->len; f++) {
		const LodeFunction *one = lode_profile_function(profile, f);
		bool is_made = lode_profile_image(profile, one->image)->kind == LODE_IMAGE_JIT;
		guint other = is_made ? GPOINTER_TO_UINT(g_hash_table_lookup(by_name, one->name))
		                      : 0;
		out[f] = other > 0 ? other - 1 : f;
	}
	return out;
}

/* Sums up the functions. Code that is inlined from a function which the other profile has alone is
 * that function's. */
static void sum_functions(Work *self)
{
	for (int side = 0; side < 2; side++) {
		const LodeProfile *profile = self->profiles[side];
		g_autofree uint32_t *lenders = lode_inlined_functions_find(
			self->profiles, self->pairs, side);
		g_autofree uint32_t *versions = find_versions(self, side);
		self->own[side] = g_new0(FunctionSum, profile->code.functions->len + 1);
		self->lent[side] = g_new0(
			FunctionSum, self->profiles[1 - side]->code.functions->len + 1);
		for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
			const LodeInstruction *one = lode_profile_instruction(profile, i);
			FunctionSum *sum = lenders[i] != LODE_NONE
			                           ? &self->lent[side][lenders[i]]
			                           : &self->own[side][versions[one->function]];
			sum->weight += lode_profile_event_value(profile, self->events[side], i);
			sum->executions += one->count;
			sum->n++;
		}
	}
}

/* The figures of one of the functions of a pair in a profile; NULL: none. */
static const FunctionSum *sum_of(const Work *self, int side, const LodeFunctionPair *pair)
{
	uint32_t f = pair->functions[side], other = pair->functions[1 - side];

	if (f != LODE_NONE)
		return &self->own[side][f];
	return self->lent[side][other].n > 0 ? &self->lent[side][other] : NULL;
}

/* The files of a profile, by their build-ids. */
static GHashTable *find_files(const LodeProfile *profile)
{
	GHashTable *files = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < profile->code.images->len; i++) {
		const LodeImage *image = lode_profile_image(profile, i);
		if (image->kind == LODE_IMAGE_FILE && image->build_id != NULL)
			g_hash_table_add(files, image->build_id);
	}
	return files;
}

/* Whether a function that one profile has alone is in a file that the other has, too. */
static bool is_in_both(const Work *self, const LodeFunctionPair *pair)
{
	int side = pair->functions[0] == LODE_NONE;
	const LodeFunction *function = lode_profile_function(
		self->profiles[side], pair->functions[side]);
	const LodeImage *image = lode_profile_image(self->profiles[side], function->image);

	return pair->functions[1 - side] == LODE_NONE && image->build_id != NULL &&
	       g_hash_table_contains(self->files[1 - side], image->build_id);
}

/* The name of the source file of a function; NULL: not known. The caller frees it. */
static char *source_name(const LodeProfile *profile, uint32_t id)
{
	const LodeFunction *function = lode_profile_function(profile, id);

	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t at = lode_profile_instruction(profile, function->first_instruction + i)
		                      ->location;
		const LodeLocation *location = at != LODE_NONE ? &LODE_AT(profile->code.locations,
									 LodeLocation, at)
		                                               : NULL;
		if (location != NULL && location->inlined == NULL && location->file != NULL)
			return g_path_get_basename(location->file);
	}
	return NULL;
}

/* Each program has a main(): two of different source files are of different programs. */
static bool is_other_main(const Work *self, const LodeFunctionPair *pair)
{
	for (int side = 0; side < 2; side++) {
		uint32_t id = pair->functions[side];
		if (id == LODE_NONE ||
			strcmp(lode_profile_function(self->profiles[side], id)->name, "main") != 0)
			return false;
	}
	g_autofree char *before = source_name(self->profiles[0], pair->functions[0]);
	g_autofree char *after = source_name(self->profiles[1], pair->functions[1]);
	return before != NULL && after != NULL && strcmp(before, after) != 0;
}

/* Shares of the weight in functions; those of nothing are not numbers. */
static void find_common(Work *self)
{
	for (guint i = 0; i < self->pairs->pairs->len; i++) {
		const LodeFunctionPair *pair = &g_array_index(
			self->pairs->pairs, LodeFunctionPair, i);
		const FunctionSum *both[2] = {sum_of(self, 0, pair), sum_of(self, 1, pair)};
		bool is_common = (both[0] != NULL && both[1] != NULL &&
					 !is_other_main(self, pair)) ||
		                 is_in_both(self, pair);
		for (int side = 0; side < 2 && is_common; side++)
			self->out->profiles[side].common += both[side] != NULL ? both[side]->weight
			                                                       : 0;
	}
	for (int side = 0; side < 2; side++) {
		double all = 0;
		for (guint f = 0; f < self->profiles[side]->code.functions->len; f++)
			all += self->own[side][f].weight;
		for (guint f = 0; f < self->profiles[1 - side]->code.functions->len; f++)
			all += self->lent[side][f].weight;
		self->out->profiles[side].common /= all;
	}
}

/* --- patterns and places --- */

static void set_finding(
	Work *self, LodeComparedRow *row, int side, const LodeSharedFindings *shared, guint index)
{
	const LodeFindings *findings = shared->sides[side];
	const LodeFinding *finding = lode_findings_at(findings, index);
	const LodeExposure *exposure = &g_array_index(shared->exposures[side], LodeExposure, index);
	LodeComparedSide *out = &row->sides[side];
	double work = self->out->profiles[side].work;
	double total = lode_profile_event(self->profiles[side], self->events[side])->total;

	/* That it has no sample is not more certain than one. */
	out->time = (LodeEstimate){finding->time * total / work,
		fmax(finding->time_error * total, self->units[side]) / work};
	if (self->out->is_counted) {
		out->executed = (LodeEstimate){exposure->value / work, exposure->error / work};
		out->each = (LodeEstimate){finding->each, finding->each_error};
	}
	/* A fit only comes near to nothing, and of that nothing is anywhere. */
	if (finding->time * findings->samples < NO_SAMPLES) {
		out->time.value = 0;
		if (self->out->is_counted)
			out->each.value = 0;
		if (finding->kind == LODE_FINDING_PATTERN)
			return;
	}
	if (finding->n_places == 0)
		return;
	out->instruction =
		g_array_index(findings->places, LodeFindingPlace, finding->first_place).instruction;
	out->function = lode_profile_instruction(self->profiles[side], out->instruction)->function;
}

/* A place is known in both profiles, whether or not it has samples there. */
static void complete_place(const Work *self, LodeComparedRow *row)
{
	const uint32_t *counterparts = self->pairs->counterparts;
	uint32_t base = row->sides[0].instruction, other = row->sides[1].instruction;

	if (base != LODE_NONE && other == LODE_NONE)
		other = counterparts[base];
	for (uint32_t i = 0; base == LODE_NONE && i < self->profiles[0]->code.instructions->len;
		i++)
		if (other != LODE_NONE && counterparts[i] == other)
			base = i;
	row->sides[0].instruction = base;
	row->sides[1].instruction = other;
	for (int side = 0; side < 2; side++)
		if (row->sides[side].instruction != LODE_NONE)
			row->sides[side].function = lode_profile_instruction(
				self->profiles[side], row->sides[side].instruction)
			                                    ->function;
}

/* `is_there`: it executed, whether or not that took time. */
static LodeMatch match_of(const LodeComparedRow *row, const bool is_there[2])
{
	bool has_base = is_there[0] || row->sides[0].time.value > 0;
	bool has_other = is_there[1] || row->sides[1].time.value > 0;

	return !has_base ? LODE_MATCH_NEW : has_other ? LODE_MATCH_SAME : LODE_MATCH_GONE;
}

/* Adds the row of a group of findings, by the one that has most of the time now; its name in the
 * base is that of the one that had most there. What each costs is not known of several. */
static void add_findings(Work *self, const LodeSharedFindings *shared, const LodeComparedRow *rows,
	const uint32_t *groups, guint n, uint32_t group)
{
	uint32_t most[2] = {group, group};
	double times[2] = {0, 0}, squares[2] = {0, 0};
	guint n_members = 0;

	for (uint32_t i = group; i < n; i++)
		for (int side = 0; side < 2 && groups[i] == group; side++) {
			const LodeEstimate *time = &rows[i].sides[side].time;
			if (time->value > rows[most[side]].sides[side].time.value)
				most[side] = i;
			times[side] += time->value;
			squares[side] += time->error * time->error;
			n_members += side == 1;
		}
	uint32_t named = times[1] > 0 ? most[1] : most[0];
	LodeComparedRow row = rows[named];
	for (int side = 0; side < 2 && n_members > 1; side++) {
		row.sides[side] = rows[most[side]].sides[side];
		row.sides[side].time = (LodeEstimate){times[side], sqrt(squares[side])};
		row.sides[side].executed = row.sides[side].each = lode_estimate_unknown;
	}
	if (row.kind == LODE_COMPARED_PLACE && n_members == 1)
		complete_place(self, &row);
	row.text = lode_finding_text(shared->sides[0], lode_findings_at(shared->sides[0], named));
	if (n_members > 1 && times[0] > 0 && most[0] != named)
		row.old_text = lode_finding_text(
			shared->sides[0], lode_findings_at(shared->sides[0], most[0]));
	/* A group of several has time in both. */
	if (n_members > 1)
		row.match = row.old_text != NULL ? LODE_MATCH_RENAMED : LODE_MATCH_SAME;
	g_array_append_val(self->out->kinds[row.kind].rows, row);
}

static bool compare_findings(Work *self, GError **error)
{
	g_autoptr(LodeSharedFindings) shared = lode_findings_fit_shared(self->profiles,
		&self->parameters, self->pairs->counterparts, self->progress, error);

	if (shared == NULL)
		return false;
	for (int side = 0; side < 2; side++) {
		self->out->profiles[side].explained = shared->sides[side]->explained;
		self->out->profiles[side].base_each = shared->sides[side]->base;
	}
	guint n = shared->sides[0]->findings->len;
	g_autofree LodeComparedRow *rows = g_new0(LodeComparedRow, n + 1);
	g_autofree double *changes = g_new0(double, n + 1);
	for (guint i = 0; i < n; i++) {
		rows[i] = new_row(lode_findings_at(shared->sides[0], i)->kind == LODE_FINDING_PLACE
					  ? LODE_COMPARED_PLACE
					  : LODE_COMPARED_PATTERN);
		for (int side = 0; side < 2; side++)
			set_finding(self, &rows[i], side, shared, i);
		const bool is_there[2] = {
			g_array_index(shared->exposures[0], LodeExposure, i).value > 0,
			g_array_index(shared->exposures[1], LodeExposure, i).value > 0};
		rows[i].match = match_of(&rows[i], is_there);
		changes[i] = rows[i].sides[1].time.value - rows[i].sides[0].time.value;
	}
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(self->profiles[0], self->options->own);
	g_autoptr(LodeOwnLines)
		other_own = lode_own_lines_new(self->profiles[1], self->options->own);
	const LodeOwnLines *const both_own[2] = {own, other_own};
	g_autofree uint32_t *groups = lode_exchanged_findings_group(
		self->profiles, shared, both_own, changes);
	for (guint i = 0; i < n; i++)
		if (groups[i] == i)
			add_findings(self, shared, rows, groups, n, i);
	return true;
}

/* --- functions --- */

static void find_speed(Work *self)
{
	const LodeMachineSpeed *const machines[2] = {
		&self->profiles[0]->run.speed, &self->profiles[1]->run.speed};

	lode_speed_find(machines, self->units[0] > 0 && self->units[1] > 0, &self->out->speed);
}

/* Functions with the same code, once all rows are finished. */
static void sum_same_code(Work *self)
{
	const LodeComparison *out = self->out;
	LodeSameCode *sum = &self->out->same_code;
	const GArray *rows = out->kinds[LODE_COMPARED_FUNCTION].rows;
	bool is_other_code = false;

	for (guint i = 0; rows != NULL && i < rows->len; i++) {
		const LodeComparedRow *row = &g_array_index(rows, LodeComparedRow, i);
		if (!(row->sides[0].time.value + row->sides[1].time.value > 0))
			continue;
		is_other_code |= row->is_other_code && row->is_told;
		if (!row->is_same_code)
			continue;
		sum->n_functions++;
		sum->n_changed += row->is_told;
		for (int side = 0; side < 2; side++)
			sum->times[side].value += row->sides[side].time.value;
	}
	for (int side = 0; side < 2; side++)
		sum->times[side].error = weight_error(self, side,
						 sum->times[side].value *
							 out->profiles[side].work) /
		                         out->profiles[side].work;
	LodeEstimate base = sum->times[0], other = sum->times[1];
	sum->factor = other.value / base.value;
	sum->error = sum->factor * hypot(base.error / base.value, other.error / other.value);
	if (!isfinite(sum->factor) || !isfinite(sum->error))
		sum->factor = sum->error = (double)NAN;
	sum->is_told = sum->n_functions >= MIN_CONTROLS &&
	               lode_speed_is_exceeded(
			       &out->speed, base, other, lode_comparison_deviations(1));
	sum->is_most = sum->is_told && !is_other_code &&
	               2 * fabs(other.value - base.value) >= fabs(out->change.value);
}

static void compare_totals(Work *self)
{
	double deviations = lode_comparison_deviations(LODE_N_TOTALS);

	for (int side = 0; side < 2; side++) {
		const LodeProfile *one = self->profiles[side];
		double work = self->out->profiles[side].work;
		double error = lode_profile_system_error(one) / work;
		bool is_known = one->run.user_seconds + one->run.system_seconds > 0;
		uint32_t faults = lode_profile_find_event(one, "page-faults");
		LodeComparedTotal *out = self->out->totals;
		/* The sum is precise: one lacks what the other has too much. */
		out[LODE_TOTAL_USER].sides[side] =
			is_known ? (LodeEstimate){one->run.user_seconds / work, error}
				 : lode_estimate_unknown;
		out[LODE_TOTAL_KERNEL].sides[side] =
			is_known ? (LodeEstimate){one->run.system_seconds / work, error}
				 : lode_estimate_unknown;
		out[LODE_TOTAL_WALL].sides[side] =
			one->run.wall_seconds > 0 ? (LodeEstimate){one->run.wall_seconds / work, 0}
						  : lode_estimate_unknown;
		double n = faults != LODE_NONE ? lode_profile_event(one, faults)->total : 0;
		out[LODE_TOTAL_PAGE_FAULTS].sides[side] = faults != LODE_NONE
		                                                  ? (LodeEstimate){n / work,
									    sqrt(n) / work}
		                                                  : lode_estimate_unknown;
	}
	for (int i = 0; i < LODE_N_TOTALS; i++) {
		LodeComparedTotal *total = &self->out->totals[i];
		LodeSpeed none = {.factor = 1};
		total->change = lode_estimate_difference(total->sides[0], total->sides[1]);
		total->is_told = lode_speed_is_exceeded(
			i == LODE_TOTAL_PAGE_FAULTS ? &none : &self->out->speed, total->sides[0],
			total->sides[1], deviations);
	}
}

/* The samples of the instructions of one block in both profiles, of which each has enough. */
typedef struct {
	double samples[2], squares; /* Σ y, Σ y₁² / (y₀ + y₁) */
	unsigned n;
} BlockSamples;

static void add_block_samples(const Work *self, uint32_t base, BlockSamples *blocks)
{
	uint32_t block = lode_profile_instruction(self->profiles[0], base)->block;
	const uint32_t both[2] = {base, self->pairs->counterparts[base]};
	double samples[2];

	if (block == LODE_NONE || both[1] == LODE_NONE)
		return;
	for (int side = 0; side < 2; side++)
		samples[side] = lode_profile_event_value(
					self->profiles[side], self->events[side], both[side]) /
		                self->units[side];
	double sum = samples[0] + samples[1];
	if (!(sum >= MIN_CELL_SAMPLES))
		return;
	BlockSamples *one = &blocks[block];
	one->samples[0] += samples[0];
	one->samples[1] += samples[1];
	one->squares += samples[1] * samples[1] / sum;
	one->n++;
}

/*
 * By how much more the samples move among the instructions of a block, from one recording to the
 * next, than chance would have it: which of those that execute together a sample falls on depends
 * on the state that the processor is in. The root of Pearson's χ² of the samples by instruction and
 * profile, in all blocks of functions with the same code, by its degrees of freedom (quasi-Poisson:
 * P. McCullagh, J. A. Nelder, Generalized Linear Models, section 6.2).
 */
static double find_scatter(const Work *self)
{
	g_autofree BlockSamples *blocks = g_new0(
		BlockSamples, self->profiles[0]->code.blocks->len + 1);
	double squares = 0;
	unsigned freedom = 0;

	if (!(self->units[0] > 0) || !(self->units[1] > 0))
		return 1;
	for (guint i = 0; i < self->pairs->pairs->len; i++) {
		const LodeFunctionPair *pair = &g_array_index(
			self->pairs->pairs, LodeFunctionPair, i);
		if (!pair->is_same_code)
			continue;
		const LodeFunction *function = lode_profile_function(
			self->profiles[0], pair->functions[0]);
		for (uint32_t k = 0; k < function->n_instructions; k++)
			add_block_samples(self, function->first_instruction + k, blocks);
	}
	for (guint b = 0; b < self->profiles[0]->code.blocks->len; b++) {
		const BlockSamples *one = &blocks[b];
		double all = one->samples[0] + one->samples[1];
		if (one->n < 2 || !(one->samples[0] > 0) || !(one->samples[1] > 0))
			continue;
		/* Σ (y₁ − pm)² / (m p (1 − p)), m = y₀ + y₁ and p the share of profile 1 in all. */
		squares += (one->squares - one->samples[1] * one->samples[1] / all) * all /
		           one->samples[0] * all / one->samples[1];
		freedom += one->n - 1;
	}
	double scatter = sqrt(squares / freedom);
	return freedom >= MIN_FREEDOM && isfinite(scatter) ? fmax(scatter, 1) : 1;
}

static bool is_wanted(const Work *self, int side, uint32_t function)
{
	return function != LODE_NONE &&
	       lode_function_filter_has(&self->filter, self->profiles[side],
		       lode_profile_function(self->profiles[side], function));
}

static void compare_function_pair(Work *self, const LodeFunctionPair *pair)
{
	const char *names[2] = {NULL};

	if (!is_wanted(self, 0, pair->functions[0]) && !is_wanted(self, 1, pair->functions[1]))
		return;
	LodeComparedRow *row = add_row(self, LODE_COMPARED_FUNCTION);
	for (int side = 0; side < 2; side++) {
		uint32_t f = pair->functions[side];
		const FunctionSum *sum = sum_of(self, side, pair);
		set_side(self, row, side, sum != NULL ? sum->weight : 0,
			sum != NULL ? sum->executions : 0);
		row->sides[side].is_inlined = sum != NULL && f == LODE_NONE;
		row->sides[side].function = f;
		if (sum != NULL)
			names[side] = f != LODE_NONE
			                      ? lode_profile_function(self->profiles[side], f)->name
			                      : lode_profile_function(self->profiles[1 - side],
							pair->functions[1 - side])
			                                ->name;
	}
	row->likeness = pair->likeness;
	row->is_same_code = pair->is_same_code;
	row->is_other_code = pair->is_other_code;
	row->match = names[0] == NULL                  ? LODE_MATCH_NEW
	             : names[1] == NULL                ? LODE_MATCH_GONE
	             : strcmp(names[0], names[1]) != 0 ? LODE_MATCH_RENAMED
	                                               : LODE_MATCH_SAME;
	row->is_unused = (names[0] == NULL || names[1] == NULL) && is_in_both(self, pair);
	row->text = g_strdup(names[1] != NULL ? names[1] : names[0]);
	row->old_text = row->match == LODE_MATCH_RENAMED ? g_strdup(names[0]) : NULL;
}

/* --- lines --- */

typedef struct {
	double weight[2], executions[2], most[2];
	uint32_t instructions[2]; /* the heaviest one */
	const LodeLocation *at[2];
} Line;

/* Path → the number of files whose last part is the same. */
static GHashTable *count_files(const LodeProfile *profile, GHashTable *out_paths)
{
	GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < profile->code.locations->len; i++) {
		const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation, i);
		if (location->file == NULL || !g_hash_table_add(out_paths, location->file))
			continue;
		char *base = g_path_get_basename(location->file);
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, base));
		g_hash_table_insert(counts, base, GUINT_TO_POINTER(n + 1));
	}
	return counts;
}

/* The keys by which files are matched: their path where both profiles have it; their name where
 * each has one such file, as programs are built in different directories. */
typedef struct {
	GHashTable *paths[2], *counts[2];
	const LodeOwnLines *own[2];
	const LodeRenamedFiles *renamed;
} Files;

static const char *file_key(const Files *files, int side, const char *path)
{
	const char *base = strrchr(path, '/');

	base = base != NULL ? base + 1 : path;
	if (g_hash_table_contains(files->paths[1 - side], path))
		return path;
	return GPOINTER_TO_UINT(g_hash_table_lookup(files->counts[0], base)) == 1 &&
	                       GPOINTER_TO_UINT(g_hash_table_lookup(files->counts[1], base)) == 1
	               ? base
	               : path;
}

/* The key of a line; the caller frees it. */
static char *line_key(const Files *files, int side, const LodeLocation *location)
{
	const char *file = location->file;
	uint32_t line = location->line;

	if (side == 1)
		lode_renamed_files_find(files->renamed, location, &file, &line);
	return g_strdup_printf("%s:%u",
		lode_renamed_files_has(files->renamed, side, location->file)
			? file
			: file_key(files, side, file),
		line);
}

static bool has_lines(const LodeProfile *profile, uint32_t function)
{
	const LodeFunction *one = lode_profile_function(profile, function);

	for (uint32_t i = 0; i < one->n_instructions; i++)
		if (lode_profile_instruction(profile, one->first_instruction + i)->location !=
			LODE_NONE)
			return true;
	return false;
}

/* For each function of a side, whether its lines take part: not where only one of the two matching
 * functions has any, as in a program built without them. The caller frees the array. */
static bool *choose_functions(const Work *self, int side)
{
	bool *out = g_new0(bool, self->profiles[side]->code.functions->len + 1);

	for (guint i = 0; i < self->pairs->pairs->len; i++) {
		const uint32_t *both =
			g_array_index(self->pairs->pairs, LodeFunctionPair, i).functions;
		uint32_t own = both[side], other = both[1 - side];
		if (own != LODE_NONE)
			out[own] = is_wanted(self, side, own) &&
			           (other == LODE_NONE ||
					   has_lines(self->profiles[1 - side], other));
	}
	return out;
}

static void add_lines(Work *self, int side, const Files *files, GHashTable *lines)
{
	const LodeProfile *profile = self->profiles[side];
	g_autofree bool *takes_part = choose_functions(self, side);

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		uint32_t id = lode_own_lines_find(files->own[side], i);
		if (id == LODE_NONE || !takes_part[one->function])
			continue;
		const LodeLocation *location = &LODE_AT(profile->code.locations, LodeLocation, id);
		if (location->file == NULL || location->line == 0)
			continue;
		g_autofree char *key = line_key(files, side, location);
		Line *line = g_hash_table_lookup(lines, key);
		if (line == NULL) {
			line = g_new0(Line, 1);
			line->instructions[0] = line->instructions[1] = LODE_NONE;
			g_hash_table_insert(lines, g_steal_pointer(&key), line);
		}
		double weight = lode_profile_event_value(profile, self->events[side], i);
		line->weight[side] += weight;
		line->executions[side] += one->count;
		if (line->instructions[side] == LODE_NONE || weight > line->most[side]) {
			line->most[side] = weight;
			line->instructions[side] = i;
			line->at[side] = location;
		}
	}
}

static char *line_text(const LodeLocation *at)
{
	g_autofree char *base = g_path_get_basename(at->file);

	return g_strdup_printf("%s:%u", base, at->line);
}

static void compare_lines(Work *self)
{
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(self->profiles[0], self->options->own);
	g_autoptr(LodeOwnLines)
		other_own = lode_own_lines_new(self->profiles[1], self->options->own);
	const LodeOwnLines *const both_own[2] = {own, other_own};
	g_autoptr(LodeRenamedFiles)
		renamed = lode_renamed_files_new(self->profiles, self->pairs, both_own);
	g_autoptr(GHashTable)
		lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	Files files = {.own = {own, other_own}, .renamed = renamed};
	GHashTableIter all;
	void *key, *value;

	for (int side = 0; side < 2; side++) {
		files.paths[side] = g_hash_table_new(g_str_hash, g_str_equal);
		files.counts[side] = count_files(self->profiles[side], files.paths[side]);
	}
	for (int side = 0; side < 2; side++)
		add_lines(self, side, &files, lines);
	g_hash_table_iter_init(&all, lines);
	while (g_hash_table_iter_next(&all, &key, &value)) {
		const Line *line = value;
		LodeComparedRow *row = add_row(self, LODE_COMPARED_LINE);
		for (int side = 0; side < 2; side++) {
			uint32_t i = line->instructions[side];
			set_side(self, row, side, line->weight[side], line->executions[side]);
			row->sides[side].instruction = i;
			if (i != LODE_NONE)
				row->sides[side].function =
					lode_profile_instruction(self->profiles[side], i)->function;
		}
		row->text = line_text(line->at[line->at[1] != NULL]);
		row->match = line->at[0] == NULL   ? LODE_MATCH_NEW
		             : line->at[1] == NULL ? LODE_MATCH_GONE
		                                   : LODE_MATCH_SAME;
		if (row->match == LODE_MATCH_SAME &&
			lode_renamed_files_has(renamed, 0, line->at[0]->file)) {
			row->match = LODE_MATCH_RENAMED;
			row->old_text = line_text(line->at[0]);
		}
		/* Where the file has another name, lines are matched by their place alone. */
		int side = line->at[1] != NULL;
		row->is_repeated = lode_renamed_files_has(renamed, side, line->at[side]->file);
	}
	for (int side = 0; side < 2; side++) {
		g_hash_table_unref(files.paths[side]);
		g_hash_table_unref(files.counts[side]);
	}
}

/* Lines among which time moved inside a function, as compilers give the same code to other lines:
 * what they lost and gained is more than three times its change. `rows`: of functions whose change
 * is told, of the second profile. */
static void mark_moved(Work *self, const LodeComparedRow *const *rows)
{
	GArray *lines = self->out->kinds[LODE_COMPARED_LINE].rows;
	guint n = self->profiles[1]->code.functions->len;
	g_autofree double *sums = g_new0(double, n + 1);
	g_autofree double *sizes = g_new0(double, n + 1);

	for (int pass = 0; pass < 2; pass++)
		for (guint i = 0; i < lines->len; i++) {
			LodeComparedRow *line = &g_array_index(lines, LodeComparedRow, i);
			uint32_t f = line->sides[1].function;
			double change = line->change.value;
			if (f == LODE_NONE || rows[f] != NULL ||
				!(fabs(change) > MOVED_DEVIATIONS * line->change.error))
				continue;
			if (pass == 1) {
				line->is_repeated |= line->is_told && sizes[f] > 3 * fabs(sums[f]);
				continue;
			}
			sums[f] += change;
			sizes[f] += fabs(change);
		}
}

/* Lines that one profile has alone, whose function has a row that says so: as one profile has it
 * alone, too, or where lines are matched by their place alone. */
static void mark_repeated(Work *self)
{
	const GArray *functions = self->out->kinds[LODE_COMPARED_FUNCTION].rows;
	GArray *lines = self->out->kinds[LODE_COMPARED_LINE].rows;
	const LodeComparedRow **rows[2];

	for (int side = 0; side < 2; side++) {
		rows[side] = g_new0(
			const LodeComparedRow *, self->profiles[side]->code.functions->len + 1);
		for (guint i = 0; functions != NULL && i < functions->len; i++) {
			const LodeComparedRow *row = &g_array_index(functions, LodeComparedRow, i);
			if (row->is_told && row->sides[side].function != LODE_NONE)
				rows[side][row->sides[side].function] = row;
		}
	}
	for (guint i = 0; i < lines->len; i++) {
		LodeComparedRow *line = &g_array_index(lines, LodeComparedRow, i);
		int side = line->match == LODE_MATCH_NEW;
		uint32_t f = line->sides[side].function;
		const LodeComparedRow *row = f != LODE_NONE ? rows[side][f] : NULL;
		bool is_alone = line->match == LODE_MATCH_NEW || line->match == LODE_MATCH_GONE;
		line->is_repeated = is_alone && row != NULL &&
		                    (line->is_repeated || row->match == line->match);
	}
	if (functions != NULL)
		mark_moved(self, rows[1]);
	for (int side = 0; side < 2; side++)
		g_free(rows[side]);
}

/* --- sequences --- */

typedef struct {
	Work *work;
	LodeMiningParameters parameters;
	LodeFlowGraph *graphs[2];
	LodeMiningRun *runs[2];
	GHashTable *indices[2]; /* names of the attributes → index in the run + 1 */
	double least[2];        /* weight support from which on sequences are compared */
} Sequences;

static char *sequence_key(const LodeMiningRun *run, guint index)
{
	GString *text = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	json.keeps_bytes = true;
	lode_mining_run_sequence_json(run, index, &json);
	return g_string_free(text, FALSE);
}

static double sequence_weight(const LodeMiningRun *run, guint index)
{
	return g_array_index(run->sequences, LodeSequence, index).weight;
}

/* The support from which on there are MAX_SEQUENCES. */
static double least_support(const LodeMiningRun *run)
{
	g_autoptr(GArray) weights = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < run->sequences->len; i++) {
		double weight = sequence_weight(run, i);
		g_array_append_val(weights, weight);
	}
	g_array_sort(weights, lode_compare_doubles_descending);
	return weights->len > MAX_SEQUENCES ? g_array_index(weights, double, MAX_SEQUENCES) : 0;
}

static bool mine_side(Sequences *self, int side, GError **error)
{
	Work *work = self->work;

	self->graphs[side] = lode_flow_graph_build(work->profiles[side], &self->parameters, error);
	if (self->graphs[side] == NULL)
		return false;
	self->runs[side] = lode_miner_run(
		self->graphs[side], &self->parameters, "compared", work->progress, error);
	if (self->runs[side] == NULL)
		return false;
	self->indices[side] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < self->runs[side]->sequences->len; i++)
		g_hash_table_insert(self->indices[side], sequence_key(self->runs[side], i),
			GUINT_TO_POINTER(i + 1));
	self->least[side] = least_support(self->runs[side]);
	return true;
}

/* A side of the row of a sequence of a run; where the side's own run does not have it, as it is too
 * rare there, it is looked for. */
static bool set_sequence(Sequences *self, LodeComparedRow *row, int side, const LodeMiningRun *run,
	guint index, GError **error)
{
	Work *work = self->work;
	double total = lode_profile_event(work->profiles[side], work->events[side])->total;

	if (run == self->runs[side]) {
		const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, index);
		set_side(work, row, side, one->weight * total, one->executions);
		return true;
	}
	g_autofree uint32_t *items = lode_occurrences_map_items(self->graphs[side], run, index);
	set_side(work, row, side, 0, 0);
	if (items == NULL)
		return true;
	g_autoptr(LodeOccurrences) found = lode_occurrences_find(self->graphs[side], items,
		g_array_index(run->sequences, LodeSequence, index).n_items, &self->parameters,
		error);
	if (found == NULL)
		return false;
	set_side(work, row, side, found->weight * total, found->executions);
	return true;
}

/* The sequences of one run; those that the base's run has too are left out for the other one's. */
static bool compare_side_sequences(Sequences *self, int side, GError **error)
{
	Work *work = self->work;
	const LodeMiningRun *run = self->runs[side];

	for (guint i = 0; i < run->sequences->len; i++) {
		g_autofree char *key = sequence_key(run, i);
		guint there = GPOINTER_TO_UINT(g_hash_table_lookup(self->indices[1 - side], key));
		bool is_heavy = sequence_weight(run, i) >= self->least[side] ||
		                (there != 0 && sequence_weight(self->runs[1 - side], there - 1) >=
						       self->least[1 - side]);
		if ((side == 1 && there != 0) || !is_heavy)
			continue;
		if (lode_progress_is_cancelled(work->progress))
			return fail(error, LODE_ERROR_CANCELLED, "stopped");
		LodeComparedRow row = {.kind = LODE_COMPARED_SEQUENCE};
		for (int s = 0; s < 2; s++) {
			row.sides[s].executed = row.sides[s].each = lode_estimate_unknown;
			row.sides[s].function = row.sides[s].instruction = LODE_NONE;
			bool is_own = s == side || there == 0;
			if (!set_sequence(self, &row, s, is_own ? run : self->runs[s],
				    is_own ? i : there - 1, error))
				return false;
		}
		/* The frequency of one instruction after another was inferred from the samples,
		 * each time a little differently; the error is unknown. */
		const uint32_t *items = lode_mining_run_items(run, i);
		uint32_t n = g_array_index(run->sequences, LodeSequence, i).n_items;
		if (!work->out->is_counted && lode_sequence_element_end(items, n, 0) < n)
			row.sides[0].time.error = row.sides[1].time.error = (double)NAN;
		row.text = lode_mining_run_sequence_text(run, i);
		row.match = match_of(&row, (const bool[2]){row.sides[0].executed.value > 0,
						   row.sides[1].executed.value > 0});
		g_array_append_val(work->out->kinds[LODE_COMPARED_SEQUENCE].rows, row);
	}
	return true;
}

static bool compare_sequences(Work *work, GError **error)
{
	Sequences self = {.work = work, .parameters = work->parameters};
	bool is_done = true;

	self.parameters.min_support = work->options->min_support;
	if (!(self.parameters.min_support > 0))
		self.parameters.min_support = fmax(
			lode_mining_default_support(work->profiles[0], work->out->weight),
			lode_mining_default_support(work->profiles[1], work->out->weight));
	/* Among sequences with the same support, those that no longer one repeats. */
	self.parameters.only_closed = true;
	lode_progress_report(work->progress, "mining", 0, 0, NULL);
	for (int side = 0; side < 2 && is_done; side++)
		is_done = mine_side(&self, side, error);
	for (int side = 0; side < 2 && is_done; side++)
		is_done = compare_side_sequences(&self, side, error);
	for (int side = 0; side < 2; side++) {
		lode_flow_graph_free(self.graphs[side]);
		lode_mining_run_free(self.runs[side]);
		g_clear_pointer(&self.indices[side], g_hash_table_unref);
	}
	return is_done;
}

/* --- all --- */

static bool compare(Work *self, GError **error)
{
	const bool *wants = self->options->wants;
	bool wants_findings = wants[LODE_COMPARED_PATTERN] || wants[LODE_COMPARED_PLACE];
	size_t n_kinds = 0;

	/* Attributes that only one profile can have would look like a change of the program. */
	if (!find_weight(self, error) ||
		!lode_lone_attributes_find(self->profiles, self->out->left_out, error))
		return false;
	if (self->out->left_out->len > 0)
		self->exclude = g_strjoinv(",", (char **)self->out->left_out->pdata);
	self->parameters.exclude = self->exclude;
	self->parameters.weight = self->out->weight;
	self->parameters.images = self->options->images;
	self->parameters.functions = self->options->functions;
	self->parameters.threads = self->options->threads;
	if (!lode_function_filter_init(&self->filter, &self->parameters, error))
		return false;
	self->pairs = lode_function_pairs_new(self->profiles, self->progress);
	if (self->pairs == NULL)
		return fail(error, LODE_ERROR_CANCELLED, "stopped");
	if (!find_work(self, error))
		return false;
	weigh_all(self);
	sum_functions(self);
	for (int side = 0; side < 2; side++)
		self->files[side] = find_files(self->profiles[side]);
	find_common(self);
	if (!(fmin(self->out->profiles[0].total, self->out->profiles[1].total) > 0))
		return true;
	find_speed(self);
	self->out->scatter = find_scatter(self);
	for (int kind = 0; kind < LODE_N_COMPARED; kind++)
		if (wants[kind] || (wants_findings && kind <= LODE_COMPARED_PLACE)) {
			n_kinds++;
			self->out->kinds[kind].rows = g_array_new(
				FALSE, FALSE, sizeof(LodeComparedRow));
			g_array_set_clear_func(self->out->kinds[kind].rows, clear_row);
		}
	if (wants_findings && !compare_findings(self, error))
		return false;
	for (guint i = 0; i < self->pairs->pairs->len && wants[LODE_COMPARED_FUNCTION]; i++)
		compare_function_pair(
			self, &g_array_index(self->pairs->pairs, LodeFunctionPair, i));
	if (wants[LODE_COMPARED_LINE])
		compare_lines(self);
	if (wants[LODE_COMPARED_SEQUENCE] && !compare_sequences(self, error))
		return false;
	for (int kind = 0; kind < LODE_N_COMPARED; kind++)
		if (self->out->kinds[kind].rows != NULL)
			finish_rows(&self->out->kinds[kind], self->out, n_kinds);
	if (wants[LODE_COMPARED_LINE])
		mark_repeated(self);
	sum_same_code(self);
	compare_totals(self);
	return true;
}

LodeComparison *lode_comparison_new(const LodeProfile *const profiles[2],
	const LodeComparisonOptions *options, const LodeProgress *progress, GError **error)
{
	LodeComparison *out = g_new0(LodeComparison, 1);
	Work self = {.profiles = profiles, .options = options, .progress = progress, .out = out};

	out->left_out = g_ptr_array_new_null_terminated(0, g_free, true);
	lode_mining_parameters_init(&self.parameters);
	if (!compare(&self, error))
		g_clear_pointer(&out, lode_comparison_free);
	lode_function_filter_clear(&self.filter);
	lode_function_pairs_free(self.pairs);
	g_free(self.exclude);
	for (int side = 0; side < 2; side++) {
		g_free(self.own[side]);
		g_free(self.lent[side]);
		g_clear_pointer(&self.files[side], g_hash_table_unref);
	}
	return out;
}

void lode_comparison_free(LodeComparison *self)
{
	if (self == NULL)
		return;
	for (int kind = 0; kind < LODE_N_COMPARED; kind++)
		g_clear_pointer(&self->kinds[kind].rows, g_array_unref);
	g_ptr_array_unref(self->left_out);
	g_free(self->weight);
	g_free(self->work_function);
	g_free(self);
}

/* SPDX-License-Identifier: MIT */
/* Which samples are of a part, its name, and the profile that is left of it. */
#include "analyses/parts/part_choice.h"

#include "analyses/memory/expressions/expression.h"
#include "analyses/parts/program_shares.h"
#include "analyses/parts/stack_attributes.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/observed/loops.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "model/stacks.h"
#include "model/waits.h"

#include <math.h>
#include <string.h>

/* --- part profile --- */

/*
 * A profile reduced to some of its samples:
 *
 *   sampled events        the samples' weights, exactly
 *   their :cause twins    each instruction's, in the proportion in which the rule of model/causes.h
 *                         moves the part's weight there and that of the whole
 *   executions, edges,    those of the whole, by the part's share of the function's samples: an
 *   counted events        estimate
 *
 *
 */

typedef struct {
	LodeProfile *profile;
	const bool *chosen;
	double *shares; /* [functions]: of the part in a function's samples */
	double share;   /* in all samples */
} Reduction;

static bool is_as_sampled(const LodeProfile *profile, uint32_t event)
{
	return event != LODE_NONE &&
	       lode_profile_event(profile, event)->kind == LODE_EVENT_SAMPLED &&
	       lode_profile_event_as_sampled(profile, event) == LODE_NONE;
}

/* The weight of samples of an event: of all, and of the part. */
typedef struct {
	double *of_all, *of_part;       /* [instructions] */
	double all, part;               /* with those that are at no instruction */
	double unplaced, n_unplaced, n; /* of the part: weight and samples at none, and samples */
} Sums;

static void sums_clear(Sums *self)
{
	g_free(self->of_all);
	g_free(self->of_part);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sums, sums_clear)

static void sums_init(Sums *self, const Reduction *part, uint32_t event)
{
	const LodeStacks *stacks = part->profile->stacks;
	guint n = MAX(part->profile->code.instructions->len, 1);

	*self = (Sums){.of_all = g_new0(double, n), .of_part = g_new0(double, n)};
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != event)
			continue;
		uint32_t at = lode_stacks_instruction(stacks, sample->stack);
		double weight = part->chosen[i] ? sample->weight : 0;
		double n_samples = part->chosen[i] ? 1.0 + sample->n_more : 0;
		self->all += sample->weight;
		self->part += weight;
		self->n += n_samples;
		if (at == LODE_NONE) {
			self->unplaced += weight;
			self->n_unplaced += n_samples;
		} else {
			self->of_all[at] += sample->weight;
			self->of_part[at] += weight;
		}
	}
}

static double ratio(double part, double all, double otherwise)
{
	return all > 0 && isfinite(all) ? CLAMP(part / all, 0, 1) : otherwise;
}

static void find_shares(Reduction *self, const Sums *sums)
{
	self->share = ratio(sums->part, sums->all, 0);
	for (uint32_t i = 0; i < self->profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(self->profile, i);
		double all = 0, part = 0;
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			all += sums->of_all[function->first_instruction + k];
			part += sums->of_part[function->first_instruction + k];
		}
		self->shares[i] = ratio(part, all, self->share);
	}
}

static double share_at(const Reduction *self, uint32_t instruction)
{
	return self->shares[lode_profile_instruction(self->profile, instruction)->function];
}

/* --- costs --- */

static LodeCost *cost_of(const LodeProfile *profile, uint32_t instruction, uint32_t event)
{
	uint32_t end = LODE_AT(profile->code.cost_starts, uint32_t, instruction + 1);

	for (uint32_t i = LODE_AT(profile->code.cost_starts, uint32_t, instruction); i < end; i++)
		if (LODE_AT(profile->code.costs, LodeCost, i).event == event)
			return &LODE_AT(profile->code.costs, LodeCost, i);
	return NULL;
}

/* Repeated instructions keep their weight. */
static uint8_t *mark_repeats(const LodeProfile *profile)
{
	uint8_t *marks = g_new0(uint8_t, MAX(profile->code.instructions->len, 1));

	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->kind == LODE_EDGE_REPEAT)
			marks[edge->source] = LODE_CAUSE_REPEATS;
	}
	return marks;
}

/* Not all that the import knew of the code is in a profile, so that the rule gives proportions. */
static void reduce_charged(const Reduction *self, const Sums *sums, uint32_t charged)
{
	const LodeProfile *profile = self->profile;
	guint n = MAX(profile->code.instructions->len, 1);
	g_autofree uint8_t *marks = mark_repeats(profile);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, marks);
	g_autofree double *all = g_new(double, n);
	g_autofree double *part = g_new(double, n);

	lode_causes_charge(causes, sums->of_all, all);
	lode_causes_charge(causes, sums->of_part, part);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		LodeCost *cost = cost_of(profile, i, charged);
		if (cost != NULL)
			cost->value *= ratio(part[i], all[i], share_at(self, i));
	}
	lode_profile_event(profile, charged)->total = sums->part;
}

static void reduce_sampled(const Reduction *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;
	uint32_t charged = lode_profile_event_as_charged(profile, event);
	g_auto(Sums) sums = {0};

	sums_init(&sums, self, event);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		LodeCost *cost = cost_of(profile, i, event);
		if (cost != NULL)
			cost->value = sums.of_part[i];
	}
	lode_profile_event(profile, event)->total = sums.part;
	if (charged != LODE_NONE)
		reduce_charged(self, &sums, charged);
}

/* Counts that belong to no instruction are divided as all samples are. */
static void reduce_counted(const Reduction *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;
	double *total = &lode_profile_event(profile, event)->total;
	double rest = *total, sum = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		LodeCost *cost = cost_of(profile, i, event);
		if (cost == NULL)
			continue;
		rest -= cost->value;
		cost->value *= share_at(self, i);
		sum += cost->value;
	}
	*total = sum + fmax(rest, 0) * self->share;
}

/* No cost is 0. */
static void remove_empty_costs(const LodeProfile *profile)
{
	guint kept = 0, at = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t *end = &LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		for (; at < *end; at++)
			if (LODE_AT(profile->code.costs, LodeCost, at).value != 0)
				LODE_AT(profile->code.costs, LodeCost, kept++) = LODE_AT(
					profile->code.costs, LodeCost, at);
		*end = kept;
	}
	g_array_set_size(profile->code.costs, kept);
}

/* --- executions --- */

static void reduce_edges(const Reduction *self)
{
	GArray *edges = self->profile->code.edges;
	guint kept = 0;

	for (guint i = 0; i < edges->len; i++) {
		LodeEdge edge = LODE_AT(edges, LodeEdge, i);
		double share = share_at(self, edge.source);
		edge.count *= share;
		if (share > 0)
			LODE_AT(edges, LodeEdge, kept++) = edge;
	}
	g_array_set_size(edges, kept);
}

static void reduce_counts(const Reduction *self)
{
	LodeProfile *profile = self->profile;
	double rest = profile->run.total_count, sum = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		LodeInstruction *row = lode_profile_instruction(profile, i);
		double share = share_at(self, i);
		rest -= row->count;
		row->count *= share;
		sum += row->count;
		if (row->next_count >= 0)
			row->next_count = share > 0 ? row->next_count * share : -1;
	}
	for (uint32_t i = 0; i < profile->code.blocks->len; i++) {
		LodeBlock *block = lode_profile_block(profile, i);
		block->count *= self->shares[block->function];
	}
	for (uint32_t i = 0; i < profile->code.functions->len; i++)
		lode_profile_function(profile, i)->calls *= self->shares[i];
	profile->run.total_count = sum + fmax(rest, 0) * self->share;
	/* Known of the whole alone. */
	profile->run.user_seconds = profile->run.system_seconds = profile->run.wall_seconds = 0;
	profile->run.inflow_checked = profile->run.inflow_equal = 0;
}

static void sum_derived(const LodeProfile *profile)
{
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		LodeEvent *event = lode_profile_event(profile, i);
		if (event->kind == LODE_EVENT_COUNT)
			event->total = profile->run.total_count;
		if (event->kind != LODE_EVENT_DERIVED || event->terms == NULL)
			continue;
		event->total = 0;
		for (guint k = 0; k < event->terms->len; k++) {
			const LodeEventTerm *term = &LODE_AT(event->terms, LodeEventTerm, k);
			bool is_count = lode_profile_event(profile, term->event)->kind ==
			                LODE_EVENT_COUNT;
			event->total +=
				term->factor *
				(is_count ? profile->run.total_count
					  : lode_profile_event(profile, term->event)->total);
		}
	}
}

static void keep_samples(const Reduction *self)
{
	GArray *samples = self->profile->stacks->samples;
	guint kept = 0;

	for (guint i = 0; i < samples->len; i++)
		if (self->chosen[i])
			LODE_AT(samples, LodeStackSample, kept++) = LODE_AT(
				samples, LodeStackSample, i);
	g_array_set_size(samples, kept);
}

static void account(const Reduction *self, const Sums *sums)
{
	LodeProfile *profile = self->profile;

	g_array_set_size(profile->unresolved, 0);
	profile->run.n_samples = sums->n;
	profile->run.n_equal_samples = 0;
	if (sums->n_unplaced == 0)
		return;
	lode_profile_add_unresolved(
		profile, "samples of the part at no known instruction", NULL, 0, sums->unplaced);
	LODE_AT(profile->unresolved, LodeUnresolved, 0).samples = sums->n_unplaced;
}

/* `chosen` has a flag for each sample of profile->stacks; one at least is set. Gives the part's
 * share of the weight. */
static double part_profile_reduce(LodeProfile *profile, const bool *chosen)
{
	g_autofree double *shares = g_new0(double, MAX(profile->code.functions->len, 1));
	Reduction self = {.profile = profile, .chosen = chosen, .shares = shares};
	g_auto(Sums) measure = {0};

	sums_init(&measure, &self, lode_program_shares_event(profile));
	find_shares(&self, &measure);
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		if (is_as_sampled(profile, i))
			reduce_sampled(&self, i);
		else if (lode_profile_event(profile, i)->kind == LODE_EVENT_RECORDED)
			reduce_counted(&self, i);
	}
	remove_empty_costs(profile);
	reduce_edges(&self);
	reduce_counts(&self);
	sum_derived(profile);
	account(&self, &measure);
	keep_samples(&self);
	return self.share;
}

/* --- part choice --- */

typedef struct {
	const LodeProfile *profile;
	const LodePartChoice *choice;
	LodeStackAttributes *attributes;
	bool *threads;             /* of each: chosen by its names and numbers */
	uint64_t begin_ns, end_ns; /* since the first sample; end UINT64_MAX: open */
	LodeExpression *where;
	LodeEvaluator *evaluator;
} Part;

static void part_clear(Part *self)
{
	lode_evaluator_free(self->evaluator);
	lode_expression_free(self->where);
	lode_stack_attributes_free(self->attributes);
	g_free(self->threads);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Part, part_clear)

bool lode_part_choice_is_whole(const LodePartChoice *self)
{
	return self->threads == NULL && self->commands == NULL && self->pids == NULL &&
	       self->time == NULL && self->where == NULL;
}

/* --- texts --- */

static void add_words(GString *out, const char *what, const char *const *values)
{
	if (values == NULL)
		return;
	g_autofree char *words = g_strjoinv(" or ", (char **)values);
	g_string_append_printf(out, "%s%s %s", out->len > 0 ? ", " : "", what, words);
}

static char *seconds_text(uint64_t time_ns, char buffer[LODE_NUMBER_SIZE])
{
	return lode_number_format_exact((double)time_ns / 1e9, buffer);
}

/* "thread worker, 1.5–2.25 s" */
static char *part_text(const Part *self)
{
	const LodePartChoice *choice = self->choice;
	GString *out = g_string_new(NULL);
	char begin[LODE_NUMBER_SIZE], end[LODE_NUMBER_SIZE];

	add_words(out, "thread", choice->threads);
	add_words(out, "command", choice->commands);
	add_words(out, "process", choice->pids);
	if (choice->time != NULL) {
		g_string_append(out, out->len > 0 ? ", " : "");
		seconds_text(self->begin_ns, begin);
		seconds_text(self->end_ns, end);
		if (self->end_ns == UINT64_MAX)
			g_string_append_printf(out, "from %s s", begin);
		else
			g_string_append_printf(out, "%s–%s s", begin, end);
	}
	if (choice->where != NULL)
		g_string_append_printf(out, "%swhere %s", out->len > 0 ? ", " : "", choice->where);
	return g_string_free(out, FALSE);
}

/* --- times --- */

static bool fail_time(const char *text, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"--time: '%s' is not a stretch of time such as 1.5..2.25, 1500ms.. or ..2: seconds "
		"since the first sample",
		text);
	return false;
}

/* Seconds, or with a unit. */
static bool read_time(const char *text, uint64_t *out_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	double value = g_ascii_isdigit(text[0]) || text[0] == '.' ? g_ascii_strtod(text, &end)
	                                                          : NAN;

	for (size_t i = 0; value >= 0 && end != text && i < G_N_ELEMENTS(units); i++)
		if (strcmp(end, units[i].name) == 0 && value * units[i].ns < 9e18) {
			*out_ns = (uint64_t)llrint(value * units[i].ns);
			return true;
		}
	return false;
}

static bool read_times(Part *self, GError **error)
{
	const char *text = self->choice->time;
	const char *dots = text != NULL ? strstr(text, "..") : NULL;

	self->end_ns = UINT64_MAX;
	if (text == NULL)
		return true;
	if (dots == NULL || strcmp(text, "..") == 0)
		return fail_time(text, error);
	g_autofree char *begin = g_strndup(text, (size_t)(dots - text));
	if ((begin[0] != '\0' && !read_time(begin, &self->begin_ns)) ||
		(dots[2] != '\0' && !read_time(dots + 2, &self->end_ns)) ||
		self->begin_ns >= self->end_ns)
		return fail_time(text, error);
	if (lode_stack_attributes_first_time(self->attributes) != 0)
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"--time: the samples have no times; record again with 'lode run' or 'lode record', "
		"or perf record without --no-timestamp");
	return false;
}

static bool is_in_time(const Part *self, const LodeStackSample *sample)
{
	uint64_t first_ns = lode_stack_attributes_first_time(self->attributes);

	if (self->choice->time == NULL)
		return true;
	return sample->time_ns != 0 && sample->time_ns - first_ns >= self->begin_ns &&
	       sample->time_ns - first_ns < self->end_ns;
}

/* --- threads --- */

static bool is_number(const char *text, uint32_t number)
{
	guint64 value;

	return g_ascii_string_to_unsigned(text, 10, 0, UINT32_MAX, &value, NULL) && value == number;
}

static bool matches(const char *const *words, const char *name, bool has_number, uint32_t number)
{
	if (words == NULL)
		return true;
	for (; *words != NULL; words++)
		if ((has_number && is_number(*words, number)) ||
			(name != NULL && g_pattern_match_simple(*words, name)))
			return true;
	return false;
}

static void choose_threads(Part *self)
{
	const GArray *threads = self->profile->stacks->threads;
	const LodePartChoice *choice = self->choice;

	self->threads = g_new(bool, threads->len + 1);
	for (guint i = 0; i < threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(threads, LodeStackThread, i);
		const char *command = lode_stack_attributes_command(self->attributes, i);
		self->threads[i] = matches(choice->threads, thread->name, true, thread->tid) &&
		                   matches(choice->commands, command, false, 0) &&
		                   matches(choice->pids, NULL, true, thread->pid);
	}
}

static bool check_pids(const char *const *pids, GError **error)
{
	for (; pids != NULL && *pids != NULL; pids++) {
		if (g_ascii_string_to_unsigned(*pids, 10, 0, UINT32_MAX, NULL, NULL))
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--pid: '%s' is not the number of a process", *pids);
		return false;
	}
	return true;
}

/* --- expressions --- */

static bool open_where(Part *self, GError **error)
{
	g_autoptr(LodeExpressionScope)
		scope = lode_expression_scope_new(&lode_stack_attribute_source);

	if (self->choice->where == NULL)
		return true;
	self->where = lode_expression_new(self->choice->where, scope, error);
	if (self->where != NULL && lode_expression_kind(self->where) != LODE_VALUE_BOOLEAN) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_USAGE, "the expression is not a condition");
		g_clear_pointer(&self->where, lode_expression_free);
	}
	if (self->where == NULL) {
		g_prefix_error(error, "--where: ");
		return false;
	}
	self->evaluator = lode_evaluator_new(self->where, self->attributes);
	return true;
}

static bool passes_where(
	const Part *self, const LodeStackSample *sample, bool *out_passes, GError **error)
{
	LodeValue value = lode_value_of_boolean(true);

	if (self->evaluator != NULL && !lode_evaluator_run(self->evaluator, sample, &value, error))
		return false;
	*out_passes = value.kind == LODE_VALUE_BOOLEAN && value.truth;
	return true;
}

/* --- the samples --- */

static bool check_continues(const LodeProgress *progress, GError **error)
{
	if (!lode_progress_is_cancelled(progress))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

/* [samples]: which are of the part; NULL: an error. */
static bool *choose_samples(const Part *self, const LodeProgress *progress, GError **error)
{
	enum { SAMPLES_BETWEEN_LOOKS = 4096 };
	const GArray *samples = self->profile->stacks->samples;
	g_autofree bool *chosen = g_new0(bool, samples->len + 1);

	for (guint i = 0; i < samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(samples, LodeStackSample, i);
		if (i % SAMPLES_BETWEEN_LOOKS == 0 && !check_continues(progress, error))
			return NULL;
		if (self->threads[sample->thread] && is_in_time(self, sample) &&
			!passes_where(self, sample, &chosen[i], error))
			return NULL;
	}
	return g_steal_pointer(&chosen);
}

static bool is_any(const bool *chosen, guint n)
{
	return memchr(chosen, true, n) != NULL;
}

static bool lists_commands(const Part *self)
{
	return self->choice->threads == NULL && self->choice->commands != NULL;
}

/* Some names that there are. */
static char *list_names(const Part *self)
{
	enum { MOST = 8 };
	const GArray *threads = self->profile->stacks->threads;
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < threads->len && g_hash_table_size(seen) < MOST; i++) {
		const char *name = lists_commands(self)
		                           ? lode_stack_attributes_command(self->attributes, i)
		                           : LODE_AT(threads, LodeStackThread, i).name;
		if (name != NULL && g_hash_table_add(seen, (void *)name))
			g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", name);
	}
	return g_string_free(out, FALSE);
}

static bool fail_empty(const Part *self, GError **error)
{
	g_autofree char *text = part_text(self);
	g_autofree char *names = list_names(self);

	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no sample is of this part: %s; the samples are of %.3g s and of %s such as: %s",
		text, (double)lode_stacks_span(self->profile->stacks).length_ns / 1e9,
		lists_commands(self) ? "commands" : "threads", names);
	return false;
}

static bool check_profile(const LodeProfile *profile, GError **error)
{
	bool has_samples = profile->stacks != NULL && profile->stacks->samples->len > 0;

	if (has_samples && profile->stacks->instructions->len > 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, "parts are chosen among samples%s",
		profile->run.n_samples > 0
			? ", whose threads and times this profile does not have: import the "
			  "recording again with this version of lode"
			: ", and the profile has none: 'lode run' and 'lode record' take samples");
	return false;
}

/* Whole threads by their names and numbers, also those that have no samples. */
typedef struct {
	const LodePartChoice *choice;
	GHashTable *pids; /* of the chosen commands */
} ThreadChoice;

static bool is_thread_chosen(const ThreadChoice *self, const char *name, uint32_t pid, uint32_t tid)
{
	return matches(self->choice->threads, name, true, tid) &&
	       matches(self->choice->pids, NULL, true, pid) &&
	       (self->choice->commands == NULL ||
		       g_hash_table_contains(self->pids, GUINT_TO_POINTER(pid)));
}

/* The critical path is the whole program's: a part's waits are kept without it. */
static void keep_waits(const ThreadChoice *choice, LodeProfile *profile)
{
	LodeWaits *waits = profile->waits;
	guint kept = 0;

	waits->waiting_ns = waits->seen_ns = waits->running_ns = 0;
	waits->path_running_ns = waits->path_sure = waits->path_threads = 0;
	waits->has_path = false;
	for (guint i = 0; i < waits->rows->len; i++) {
		LodeWait row = LODE_AT(waits->rows, LodeWait, i);
		if (!is_thread_chosen(choice, row.thread_name, row.pid, row.tid))
			continue;
		row.cause = LODE_NONE;
		row.path_ns = 0;
		waits->waiting_ns += row.waiting_ns;
		waits->seen_ns += row.reason != LODE_WAIT_UNSEEN ? row.waiting_ns : 0;
		LODE_AT(waits->rows, LodeWait, kept++) = row;
	}
	waits->refused_ns = MIN(waits->refused_ns, waits->waiting_ns);
	g_array_set_size(waits->rows, kept);
	g_array_set_size(waits->causes, 0);
	g_array_set_size(waits->slices, 0);
	g_array_set_size(waits->programs, 0);
	g_array_set_size(waits->processes, 0);
	g_array_set_size(waits->starts, 0);
	for (guint i = 0; i < profile->thread_times->len; i++)
		waits->running_ns += LODE_AT(profile->thread_times, LodeThreadTime, i).running_ns;
}

/* When whole threads ran and waited is known, and not in which part of the time. */
static void keep_threads(const Part *self, LodeProfile *profile)
{
	const LodePartChoice *choice = self->choice;
	const GArray *threads = profile->stacks->threads;
	bool is_of_threads = choice->time == NULL && choice->where == NULL;
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);
	const ThreadChoice threads_of = {choice, pids};
	guint kept = 0;

	for (guint i = 0; i < threads->len; i++)
		if (matches(choice->commands, lode_stack_attributes_command(self->attributes, i),
			    false, 0))
			g_hash_table_add(
				pids, GUINT_TO_POINTER(LODE_AT(threads, LodeStackThread, i).pid));
	for (guint i = 0; is_of_threads && i < profile->thread_times->len; i++) {
		const LodeThreadTime row = LODE_AT(profile->thread_times, LodeThreadTime, i);
		if (is_thread_chosen(&threads_of, row.name, row.pid, row.tid))
			LODE_AT(profile->thread_times, LodeThreadTime, kept++) = row;
	}
	g_array_set_size(profile->thread_times, kept);
	if (profile->waits != NULL && is_of_threads)
		keep_waits(&threads_of, profile);
	else
		g_clear_pointer(&profile->waits, lode_waits_free);
}

bool lode_part_choice_apply(LodeProfile *profile, const LodePartChoice *choice,
	const LodeProgress *progress, GError **error)
{
	g_auto(Part) part = {.profile = profile, .choice = choice};
	g_autofree bool *chosen = NULL;
	char share[LODE_NUMBER_SIZE];

	if (!check_profile(profile, error))
		return false;
	part.attributes = lode_stack_attributes_new(profile);
	if (!check_pids(choice->pids, error) || !read_times(&part, error) ||
		!open_where(&part, error))
		return false;
	choose_threads(&part);
	chosen = choose_samples(&part, progress, error);
	if (chosen == NULL)
		return false;
	if (!is_any(chosen, profile->stacks->samples->len))
		return fail_empty(&part, error);
	keep_threads(&part, profile);
	g_autofree char *text = part_text(&part);
	lode_number_format_share(part_profile_reduce(profile, chosen), share);
	lode_loops_recount(profile);
	g_autofree char *named = g_strdup_printf("%s: %s of the weight", text, share);
	profile->part = lode_profile_intern(profile, named);
	return true;
}

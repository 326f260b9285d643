/* SPDX-License-Identifier: MIT */
/* Which samples are of a part, and its name. part_profile.c reduces the profile to them. */
#include "analyses/parts/part_choice.h"

#include "analyses/memory/expressions/expression.h"
#include "analyses/parts/part_profile.h"
#include "analyses/parts/stack_attributes.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/observed/loops.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

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
		profile->n_samples > 0
			? ", whose threads and times this profile does not have: import the "
			  "recording again with this version of lode"
			: ", and the profile has none: 'lode run' and 'lode record' take samples");
	return false;
}

/* When whole threads ran is known, and not in which part of the time: also of threads that have no
 * samples. */
static void keep_thread_times(const Part *self, LodeProfile *profile)
{
	const LodePartChoice *choice = self->choice;
	const GArray *threads = profile->stacks->threads;
	bool is_of_threads = choice->time == NULL && choice->where == NULL;
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL); /* of the commands */
	guint kept = 0;

	for (guint i = 0; i < threads->len; i++)
		if (matches(choice->commands, lode_stack_attributes_command(self->attributes, i),
			    false, 0))
			g_hash_table_add(
				pids, GUINT_TO_POINTER(LODE_AT(threads, LodeStackThread, i).pid));
	for (guint i = 0; is_of_threads && i < profile->thread_times->len; i++) {
		const LodeThreadTime row = LODE_AT(profile->thread_times, LodeThreadTime, i);
		if (matches(choice->threads, row.name, true, row.tid) &&
			matches(choice->pids, NULL, true, row.pid) &&
			(choice->commands == NULL ||
				g_hash_table_contains(pids, GUINT_TO_POINTER(row.pid))))
			LODE_AT(profile->thread_times, LodeThreadTime, kept++) = row;
	}
	g_array_set_size(profile->thread_times, kept);
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
	keep_thread_times(&part, profile);
	g_autofree char *text = part_text(&part);
	lode_number_format_share(lode_part_profile_reduce(profile, chosen), share);
	lode_loops_recount(profile);
	g_autofree char *named = g_strdup_printf("%s: %s of the weight", text, share);
	profile->part = lode_profile_intern(profile, named);
	return true;
}

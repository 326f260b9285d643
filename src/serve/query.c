/* SPDX-License-Identifier: MIT */
#include "serve/query.h"

#include "base/error.h"
#include "model/mining_run.h"
#include "questions/questions.h"
#include "serve/served_profile.h"
#include "serve/served_trace.h"

#include <string.h>

static const char profile_list[] = "profiles", question_list[] = "questions";

/* --- which files are meant --- */

typedef struct {
	uint32_t profile, base, trace;
} Numbers;

static const LodeParameter profile_rows[] = {
	{"profile", LODE_COUNT(Numbers, profile), .value = "N", .summary = "its number"},
	{NULL},
};

static const LodeParameter both_rows[] = {
	{"profile", LODE_COUNT(Numbers, profile), .value = "N", .summary = "the new one's number"},
	{"base", LODE_COUNT(Numbers, base), .value = "N", .summary = "the base's number"},
	{NULL},
};

static const LodeParameter trace_rows[] = {
	{"trace", LODE_COUNT(Numbers, trace), .value = "N", .summary = "its number"},
	{NULL},
};

/* A changed number makes the browser request the list again. */
static const LodeParameter list_rows[] = {
	{"again", LODE_COUNT(Numbers, profile), .value = "N", .summary = "any number"},
	{NULL},
};

static const LodeParameterGroup profile_groups[] = {{"Files", profile_rows, 0}, {NULL}};
static const LodeParameterGroup both_groups[] = {{"Files", both_rows, 0}, {NULL}};
static const LodeParameterGroup trace_groups[] = {{"Files", trace_rows, 0}, {NULL}};
static const LodeParameterGroup list_groups[] = {{"List", list_rows, 0}, {NULL}};

static const LodeParameterGroup *groups_of(const LodeVerb *question)
{
	return question->takes_trace  ? trace_groups
	       : question->takes_many ? both_groups
	                              : profile_groups;
}

static bool read_numbers(const LodeParameterGroup *groups, const LodeParameterPairs *given,
	Numbers *numbers, GError **error)
{
	g_autoptr(GPtrArray) lists = NULL;

	return lode_parameters_fill(groups, given, LODE_PARAMETER_FOR_PAGE, numbers, &lists, error);
}

static void *find_file(const GPtrArray *files, const char *kind, uint32_t number, GError **error)
{
	if (number < files->len)
		return files->pdata[number];
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "no %s %u: %u are served", kind,
		number, files->len);
	return NULL;
}

LodeServedProfile *lode_page_query_profile(
	const LodeParameterPairs *given, const GPtrArray *profiles, GError **error)
{
	Numbers numbers = {0};

	return read_numbers(profile_groups, given, &numbers, error)
	               ? find_file(profiles, "profile", numbers.profile, error)
	               : NULL;
}

/* Divides the parameters into those that choose files and all others. */
static void divide(const LodeParameterGroup *of_files, const LodeParameterPairs *given,
	LodeParameterPairs *files, LodeParameterPairs *others)
{
	for (guint i = 0; i < given->names->len; i++) {
		const char *name = given->names->pdata[i];
		lode_parameter_pairs_add(
			lode_parameter_find(of_files, name) != NULL ? files : others, name,
			given->values->pdata[i]);
	}
}

/* --- the asker --- */

enum { MAX_FILES = 2 };

/* References to the data that an answer uses, kept until it is complete. */
typedef struct {
	LodeAsking asking;
	const char *names[MAX_FILES + 1], *paths[MAX_FILES + 1];
	LodeProfileSnapshot *snapshots[MAX_FILES];
	LodeProfilePart *parts[MAX_FILES];
	LodeServedTrace *trace;
	bool has_taken_trace;
	LodeMiningRun *empty_run;
} Query;

static void query_clear(Query *self)
{
	for (unsigned i = 0; i < MAX_FILES; i++) {
		g_clear_pointer(&self->snapshots[i], lode_profile_snapshot_unref);
		g_clear_pointer(&self->parts[i], lode_profile_part_unref);
	}
	g_clear_pointer(&self->empty_run, lode_mining_run_free);
	if (self->has_taken_trace)
		lode_served_trace_give_back(self->trace);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Query, query_clear)

static Query *query_of(LodeAsking *asking)
{
	return (Query *)(void *)((char *)asking - offsetof(Query, asking));
}

/* The part of the n-th file; NULL: an error. */
static LodeProfilePart *find_part(
	Query *self, unsigned n, const LodeProfileChoice *choice, GError **error)
{
	g_clear_pointer(&self->parts[n], lode_profile_part_unref);
	self->parts[n] = lode_profile_snapshot_part(
		self->snapshots[n], choice, self->asking.progress, error);
	return self->parts[n];
}

static const LodeProfile *give_profile(
	LodeAsking *asking, unsigned n, const LodeProfileChoice *choice, GError **error)
{
	Query *self = query_of(asking);

	if (!lode_profile_choice_is_part(choice) && choice->weight == NULL)
		return lode_profile_snapshot_profile(self->snapshots[n]);
	const LodeProfilePart *part = find_part(self, n, choice, error);
	return part != NULL ? lode_profile_part_profile(part) : NULL;
}

/* An empty run: code can be shown before a run is mined. */
static bool give_none(Query *self, LodeMined *out_mined)
{
	LodeMiningParameters none;

	lode_mining_parameters_init(&none);
	self->empty_run = lode_mining_run_new("none", &none);
	*out_mined = (LodeMined){
		lode_profile_snapshot_profile(self->snapshots[0]), self->empty_run, true};
	return true;
}

/* At least so many are mined of a run that has none: someone waits, and all of them can take
 * minutes. */
enum { COSTLIEST_SEQUENCES = 3000 };

static bool give_mined(
	LodeAsking *asking, const LodeRunChoice *choice, LodeMined *out_mined, GError **error)
{
	Query *self = query_of(asking);
	LodeProfileSnapshot *snapshot = self->snapshots[0];
	const LodeProgress *progress = asking->progress;
	bool is_first = choice->run == NULL && lode_profile_snapshot_runs(snapshot)->len == 0;

	if (choice->can_lack_run && is_first && !lode_profile_choice_is_part(&choice->profile))
		return give_none(self, out_mined);
	const LodeMiningRun *run = lode_profile_snapshot_run(
		snapshot, choice->run, false, progress, error);
	if (run == NULL)
		return false;
	bool has_sequences = choice->wants_sequences(run, choice->options);
	LodeProfileChoice part = choice->profile;
	if (part.origins == NULL)
		part.origins = run->parameters.origins;
	if (!lode_profile_choice_is_part(&part)) {
		if (has_sequences && !lode_profile_snapshot_mine_costliest(snapshot, choice->run,
					     COSTLIEST_SEQUENCES, progress, error))
			return false;
		run = lode_profile_snapshot_run(
			snapshot, choice->run, has_sequences, progress, error);
		*out_mined = (LodeMined){lode_profile_snapshot_profile(snapshot), run, false};
		return run != NULL;
	}
	LodeProfilePart *found = find_part(self, 0, &part, error);
	if (found == NULL)
		return false;
	run = lode_profile_part_run(found, run, &choice->profile, has_sequences, progress, error);
	*out_mined = (LodeMined){lode_profile_part_profile(found), run, false};
	return run != NULL;
}

static GPtrArray *give_runs(LodeAsking *asking, GError **error)
{
	(void)error;
	return lode_profile_snapshot_runs(query_of(asking)->snapshots[0]);
}

/* Parameters that only select misses to show do not need a new simulation. */
static const LodeProfile *give_trace(
	LodeAsking *asking, const LodeImportOptions *options, GError **error)
{
	static const char *const of_view[] = {"by", "event", "top", "format", NULL};
	Query *self = query_of(asking);
	g_autofree char *key = lode_asking_key(asking, "trace", of_view, true);
	const LodeProfile *profile = lode_served_trace_take_profile(
		self->trace, options, key, asking->progress, error);

	self->has_taken_trace = profile != NULL;
	return profile;
}

static void *find_kept(LodeAsking *asking, const LodeKeptKind *kind, const char *key)
{
	LodeProfileSnapshot *snapshot = query_of(asking)->snapshots[0];

	return snapshot != NULL ? lode_profile_snapshot_find(snapshot, kind, key) : NULL;
}

static void keep(LodeAsking *asking, const LodeKeptKind *kind, const char *key, void *what)
{
	LodeProfileSnapshot *snapshot = query_of(asking)->snapshots[0];

	if (snapshot != NULL)
		lode_profile_snapshot_keep(snapshot, kind, key, what);
}

/* Notes are for a terminal; JSON has members for them. */
static void note(LodeAsking *asking, const char *text)
{
	(void)asking;
	(void)text;
}

static const LodeAsker asker = {
	give_profile, give_mined, give_runs, give_trace, find_kept, keep, note};

static bool take_profile(Query *self, unsigned n, const LodeServedFiles *files, uint32_t number,
	LodeServedState *out_state, GError **error)
{
	LodeServedProfile *served = find_file(files->profiles, "profile", number, error);

	if (served == NULL)
		return false;
	self->names[n] = self->paths[n] = lode_served_profile_name(served);
	self->snapshots[n] = lode_served_profile_take(
		served, self->asking.progress, out_state, error);
	return self->snapshots[n] != NULL;
}

static bool take_files(Query *self, const LodeVerb *question, const LodeParameterPairs *given,
	const LodeServedFiles *files, LodeServedState *out_state, GError **error)
{
	Numbers numbers = {0};

	if (!read_numbers(groups_of(question), given, &numbers, error))
		return false;
	if (question->takes_many)
		return take_profile(self, 0, files, numbers.base, out_state, error) &&
		       take_profile(self, 1, files, numbers.profile, out_state, error);
	if (!question->takes_trace)
		return take_profile(self, 0, files, numbers.profile, out_state, error);
	self->trace = find_file(files->traces, "trace", numbers.trace, error);
	if (self->trace == NULL)
		return false;
	self->names[0] = lode_served_trace_name(self->trace);
	self->paths[0] = lode_served_trace_path(self->trace);
	return true;
}

/* JSON unless CSV is requested. */
static bool choose_format(LodeParameterPairs *given, GError **error)
{
	const char *format = lode_parameter_pairs_text(given, "format");

	if (format == NULL)
		lode_parameter_pairs_add(given, "format", "json");
	return g_strcmp0(format, "text") != 0 ||
	       lode_parameter_refuse(error, "format: 'text' is not json or csv");
}

static bool ask(Query *self, const LodeVerb *question, const LodeParameterPairs *given,
	const LodeServedFiles *files, LodeServedState *out_state, GError **error)
{
	g_auto(LodeParameterPairs) of_files;
	g_auto(LodeParameterPairs) others;
	g_autoptr(GPtrArray) lists = NULL;
	g_autofree void *options = g_malloc0(question->size);

	lode_parameter_pairs_init(&of_files);
	lode_parameter_pairs_init(&others);
	divide(groups_of(question), given, &of_files, &others);
	if (question->init != NULL)
		question->init(options);
	if (!choose_format(&others, error) ||
		!lode_parameters_fill(question->groups, &others, LODE_PARAMETER_FOR_PAGE, options,
			&lists, error) ||
		!take_files(self, question, &of_files, files, out_state, error))
		return false;
	self->asking.given = &others;
	return question->answer(&self->asking, options, error);
}

bool lode_page_query_exists(const char *name)
{
	return strcmp(name, profile_list) == 0 || strcmp(name, question_list) == 0 ||
	       lode_question_find(name) != NULL;
}

bool lode_page_query_has_run(const char *name)
{
	const LodeVerb *question = lode_question_find(name);

	return question != NULL && lode_parameter_find(question->groups, "run") != NULL;
}

bool lode_page_query_run(const char *name, const LodeParameterPairs *given,
	const LodeServedFiles *files, const LodeProgress *progress, FILE *out,
	LodeServedState *out_state, GError **error)
{
	const LodeVerb *question = lode_question_find(name);
	g_auto(Query) self = {.asking = {.asker = &asker,
				      .source = files->source,
				      .progress = progress,
				      .is_page = true,
				      .out = out}};
	GError *fault = NULL;
	Numbers none;

	*out_state = LODE_SERVED_CURRENT;
	if (strcmp(name, profile_list) == 0)
		return read_numbers(list_groups, given, &none, error) &&
		       lode_profile_list_write(files, progress, out, error);
	if (strcmp(name, question_list) == 0)
		return read_numbers(list_groups, given, &none, error) &&
		       lode_question_list_write(out, error);
	self.asking.names = self.names;
	self.asking.paths = self.paths;
	if (ask(&self, question, given, files, out_state, &fault))
		return true;
	/* Messages have the names of options; those of parameters have no dashes. */
	g_autofree char *message = lode_parameters_undash(question->groups, fault->message);
	g_set_error_literal(error, fault->domain, fault->code, message);
	g_error_free(fault);
	return false;
}

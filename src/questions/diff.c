/* SPDX-License-Identifier: MIT */
/* The changes between profiles, and their causes. */
#include "analyses/compare/compared_diagnoses.h"
#include "analyses/diagnoses/diagnose.h"
#include "base/error.h"
#include "model/profile.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"
#include "store/profile_store.h"
#include "views/findings/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEFAULT_LIMIT = 10 };

typedef struct {
	LodeComparisonOptions comparing;
	LodeComparisonViewOptions view;
	LodePartChoice part;
	const char *by, *normalise;
	bool has_limit, has_min_support, has_fail_above, has_full_names, has_diagnoses;
} Options;

static const LodeParameter rows[] = {
	{"by", LODE_TEXT(Options, by), .value = "LIST",
		.summary = "what to compare, separated by commas: diagnoses, patterns, functions, "
			   "lines, sequences, all (default: all but sequences)"},
	{"normalise", LODE_TEXT(Options, normalise), .value = "none|executions|FUNCTION",
		.summary = "divide costs by nothing (none, the default), by executed instructions "
			   "(executions), or by the calls of a function (its name)"},
	{"fail-above", LODE_PERCENT(Options, view.fail_above), .value = "PERCENT",
		.given = offsetof(Options, has_fail_above),
		.summary = "exit with status 3 when a diagnosis, pattern, place or function got "
			   "slower by more, beyond 3 standard errors"},
	{"weight", LODE_TEXT(Options, comparing.weight), .value = "EVENT",
		.summary = "the event that is compared: 'latency' is time by the clock, of "
			   "programs of several threads (default: the base's, see 'lode info')"},
	{"images", LODE_TEXT(Options, comparing.images), .value = "REGEX",
		.summary = "only functions of images whose path matches"},
	{"functions", LODE_TEXT(Options, comparing.functions), .value = "REGEX",
		.summary = "only functions whose name matches"},
	{"min-support", LODE_SHARE(Options, comparing.min_support), .value = "SHARE",
		.given = offsetof(Options, has_min_support),
		.summary = "sequences: least share of the weight or the executions in one of the "
			   "profiles (default: as 'lode mine')"},
	{"limit", LODE_COUNT(Options, view.limit), .value = "N",
		.given = offsetof(Options, has_limit),
		.summary = "rows of each kind (default: 10 in text, else all; 0: all)"},
	{"all", LODE_FLAG(Options, view.is_all),
		.summary = "list in text what did not change, too"},
	LODE_OWN_ROW(Options, comparing.own),
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	LODE_FORMAT_ROW(Options, view.format),
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

static bool check_options(Options *self, GError **error)
{
	if (!lode_comparison_options_read(
		    self->by, self->normalise, &self->comparing, &self->has_diagnoses, error)) {
		g_prefix_error(error, "--by: ");
		return false;
	}
	/* They are of whole programs. */
	self->has_diagnoses &= self->comparing.normalisation == LODE_NORMALISE_NONE &&
	                       self->comparing.images == NULL && self->comparing.functions == NULL;
	if (self->has_min_support && !(self->comparing.min_support > 0))
		return lode_parameter_refuse(error, "--min-support must be above 0");
	if (!self->has_fail_above)
		self->view.fail_above = NAN;
	if (!self->has_limit && self->view.format == LODE_VIEW_TEXT)
		self->view.limit = DEFAULT_LIMIT;
	return true;
}

/* The comparisons, in the order of the arguments. */
typedef struct {
	const LodeProfile *base;
	GPtrArray *comparisons; /* LodeComparison */
	GPtrArray *diagnoses;   /* LodeDiagnoses, the base's first; none where not wanted */
	GPtrArray *pairs;       /* LodeComparedDiagnoses */
	GArray *files;          /* LodeComparedFile */
} Compared;

static void compared_clear(Compared *self)
{
	g_clear_pointer(&self->files, g_array_unref);
	g_clear_pointer(&self->pairs, g_ptr_array_unref);
	g_clear_pointer(&self->diagnoses, g_ptr_array_unref);
	g_clear_pointer(&self->comparisons, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Compared, compared_clear)

/* The diagnoses of the base and of `file`, side by side. */
static void compare_diagnoses(Compared *self, const Options *options, LodeComparedFile *file)
{
	const LodeProfile *const both[] = {self->base, file->profile};
	const LodeDiagnoses *diagnoses[2];

	/* With the smaller ones: what is small on one side is not gone. */
	for (int side = self->diagnoses->len > 0; side < 2; side++) {
		LodeDiagnoses *made = lode_diagnose(both[side], NULL,
			lode_profile_find_event(both[side], file->comparison->weight),
			options->comparing.own);
		lode_diagnoses_join(made);
		g_ptr_array_add(self->diagnoses, made);
	}
	diagnoses[0] = g_ptr_array_index(self->diagnoses, 0);
	diagnoses[1] = g_ptr_array_index(self->diagnoses, self->diagnoses->len - 1);
	LodeComparedDiagnoses *pairs = lode_compared_diagnoses_new(diagnoses, file->comparison);
	g_ptr_array_add(self->pairs, pairs);
	file->diagnoses = pairs;
}

static bool compare_all(Compared *self, LodeAsking *asking, const Options *options, GError **error)
{
	const LodeComparisonOptions *comparing = &options->comparing;
	const LodeProfileChoice choice = {
		.part = options->part, .has_memory = true, .has_stacks = true};

	self->comparisons = g_ptr_array_new_with_free_func((GDestroyNotify)lode_comparison_free);
	self->diagnoses = g_ptr_array_new_with_free_func((GDestroyNotify)lode_diagnoses_free);
	self->pairs = g_ptr_array_new_with_free_func((GDestroyNotify)lode_compared_diagnoses_free);
	self->files = g_array_new(FALSE, FALSE, sizeof(LodeComparedFile));
	for (unsigned i = 0; asking->paths[i] != NULL; i++) {
		const LodeProfile *profile = asking->asker->profile(asking, i, &choice, error);
		if (profile == NULL)
			return false;
		if (i == 0) {
			self->base = profile;
			continue;
		}
		const LodeProfile *const both[] = {self->base, profile};
		LodeComparison *comparison = lode_comparison_new(
			both, comparing, asking->progress, error);
		if (comparison == NULL) {
			g_prefix_error(error, "%s and %s: ", asking->names[0], asking->names[i]);
			return false;
		}
		LodeComparedFile file = {profile, asking->names[i], comparison, NULL};
		g_ptr_array_add(self->comparisons, comparison);
		if (options->has_diagnoses && self->base->part == NULL)
			compare_diagnoses(self, options, &file);
		g_array_append_val(self->files, file);
	}
	return true;
}

/* --fail-above: one line for each row that is slower. */
static void report_slower(
	LodeAsking *asking, const Compared *compared, const LodeComparisonViewOptions *view)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);
	const LodeComparedFile *files = (const LodeComparedFile *)(void *)compared->files->data;

	if (lode_comparison_write_slower(compared->base, files, compared->files->len, view, lines) >
		0)
		asking->status = LODE_EXIT_CHECKED;
	fclose(lines);
	g_auto(GStrv) each = g_strsplit(text, "\n", -1);
	for (size_t i = 0; each[i] != NULL && *each[i] != '\0'; i++)
		lode_asking_note(asking, "%s", each[i]);
	free(text);
}

/* "x.lode.old"; that of a link is beside its file. The caller frees it. */
static char *old_of(const char *path)
{
	g_autofree char *file = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? realpath(path, NULL)
	                                                                  : NULL;

	return g_strconcat(file != NULL ? file : path, LODE_OLD_PROFILE_SUFFIX, NULL);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* A profile of this folder, and when it was written. */
typedef struct {
	char *name; /* NULL: none */
	struct timespec time;
} Newest;

/* Keeps the newest; of two written at the same time, the first by name. */
static void note_profile(Newest *self, const char *name, const struct timespec *time)
{
	if (self->name != NULL && !is_later(time, &self->time) &&
		(is_later(&self->time, time) || strcmp(name, self->name) > 0))
		return;
	g_free(self->name);
	*self = (Newest){g_strdup(name), *time};
}

/* The profile of this folder that was written last, among those that have an old one; NULL: none.
 * `out_other`: one that was written later, but has none; else NULL. The caller frees both. */
static char *find_newest(char **out_other)
{
	g_autoptr(GDir) folder = g_dir_open(".", 0, NULL);
	Newest newest = {0}, without = {0};
	const char *name;

	while (folder != NULL && (name = g_dir_read_name(folder)) != NULL) {
		g_autofree char *old = old_of(name);
		struct stat status;
		if (*name == '.' || !g_str_has_suffix(name, ".lode") || stat(name, &status) != 0)
			continue;
		note_profile(g_file_test(old, G_FILE_TEST_EXISTS) ? &newest : &without, name,
			&status.st_mtim);
	}
	bool is_other = without.name != NULL &&
	                (newest.name == NULL || is_later(&without.time, &newest.time));
	if (!is_other)
		g_clear_pointer(&without.name, g_free);
	*out_other = without.name;
	return newest.name;
}

/* One profile is compared with the old one beside it; none: the newest is. The caller frees both
 * names. */
static bool find_old_and_new(
	LodeAsking *asking, const char *only, char **out_old, char **out_new, GError **error)
{
	g_autofree char *other = NULL;

	*out_new = only != NULL ? g_strdup(only) : find_newest(&other);
	if (*out_new == NULL && other != NULL)
		return lode_parameter_refuse(error,
			"%s is the only recording of its program in this folder: run 'lode run' "
			"again, which keeps it as %s" LODE_OLD_PROFILE_SUFFIX
			", or name two profiles: BASE.lode NEW.lode",
			other, other);
	if (*out_new == NULL)
		return lode_parameter_refuse(error,
			"no profile in this folder has an old one beside it: when 'lode run' "
			"writes NAME.lode again, it keeps the one before as NAME.lode.old; any two "
			"profiles can be named: BASE.lode NEW.lode");
	if (other != NULL)
		lode_asking_note(asking,
			"%s is newer than %s, but has no old one to compare it with", other,
			*out_new);
	*out_old = old_of(*out_new);
	if (g_file_test(*out_old, G_FILE_TEST_EXISTS))
		return true;
	return lode_parameter_refuse(error,
		"%s does not exist: when 'lode run' writes a profile again, it keeps the one "
		"before under that name; any two profiles can be named: BASE.lode NEW.lode",
		*out_old);
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	g_autofree char *old = NULL, *new = NULL;
	g_auto(Compared) compared = {0};

	if ((asking->paths[0] == NULL || asking->paths[1] == NULL) &&
		!find_old_and_new(asking, asking->paths[0], &old, &new, error))
		return false;
	const char *const both[] = {old, new, NULL};
	if (new != NULL)
		asking->paths = asking->names = both;
	if (!check_options(self, error) || !compare_all(&compared, asking, self, error))
		return false;
	FILE *out = lode_asking_begin(asking, NULL, error);
	if (out == NULL)
		return false;
	self->view.terminal = asking->terminal;
	self->view.terminal.has_full_names = self->has_full_names;
	self->view.base_path = asking->names[0];
	self->view.own = self->comparing.own;
	const LodeComparedFile *files = (const LodeComparedFile *)(void *)compared.files->data;
	if (!lode_comparison_write(
		    compared.base, files, compared.files->len, &self->view, out, error))
		return false;
	if (self->has_fail_above)
		report_slower(asking, &compared, &self->view);
	return lode_asking_end(asking, error);
}

const LodeVerb lode_question_diff = {
	.name = "diff",
	.takes_many = true,
	.arguments = "[BASE.lode] [NEW.lode [MORE.lode…]]",
	.summary = "compare profiles: what got slower or faster, and why",
	.description =
		"Shows the processor time of both, and what changed: diagnoses, functions, source "
		"lines, and the\nfindings, which are fitted with the same patterns in both; with "
		"--by also "
		"mined sequences.\nWhere executions were counted, a change is divided into being "
		"executed more often and\neach execution costing more. Changes that chance in the "
		"samples explains are not listed.\n"
		"Further profiles are compared with the base, too. One profile alone is compared "
		"with\nthe one that 'lode run' has replaced by it, NEW.lode.old; without any, the "
		"newest of\nthis folder is that has such an old one.\n"
		"\n"
		"Functions are matched by name, also where a type in it changed, and those that "
		"were "
		"renamed\nby their code.\n"
		"\n"
		"Examples:\n"
		"  lode diff                                    the last 'lode run' and the one "
		"before\n"
		"  lode diff old.lode new.lode\n"
		"  lode diff O2.lode O3.lode clang.lode --by functions\n"
		"  lode diff old.lode new.lode --normalise handle_request\n"
		"  lode diff old.lode new.lode --fail-above 5   status 3 for a CI job",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};

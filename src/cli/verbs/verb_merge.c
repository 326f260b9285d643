/* SPDX-License-Identifier: MIT */
/* lode merge: several profiles as one, and a part of one that was merged. */
#include "analyses/merge/profile_merge.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"

#include <stdio.h>
#include <string.h>

typedef struct {
	LodeMergeOptions merging;
	const char *output;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, output, PROFILE), .value = "FILE",
		.summary = "the profile to write; an existing one is renamed to FILE.old"},
	{"origin", LODE_TEXTS(Options, merging.origins), .value = "GLOB",
		.summary = "take only origins whose name or host matches, such as 'web*'; may be "
			   "repeated"},
	{"same-paths", LODE_FLAG(Options, merging.same_paths),
		.summary = "take files without a build-id for the same where their paths are"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static void free_profile(void *profile)
{
	lode_profile_free(profile);
}

/* A merged profile keeps its origins; data addresses are not read. */
static GPtrArray *read_profiles(char **paths, const LodeProgress *progress, GError **error)
{
	g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(free_profile);

	for (size_t i = 0; paths[i] != NULL; i++) {
		LodeProfile *profile = lode_profile_store_read_with_origins(
			paths[i], progress, error);
		if (profile == NULL)
			return NULL;
		g_ptr_array_add(profiles, profile);
	}
	return g_steal_pointer(&profiles);
}

/* "runs/web1.lode": web1 */
static char *origin_name(const char *path)
{
	char *name = g_path_get_basename(path);

	if (g_str_has_suffix(name, ".lode") && name[0] != '.')
		name[strlen(name) - strlen(".lode")] = '\0';
	return name;
}

static LodeProfile *merge(char **paths, const GPtrArray *profiles, const LodeMergeOptions *merging,
	const LodeProgress *progress, GError **error)
{
	g_autofree LodeMergeSource *sources = g_new(LodeMergeSource, profiles->len);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < profiles->len; i++) {
		g_ptr_array_add(names, origin_name(paths[i]));
		sources[i] = (LodeMergeSource){profiles->pdata[i], names->pdata[i], paths[i]};
	}
	return lode_profile_merge(sources, profiles->len, merging, progress, error);
}

/* Notes why there are no call stacks although a profile had them. */
static void warn_of_stacks(char **paths, const GPtrArray *profiles, const LodeProfile *merged)
{
	const char *without = NULL;
	bool has_any = false;

	for (guint i = 0; i < profiles->len; i++) {
		const LodeProfile *profile = profiles->pdata[i];
		has_any |= profile->stacks != NULL && profile->stacks->has_chains;
		if (without == NULL && !lode_profile_merge_has_stacks(profile))
			without = paths[i];
	}
	if (!has_any || (merged->stacks != NULL && merged->stacks->has_chains))
		return;
	lode_display_line(stderr, "lode merge: call stacks are left out: %s%s",
		without != NULL ? without : "they are not known by origin",
		without != NULL ? " has none" : "");
}

static void write_summary(const LodeProfile *profile, const char *path)
{
	lode_display_line(stdout, "%s: %s instruction%s, %s origin%s", path,
		LODE_COUNT_TEXT(profile->code.instructions->len),
		profile->code.instructions->len == 1 ? "" : "s",
		LODE_COUNT_TEXT(profile->origins->len), profile->origins->len == 1 ? "" : "s");
}

static bool check_usage(const Options *given, char **arguments, GError **error)
{
	const char *message = arguments[0] == NULL
	                              ? "the names of profiles are missing, such as a.lode b.lode"
	                      : given->output == NULL
	                              ? "-o is missing: the profile to write, such as -o all.lode"
	                              : NULL;

	if (message != NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return message == NULL && lode_profile_store_can_keep_old(given->output, error);
}

static int run(void *options, char **arguments, GError **error)
{
	const Options *given = options;

	if (!check_usage(given, arguments, error))
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(GPtrArray) profiles = read_profiles(arguments, &screen.progress, error);
	if (profiles == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeProfile)
		merged = merge(arguments, profiles, &given->merging, &screen.progress, error);
	if (merged == NULL ||
		!lode_profile_store_write(given->output, merged, &screen.progress, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	warn_of_stacks(arguments, profiles, merged);
	write_summary(merged, given->output);
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_merge = {
	.name = "merge",
	.arguments = "PROFILE.lode…",
	.summary = "add up profiles of several runs or machines",
	.description = "Executions and costs of the same instruction of the same file are added; "
		       "files are "
		       "the same\nif their build-ids are. Each profile stays as an origin, named "
		       "after its "
		       "file, which can be\ntaken out again. Instructions have the attribute "
		       "origin:NAME of "
		       "those that executed them.\nCall stacks are kept if all profiles with "
		       "samples have them.\nData addresses and mining runs stay in the "
		       "single profiles.\n"
		       "\n"
		       "Examples:\n"
		       "  lode merge web1.lode web2.lode db.lode -o all.lode\n"
		       "  lode mine all.lode --attributes op,kind,mem,ev,origin\n"
		       "  lode merge all.lode --origin 'web*' -o web.lode",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};

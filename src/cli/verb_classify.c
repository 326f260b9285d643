/* SPDX-License-Identifier: MIT */
/* lode classify: which known workloads a profile is, and what of it is none of them. */
#include "analyses/signatures/classification.h"
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "sources/signature_file.h"
#include "store/profile_store.h"
#include "views/classification_view.h"

#include <string.h>

static struct {
	char *signatures, *format;
} given;

static const GOptionEntry options[] = {
	{"signatures", 0, 0, G_OPTION_ARG_FILENAME, &given.signatures,
		"the directory with the signatures (*.sig)", "DIR"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	G_OPTION_ENTRY_NULL,
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Paths of the signatures of a directory, in the order of their names. */
static GPtrArray *list_signatures(const char *directory, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) reason = NULL;
	g_autoptr(GDir) listing = g_dir_open(directory, 0, &reason);
	const char *name;

	if (listing == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "--signatures: %s", reason->message);
		return NULL;
	}
	while ((name = g_dir_read_name(listing)) != NULL)
		if (g_str_has_suffix(name, ".sig"))
			g_ptr_array_add(paths, g_build_filename(directory, name, NULL));
	g_ptr_array_sort(paths, compare_texts);
	if (paths->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s: no signature (*.sig); lode signature makes one", directory);
		return NULL;
	}
	return g_steal_pointer(&paths);
}

static GPtrArray *read_signatures(const char *directory, GError **error)
{
	g_autoptr(GPtrArray) paths = list_signatures(directory, error);
	g_autoptr(GPtrArray)
		signatures = g_ptr_array_new_with_free_func((GDestroyNotify)lode_signature_free);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; paths != NULL && i < paths->len; i++) {
		const char *path = g_ptr_array_index(paths, i);
		LodeSignature *signature = lode_signature_file_read(path, error);
		if (signature == NULL)
			return NULL;
		g_ptr_array_add(signatures, signature);
		const char *other = g_hash_table_lookup(names, signature->name);
		if (other != NULL) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s: the name '%s' is also that of %s", path, signature->name,
				other);
			return NULL;
		}
		g_hash_table_insert(names, signature->name, (char *)path);
	}
	return paths != NULL ? g_steal_pointer(&signatures) : NULL;
}

static bool parse_options(char **arguments, LodeClassificationViewOptions *view, GError **error)
{
	view->terminal = lode_terminal_of(stdout);
	view->profile_path = arguments[0];
	if (!lode_options_take_one(arguments, "PROFILE.lode", error))
		return false;
	if (given.signatures == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--signatures is missing: the directory with the signatures");
		return false;
	}
	if (given.format != NULL && !lode_view_format_from_text(given.format, &view->format)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--format: '%s' is not text, json or csv", given.format);
		return false;
	}
	return true;
}

static int run(char **arguments, GError **error)
{
	LodeClassificationViewOptions view = {0};

	if (!parse_options(arguments, &view, error))
		return LODE_EXIT_USAGE;
	g_autoptr(GPtrArray) signatures = read_signatures(given.signatures, error);
	if (signatures == NULL)
		return LODE_EXIT_FAILED;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read(arguments[0], &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeClassification)
		found = lode_classify(profile, signatures, &screen.progress, error);
	if (found == NULL)
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	return lode_classification_view_write(profile, signatures, found, &view, stdout, error)
	               ? LODE_EXIT_OK
	               : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_classify = {
	.name = "classify",
	.arguments = "PROFILE.lode",
	.summary = "say which known workloads a profile is, and what is left over",
	.description =
		"Compares the sequences of instructions that the profile executes with signatures "
		"of known workloads: the distance to each, how much of the profile it explains, "
		"and the sequences that speak most for the nearest and against it. A profile that "
		"is farther from all of them than their own inputs vary is none of these, or a "
		"mixture: the shares of the executions that belong to each signature are fitted. "
		"What no signature explains is the rest, with the functions where it is.\n"
		"\n"
		"Examples:\n"
		"  lode classify x.lode --signatures known\n"
		"  lode classify x.lode --signatures known --format json",
	.options = options,
	.run = run,
};

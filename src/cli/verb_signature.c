/* SPDX-License-Identifier: MIT */
/* lode signature: what characterises the work of some profiles, as a text file. */
#include "analyses/signatures/signature_builder.h"
#include "base/error.h"
#include "base/output_file.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "sources/signature_file.h"
#include "store/profile_store.h"

static struct {
	char *name, *output, *min_support, *attributes, *units;
} given;

static const GOptionEntry options[] = {
	{"name", 0, 0, G_OPTION_ARG_STRING, &given.name, "the name of the workload", "NAME"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the signature to write; an existing one is replaced (default: NAME.sig)", "FILE"},
	{"min-support", 0, 0, G_OPTION_ARG_STRING, &given.min_support,
		"list sequences with this share of the executions or more (default: 0.01%)",
		"SHARE"},
	{"attributes", 0, 0, G_OPTION_ARG_STRING, &given.attributes,
		"namespaces of the attributes in sequences of attributes (default: kind,mem)",
		"LIST"},
	{"units", 0, 0, G_OPTION_ARG_STRING, &given.units,
		"units of work that each of the profiles did, such as requests: for 'lode classify "
		"--capacity'",
		"N"},
	G_OPTION_ENTRY_NULL,
};

typedef struct {
	const char *attributes;
	double min_support, units;
} Options;

static bool check_name(const char *name, GError **error)
{
	bool is_clean = name != NULL && *name != '\0' && g_utf8_validate(name, -1, NULL);

	for (const char *at = name; is_clean && *at != '\0'; at++)
		is_clean = !g_ascii_iscntrl(*at);
	if (!is_clean)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			name == NULL ? "--name is missing: the name of the workload"
				     : "--name: not a name of one line");
	return is_clean;
}

static bool parse_options(char **arguments, Options *out, GError **error)
{
	*out = (Options){.attributes = "kind,mem", .min_support = 1e-4};
	if (arguments[0] == NULL)
		return lode_option_refuse(
			error, "PROFILE.lode is missing: one or more profiles of one workload");
	if (!check_name(given.name, error) ||
		!lode_option_share("--min-support", given.min_support, &out->min_support, error) ||
		!lode_option_number("--units", given.units, &out->units, error))
		return false;
	if (!(out->min_support >= 1e-9) || (given.units != NULL && !(out->units > 0)))
		return lode_option_refuse(error, "%s must be above 0",
			given.units != NULL && !(out->units > 0) ? "--units" : "--min-support");
	if (given.attributes != NULL)
		out->attributes = given.attributes;
	return true;
}

/* The same profile twice would make the variance too small. */
static bool check_new(
	GHashTable *known, const LodeProfile *profile, const char *path, GError **error)
{
	const char *other = g_hash_table_lookup(known, profile->file.content);

	if (profile->file.content[0] == '\0')
		return true;
	if (other != NULL)
		return lode_option_refuse(
			error, "%s: the same profile as %s: each counts once", path, other);
	g_hash_table_insert(known, g_strdup(profile->file.content), g_strdup(path));
	return true;
}

static LodeSignature *build(
	char **paths, const Options *wanted, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeSignatureBuilder) builder = lode_signature_builder_new(wanted->attributes);
	g_autoptr(GHashTable)
		known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (; *paths != NULL; paths++) {
		g_autoptr(LodeProfile) profile = lode_profile_store_read(*paths, progress, error);
		if (profile == NULL || !check_new(known, profile, *paths, error))
			return NULL;
		if (!lode_signature_builder_add(builder, profile, error)) {
			g_prefix_error(error, "%s: ", *paths);
			return NULL;
		}
	}
	return lode_signature_builder_finish(
		builder, given.name, wanted->min_support, wanted->units, error);
}

static int run(char **arguments, GError **error)
{
	Options wanted;

	if (!parse_options(arguments, &wanted, error))
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeSignature) signature = build(arguments, &wanted, &screen.progress, error);
	if (signature == NULL)
		return LODE_EXIT_FAILED;
	g_autofree char *usual = g_strdelimit(g_strconcat(given.name, ".sig", NULL), "/ ", '-');
	g_autoptr(LodeOutputFile)
		file = lode_output_file_open(given.output != NULL ? given.output : usual, error);
	g_autoptr(GString) text = g_string_new(NULL);
	if (file == NULL)
		return LODE_EXIT_FAILED;
	lode_signature_file_append(signature, text);
	lode_terminal_progress_hide(&screen);
	fwrite(text->str, 1, text->len, lode_output_file_stream(file));
	return lode_output_file_commit(file, error) ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_signature = {
	.name = "signature",
	.arguments = "PROFILE.lode…",
	.summary = "write what characterises the work of profiles, as text",
	.description =
		"A signature has the frequent sequences of one to four instructions, by opcodes "
		"and "
		"by attributes, each with its share of the executions: the mean over the profiles "
		"and the standard deviation. Profiles of one workload with different inputs make "
		"the best signature, since 'lode classify' takes from their variance what may "
		"still be the same work.\n"
		"\n"
		"The profiles must all have counted executions ('lode run --count') or all "
		"inferred ones.\n"
		"\n"
		"Examples:\n"
		"  lode signature gzip1.lode gzip2.lode gzip3.lode --name gzip -o known/gzip.sig\n"
		"  lode signature load.lode --name server --units 5000 -o known/server.sig",
	.old_options = options,
	.old_run = run,
};

/* SPDX-License-Identifier: MIT */
/* lode signature: writes the sequences that characterise the work of some profiles as a text file.
 */
#include "analyses/signatures/signature_builder.h"
#include "base/error.h"
#include "base/files/output_file.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "model/profile.h"
#include "sources/signature_file.h"
#include "store/profile_store.h"

typedef struct {
	const char *name, *output, *attributes;
	double min_support, units;
	bool has_units;
} Options;

static const LodeParameter rows[] = {
	{"name", LODE_TEXT(Options, name), .value = "NAME", .summary = "the name of the workload"},
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE",
		.summary = "the signature to write; an existing one is replaced (default: "
			   "NAME.sig)"},
	{"min-support", LODE_SHARE(Options, min_support), .value = "SHARE", .standard = "0.0001",
		.summary = "list sequences with this share of the executions or more (default: "
			   "0.01%)"},
	{"attributes", LODE_TEXT(Options, attributes), .value = "LIST", .standard = "kind,mem",
		.summary = "namespaces of the attributes in sequences of attributes (default: "
			   "kind,mem)"},
	{"units", LODE_NUMBER(Options, units), .given = offsetof(Options, has_units), .value = "N",
		.summary = "units of work that each of the profiles did, such as requests: for "
			   "'lode classify --capacity'"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static bool check_name(const char *name, GError **error)
{
	bool is_clean = name != NULL && g_utf8_validate(name, -1, NULL);

	for (const char *at = name; is_clean && *at != '\0'; at++)
		is_clean = !g_ascii_iscntrl(*at);
	if (!is_clean)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			name == NULL ? "--name is missing: the name of the workload"
				     : "--name: not a name of one line");
	return is_clean;
}

static bool check(const Options *self, char *const *paths, GError **error)
{
	if (paths[0] == NULL)
		return lode_parameter_refuse(
			error, "the names of profiles are missing: one or more of one workload");
	if (!check_name(self->name, error))
		return false;
	if (self->has_units && !(self->units > 0))
		return lode_parameter_refuse(error, "--units must be above 0");
	if (!(self->min_support >= 1e-9))
		return lode_parameter_refuse(error, "--min-support must be above 0");
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
		return lode_parameter_refuse(
			error, "%s: the same profile as %s: each counts once", path, other);
	g_hash_table_insert(known, g_strdup(profile->file.content), g_strdup(path));
	return true;
}

static LodeSignature *build(
	char **paths, const Options *given, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeSignatureBuilder) builder = lode_signature_builder_new(given->attributes);
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
		builder, given->name, given->min_support, given->units, error);
}

static int run(void *options, char **arguments, GError **error)
{
	const Options *given = options;

	if (!check(given, arguments, error))
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeSignature) signature = build(arguments, given, &screen.progress, error);
	if (signature == NULL)
		return LODE_EXIT_FAILED;
	g_autofree char *usual = g_strdelimit(g_strconcat(given->name, ".sig", NULL), "/ ", '-');
	g_autoptr(LodeOutputFile)
		file = lode_output_file_open(given->output != NULL ? given->output : usual, error);
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
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};

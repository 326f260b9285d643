/* SPDX-License-Identifier: MIT */
#include "cli/terminal_asker.h"

#include "base/error.h"
#include "cli/options/mining_options.h"
#include "cli/terminal_progress.h"
#include "model/profile.h"
#include "questions/parts/mining.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"
#include "views/form/shell_word.h"

#include <string.h>

/* Data that an answer uses lives until the answer is written. */
typedef struct {
	LodeAsking asking;
	const char *verb;
	LodeTerminalProgress *screen; /* NULL: the answer goes to a stream, and notes after it */
	GString *notes;               /* then */
	GPtrArray *profiles;          /* LodeProfile, by the file's number; NULL: not read yet */
	LodeMiningRun *run;
	GPtrArray *runs;
	char *noted; /* of the profile read last; NULL */
} Terminal;

static Terminal *terminal_of(LodeAsking *asking)
{
	return (Terminal *)(void *)((char *)asking - offsetof(Terminal, asking));
}

static LodeProfile *read_profile(
	Terminal *self, unsigned n, const LodeProfileChoice *choice, GError **error)
{
	g_autofree char *note = NULL;
	LodeProfile *profile = lode_profile_choice_read(choice, self->asking.paths[n],
		self->asking.names[n], self->asking.progress, &note, error);

	if (note != NULL && g_strcmp0(note, self->noted) != 0)
		lode_asking_note(&self->asking, "%s", note);
	g_free(self->noted);
	self->noted = g_steal_pointer(&note);
	return profile;
}

static void set_profile(Terminal *self, unsigned n, LodeProfile *profile)
{
	if (self->profiles->len <= n)
		g_ptr_array_set_size(self->profiles, (int)n + 1);
	lode_profile_free(self->profiles->pdata[n]);
	self->profiles->pdata[n] = profile;
}

static const LodeProfile *give_profile(
	LodeAsking *asking, unsigned n, const LodeProfileChoice *choice, GError **error)
{
	Terminal *self = terminal_of(asking);
	LodeProfile *profile = read_profile(self, n, choice, error);

	if (profile != NULL)
		set_profile(self, n, profile);
	return profile;
}

/* A run holds for the origins that it was mined from. Without one, it is empty. */
static bool read_run(
	Terminal *self, const LodeRunChoice *choice, bool *out_has_none, GError **error)
{
	g_autoptr(GError) missing = NULL;
	LodeMiningParameters none;

	self->run = lode_profile_store_read_run(self->asking.paths[0], choice->run, &missing);
	*out_has_none = self->run == NULL && choice->run == NULL &&
	                g_error_matches(missing, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	if (self->run != NULL)
		return true;
	if (!*out_has_none) {
		g_propagate_error(error, g_steal_pointer(&missing));
		return false;
	}
	lode_mining_parameters_init(&none);
	self->run = lode_mining_run_new(choice->can_lack_run ? "none" : "main", &none);
	return true;
}

static bool take_run(Terminal *self, LodeMiningRun *run)
{
	if (run == NULL)
		return false;
	lode_mining_run_free(self->run);
	self->run = run;
	return true;
}

/* For a profile without runs: mines what the answer needs, and does not store it. */
static bool mine_unmined(Terminal *self, const LodeRunChoice *choice, GError **error)
{
	const LodeProgress *progress = self->asking.progress;
	const LodeProfile *profile = self->profiles->pdata[0];
	g_autofree char *word = lode_shell_word(self->asking.names[0]);

	if (!take_run(self,
		    lode_mine_part(profile, self->run, &choice->profile, false, progress, error)))
		return false;
	if (choice->wants_sequences(self->run, choice->options) &&
		!take_run(self,
			lode_mining_options_mine_rest(NULL, profile, self->run, progress, error)))
		return false;
	if (choice->profile.event != NULL || !lode_part_choice_is_whole(&choice->profile.part))
		return true;
	lode_asking_note(&self->asking,
		"note: mined for this answer and not kept; 'lode mine %s' keeps it in the profile",
		word);
	return true;
}

/* The run in the wanted form, from the stored one; NULL: an error. */
static LodeMiningRun *make_run(Terminal *self, const LodeRunChoice *choice, GError **error)
{
	bool has_sequences = choice->wants_sequences(self->run, choice->options);
	const LodeProfile *profile = self->profiles->pdata[0];

	/* A part is mined with its parameters, and the result is not stored. */
	if (lode_profile_choice_is_part(&choice->profile))
		return lode_mine_part(profile, self->run, &choice->profile, has_sequences,
			self->asking.progress, error);
	return lode_mining_options_mine_rest(
		self->asking.paths[0], profile, self->run, self->asking.progress, error);
}

static bool give_mined(
	LodeAsking *asking, const LodeRunChoice *choice, LodeMined *out_mined, GError **error)
{
	Terminal *self = terminal_of(asking);
	bool has_none;

	if (give_profile(asking, 0, &choice->profile, error) == NULL ||
		!read_run(self, choice, &has_none, error))
		return false;
	if (choice->profile.origins == NULL && self->run->parameters.origins != NULL) {
		LodeProfileChoice part = choice->profile;
		part.origins = self->run->parameters.origins;
		if (give_profile(asking, 0, &part, error) == NULL)
			return false;
	}
	bool is_unmined = self->run->parameters.only_findings &&
	                  choice->wants_sequences(self->run, choice->options);
	if (has_none ? !choice->can_lack_run && !mine_unmined(self, choice, error)
		     : (lode_profile_choice_is_part(&choice->profile) || is_unmined) &&
				!take_run(self, make_run(self, choice, error)))
		return false;
	*out_mined = (LodeMined){
		self->profiles->pdata[0], self->run, has_none && choice->can_lack_run};
	return true;
}

static GPtrArray *give_runs(LodeAsking *asking, GError **error)
{
	Terminal *self = terminal_of(asking);

	if (self->runs == NULL)
		self->runs = lode_profile_store_list_runs(asking->paths[0], error);
	return self->runs;
}

static const LodeProfile *give_trace(
	LodeAsking *asking, const LodeImportOptions *options, GError **error)
{
	LodeImportOptions import = *options;

	import.paths = asking->paths;
	import.n_paths = 1;
	LodeProfile *profile = lode_import(&import, asking->progress, error);
	if (profile != NULL)
		set_profile(terminal_of(asking), 0, profile);
	return profile;
}

/* There is only one question, so nothing is kept for later ones. */
static void *find_kept(LodeAsking *asking, const LodeKeptKind *kind, const char *key)
{
	(void)asking;
	(void)kind;
	(void)key;
	return NULL;
}

static void keep(LodeAsking *asking, const LodeKeptKind *kind, const char *key, void *what)
{
	(void)asking;
	(void)kind;
	(void)key;
	(void)what;
}

static void note(LodeAsking *asking, const char *text)
{
	Terminal *self = terminal_of(asking);

	if (self->notes != NULL) {
		g_string_append_printf(self->notes, "%s\n", text);
		return;
	}
	lode_terminal_progress_hide(self->screen);
	lode_display_line(stderr, "lode %s: %s", self->verb, text);
}

static const LodeAsker asker = {
	give_profile, give_mined, give_runs, give_trace, find_kept, keep, note};

static bool check_files(const LodeVerb *question, char **arguments, GError **error)
{
	return question->takes_many || lode_parameter_take_one(arguments,
					       question->takes_trace ? "packed trace" : "profile",
					       question->takes_trace ? "x.rps" : "x.lode", error);
}

static void terminal_clear(Terminal *self)
{
	lode_asking_clear(&self->asking);
	g_clear_pointer(&self->profiles, g_ptr_array_unref);
	g_clear_pointer(&self->run, lode_mining_run_free);
	g_clear_pointer(&self->runs, g_ptr_array_unref);
	g_clear_pointer(&self->noted, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Terminal, terminal_clear)

static Terminal terminal_of_files(const LodeVerb *question, char **arguments)
{
	return (Terminal){
		.asking = {.asker = &asker,
			.paths = (const char *const *)arguments,
			.names = (const char *const *)arguments},
		.verb = question->name,
		.profiles = g_ptr_array_new_with_free_func((GDestroyNotify)lode_profile_free),
	};
}

static int ask(
	Terminal *self, const LodeVerb *question, void *options, char **arguments, GError **error)
{
	if (!check_files(question, arguments, error))
		return LODE_EXIT_USAGE;
	return question->answer(&self->asking, options, error) ? self->asking.status
	                                                       : LODE_EXIT_FAILED;
}

int lode_terminal_ask(const LodeVerb *question, void *options, char **arguments, GError **error)
{
	g_auto(LodeTerminalProgress) screen;
	g_auto(Terminal) self = terminal_of_files(question, arguments);

	lode_terminal_progress_init(&screen);
	self.screen = &screen;
	self.asking.progress = &screen.progress;
	return ask(&self, question, options, arguments, error);
}

bool lode_terminal_ask_into(
	const LodeVerb *question, void *options, char **arguments, FILE *out, GError **error)
{
	g_autoptr(GString) notes = g_string_new(NULL);
	g_auto(Terminal) self = terminal_of_files(question, arguments);
	g_autoptr(GError) failed = NULL;

	self.notes = notes;
	self.asking.out = out;
	ask(&self, question, options, arguments, &failed);
	fputs(notes->str, out);
	if (failed == NULL)
		return true;
	g_propagate_error(error, g_steal_pointer(&failed));
	return false;
}

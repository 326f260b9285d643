/* SPDX-License-Identifier: MIT */
#include "questions/asking.h"

#include "analyses/memory/access_weights.h"
#include "analyses/merge/origin_choice.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "questions/parts/part_rows.h"
#include "store/profile_store.h"
#include "views/form/shell_word.h"

#include <gio/gio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void *ref_list(void *list)
{
	return g_array_ref(list);
}

static void unref_list(void *list)
{
	g_array_unref(list);
}

const LodeKeptKind lode_kept_list = {ref_list, unref_list};

FILE *lode_asking_begin(LodeAsking *self, const char *path, GError **error)
{
	if (self->out != NULL)
		return self->out;
	self->file = lode_output_file_open(path, error);
	if (self->file == NULL)
		return NULL;
	lode_progress_end(self->progress);
	self->out = lode_output_file_stream(self->file);
	self->terminal = lode_terminal_of(self->out);
	if (self->is_paged && self->terminal.width > 0)
		self->out = self->paged = open_memstream(&self->paged_text, &self->paged_size);
	return self->out;
}

/* NULL: none. The caller frees it. */
static char *find_pager(void)
{
	const char *command = g_getenv("LODE_PAGER");

	if (command == NULL)
		command = g_getenv("PAGER");
	if (command == NULL)
		return g_find_program_in_path("less");
	return command[0] != '\0' && strcmp(command, "cat") != 0 ? g_strdup(command) : NULL;
}

/* Shows text by the command of $LODE_PAGER, else of $PAGER, else by less where it is installed, and
 * waits for its end. As git does, it takes an empty command or "cat" for none, and gives less
 * LESS=FRX unless LESS is set, so that it ends by itself where the text fits the screen. False:
 * nothing was shown, and the caller prints. */
static bool show_in_pager(const char *text, size_t size)
{
	g_autofree char *command = find_pager();
	g_autoptr(GBytes) bytes = g_bytes_new_static(text, size);

	if (command == NULL)
		return false;
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE);
	g_subprocess_launcher_setenv(launcher, "LESS", "FRX", FALSE);
	g_autoptr(GSubprocess)
		pager = g_subprocess_launcher_spawn(launcher, NULL, "/bin/sh", "-c", command, NULL);
	if (pager == NULL)
		return false;
	/* Ctrl-C is for the pager, which must not lose its terminal. */
	signal(SIGINT, SIG_IGN);
	/* The user may leave it before the end of the text, which closes the pipe. */
	if (!g_subprocess_communicate(pager, bytes, NULL, NULL, NULL, NULL))
		g_subprocess_wait(pager, NULL, NULL);
	return true;
}

bool lode_asking_end(LodeAsking *self, GError **error)
{
	if (self->file == NULL)
		return true;
	if (self->paged != NULL) {
		FILE *out = lode_output_file_stream(self->file);
		fflush(self->paged);
		if (!show_in_pager(self->paged_text, self->paged_size))
			fwrite(self->paged_text, 1, self->paged_size, out);
	}
	return lode_output_file_commit(self->file, error);
}

void lode_asking_clear(LodeAsking *self)
{
	if (self->paged != NULL)
		fclose(self->paged);
	free(self->paged_text);
	lode_output_file_close(self->file);
}

bool lode_asking_write_file(
	const char *path, LodeAskedWrite write, const void *what, GError **error)
{
	g_autoptr(LodeOutputFile) file = lode_output_file_open(path, error);

	if (file == NULL)
		return false;
	if (!write(what, lode_output_file_stream(file), error)) {
		g_prefix_error(error, "%s: ", path);
		return false;
	}
	return lode_output_file_commit(file, error);
}

void lode_asking_note(LodeAsking *self, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	g_autofree char *text = g_strdup_vprintf(format, values);
	va_end(values);
	self->asker->note(self, text);
}

const LodeProfile *lode_asking_memory(
	LodeAsking *self, const LodeProfileChoice *choice, GError **error)
{
	const LodeProfile *profile = self->asker->profile(self, 0, choice, error);

	if (profile == NULL || profile->memory != NULL)
		return profile;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"%s: no data addresses were recorded; 'lode memory record -- PROGRAM' records them",
		self->names[0]);
	return NULL;
}

bool lode_asking_fail_stopped(GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

bool lode_source_folders_check(const char *const *folders, GError **error)
{
	for (; folders != NULL && *folders != NULL; folders++)
		if (!g_file_test(*folders, G_FILE_TEST_IS_DIR))
			return lode_parameter_refuse(
				error, "--source: '%s' is not a folder", *folders);
	return true;
}

char *lode_asking_key(
	const LodeAsking *self, const char *what, const char *const *names, bool are_others)
{
	GString *key = g_string_new(what);

	/* With their lengths, as a value may have line breaks. */
	for (guint i = 0; self->given != NULL && i < self->given->names->len; i++) {
		const char *name = self->given->names->pdata[i];
		const char *value = self->given->values->pdata[i];
		if (g_strv_contains(names, name) != are_others)
			g_string_append_printf(key, "\n%s=%zu:%s", name, strlen(value), value);
	}
	return g_string_free(key, FALSE);
}

static LodeProfile *read_origins(const LodeProfileChoice *self, const char *path, const char *name,
	const LodeProgress *progress, GError **error)
{
	if (self->origins == NULL)
		return (self->has_memory && self->has_stacks
				? lode_profile_store_read_with_memory_and_stacks
			: self->has_memory ? lode_profile_store_read_with_memory
			: self->has_stacks ? lode_profile_store_read_with_stacks
					   : lode_profile_store_read)(path, progress, error);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_origins(path, progress, error);
	if (profile == NULL)
		return NULL;
	if (lode_origin_choice_apply(profile, self->origins, error))
		return g_steal_pointer(&profile);
	g_prefix_error(error, "%s: ", name);
	return NULL;
}

/* The samples of the part. */
static LodeProfile *read_part(const LodeProfileChoice *self, const char *path, const char *name,
	const LodeProgress *progress, char **out_note, GError **error)
{
	g_autofree char *options = lode_part_options(&self->part);

	if (self->origins != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: %s needs the samples of the whole profile, and this run is of a part "
			"of it (--origin %s)",
			name, options, self->origins);
		return NULL;
	}
	g_autoptr(LodeProfile) profile = lode_profile_store_read_with_stacks(path, progress, error);
	if (profile == NULL)
		return NULL;
	if (!lode_part_choice_apply(profile, &self->part, progress, error)) {
		g_prefix_error(error, "%s: ", name);
		return NULL;
	}
	profile->part_options = lode_profile_intern(profile, options);
	*out_note = g_strdup(
		"note: how often code of a part was executed is estimated, by its share "
		"of each function's samples");
	return g_steal_pointer(&profile);
}

/* The weight without an instruction is known of each event, but by reason only of the profile's
 * own: it is divided in the same proportion. */
static void weigh_unresolved(LodeProfile *profile, uint32_t event)
{
	double resolved = 0, known = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		resolved += lode_profile_event_value(profile, event, i);
	for (guint i = 0; i < profile->unresolved->len; i++)
		known += LODE_AT(profile->unresolved, LodeUnresolved, i).weight;
	double all = MAX(lode_profile_event(profile, event)->total - resolved, 0);
	for (guint i = 0; known > 0 && i < profile->unresolved->len; i++)
		LODE_AT(profile->unresolved, LodeUnresolved, i).weight *= all / known;
}

static bool weigh_by_event(LodeProfile *profile, const char *name, GError **error)
{
	uint32_t event = lode_profile_find_weight(profile, name);
	g_autofree char *word = lode_shell_word(name);
	g_autofree char *options = g_strdup_printf("%s%s--weight %s",
		profile->part_options != NULL ? profile->part_options : "",
		profile->part_options != NULL ? " " : "", word);

	if (event == LODE_NONE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			strcmp(name, LODE_LATENCY_EVENT) != 0
				? "no event '%s'; 'lode info' lists them"
			: profile->waits != NULL
				? "no event '%s': no threads ran at the same time, so that it "
				  "would be the processor time; --weight clock is running and "
				  "waiting together, --weight waiting the latter alone"
				: "no event '%s': it needs a recording with context switches, of "
				  "threads that run at the same time",
			name);
		return false;
	}
	if (event != profile->code.weight_event)
		weigh_unresolved(profile, event);
	profile->code.weight_event = event;
	profile->part_options = lode_profile_intern(profile, options);
	return true;
}

/* Weighs samples by executed accesses instead of time. */
static bool weigh_accesses(LodeProfile *profile, char **out_note, GError **error)
{
	LodeAccessWeights weights;

	if (!lode_access_weights_apply(profile, &weights, error))
		return false;
	if (weights.unsampled > 0)
		*out_note = g_strdup_printf(
			"note: %s of the accesses are by instructions without a "
			"sample; they are in no row",
			LODE_SHARE_TEXT(weights.unsampled / weights.accesses));
	return true;
}

LodeProfile *lode_profile_choice_read(const LodeProfileChoice *self, const char *path,
	const char *name, const LodeProgress *progress, char **out_note, GError **error)
{
	g_autoptr(LodeProfile) profile = NULL;

	*out_note = NULL;
	profile = lode_part_choice_is_whole(&self->part)
	                  ? read_origins(self, path, name, progress, error)
	                  : read_part(self, path, name, progress, out_note, error);
	if (profile == NULL)
		return NULL;
	if (self->event != NULL && !weigh_by_event(profile, self->event, error)) {
		g_prefix_error(error, "%s: ", name);
		return NULL;
	}
	if (self->weight == NULL || profile->memory == NULL)
		return g_steal_pointer(&profile);
	bool is_weighed = strcmp(self->weight, "latency") == 0
	                          ? lode_latency_weights_apply(profile, error)
	                          : weigh_accesses(profile, out_note, error);
	if (is_weighed)
		return g_steal_pointer(&profile);
	g_prefix_error(error, "--weight %s: ", self->weight);
	return NULL;
}

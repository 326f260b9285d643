/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "base/arrays/sum_table.h"
#include "base/text/command_words.h"
#include "model/index.h"

#include <math.h>
#include <string.h>

/* No more processes at once than this are one after the other. */
static const double ONE_AT_A_TIME = 1.05;

enum { NAMED_COMMANDS = 8 };

/* What is saved without the repeats cannot be saved again side by side; what is left takes no
 * longer than its processes live. */
static void take_from_children(const LodeWaitDiagnosing *self, const LodeRepeats *repeats)
{
	const LodeWaitProcess *parent = lode_wait_process_at(self, repeats->parent);

	for (guint i = 0; i < self->bundles->len; i++) {
		LodeWaitBundle *bundle = g_ptr_array_index(self->bundles, i);
		const char *waits = lode_wait_foreign_parent(bundle->first);
		if (waits == NULL && bundle->first->thread_names->len > 0)
			waits = g_ptr_array_index(bundle->first->thread_names, 0);
		if (bundle->first->reason != LODE_WAIT_CHILD || waits == NULL ||
			g_strcmp0(waits, parent->name) != 0)
			continue;
		double left_ns = bundle->children.life_ns * bundle->children.processes;
		bundle->high = CLAMP(bundle->high - repeats->high_ns / self->waits->clock_ns, 0,
			left_ns / self->waits->clock_ns);
		bundle->low = isnan(bundle->low) ? bundle->low : fmin(bundle->low, bundle->high);
	}
}

static const char *name_or_unknown(const char *name)
{
	return name != NULL ? name : "(unknown)";
}

/* What a shell was given by -c, in place of the shell with it. The caller frees it. */
static char *command_text(const char *command)
{
	g_auto(GStrv) words = NULL;
	int n = 0;

	if (!g_shell_parse_argv(command, &n, &words, NULL) || n != 3 || strcmp(words[1], "-c") != 0)
		return g_strdup(command);
	return g_strdup(lode_is_shell(words[0]) ? words[2] : command);
}

/* "sh ×240, id ×120": those of one program together. The caller frees it. */
static char *programs_text(const LodeWaitDiagnosing *self, const LodeRepeats *repeats)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < repeats->commands->len; i++) {
		const LodeRepeatedCommand *one = &LODE_AT(
			repeats->commands, LodeRepeatedCommand, i);
		char *name = (char *)name_or_unknown(lode_wait_process_at(self, one->first)->name);
		if (!g_hash_table_contains(sums, name))
			g_ptr_array_add(names, name);
		*lode_sum_at(sums, name) += one->processes;
	}
	for (guint i = 0; i < MIN(names->len, LODE_WAIT_NAMED_OBJECTS); i++)
		g_string_append_printf(text, "%s%s ×%.0f", i > 0 ? ", " : "",
			(const char *)names->pdata[i],
			*(const double *)g_hash_table_lookup(sums, names->pdata[i]));
	if (names->len > LODE_WAIT_NAMED_OBJECTS)
		g_string_append_printf(text, ", %u more", names->len - LODE_WAIT_NAMED_OBJECTS);
	return g_string_free(text, FALSE);
}

static void add_commands(
	const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis, const LodeRepeats *repeats)
{
	const char *by = name_or_unknown(lode_wait_process_at(self, repeats->parent)->name);
	guint known = 0, alike = 0, n = repeats->commands->len;

	for (guint i = 0; i < n; i++) {
		const LodeRepeatedCommand *one = &LODE_AT(
			repeats->commands, LodeRepeatedCommand, i);
		g_autofree char *text = command_text(
			lode_wait_process_at(self, one->first)->command);
		if (i < NAMED_COMMANDS)
			lode_diagnosis_add_evidence(diagnosis, one->processes, "processes",
				"%s ran %s%.0f times: %s", by, one->is_exact ? "" : "about ",
				one->processes, text);
		known += one->same;
		alike += (guint)one->processes;
	}
	if (n > NAMED_COMMANDS)
		lode_diagnosis_add_evidence(diagnosis, n, "commands", "%u commands in all", n);
	if (known < alike)
		lode_diagnosis_add_evidence(diagnosis, known, "processes",
			"the arguments of %u of these %u were seen; the others are processes of "
			"the same program that started the same ones",
			known, alike);
	const LodeWaitProcess *first = lode_wait_process_at(
		self, LODE_AT(repeats->commands, LodeRepeatedCommand, 0).first);
	lode_diagnosis_add_evidence(diagnosis, repeats->low_ns / 1e9, "s",
		"in %s, with the same environment and input (%s); %u processes of %s in all",
		first->directory, first->input, repeats->started, by);
}

void lode_wait_repeats_add(
	const LodeWaitDiagnosing *self, LodeDiagnoses *out, const LodeRepeats *repeats)
{
	const char *by = name_or_unknown(lode_wait_process_at(self, repeats->parent)->name);
	LodeCauseWords words = {0};

	lode_cause_rules_add_words(self->rules, "wait:child", &words);
	lode_cause_rules_add_words(self->rules, "wait-child:repeated", &words);
	g_autofree char *of_parent = g_strconcat("wait-parent:", by, NULL);
	lode_cause_rules_add_words(self->rules, of_parent, &words);
	take_from_children(self, repeats);
	const LodeCauseRule *rule = lode_cause_rules_match(self->rules, &words, NULL, 0, NULL, 0);
	if (rule == NULL || rule->cause == NULL)
		return;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_WAIT);
	diagnosis->object = programs_text(self, repeats);
	diagnosis->title = g_strdup_printf("%s: %s", rule->title, diagnosis->object);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause, by);
	diagnosis->clock_high = MIN(repeats->high_ns / self->waits->clock_ns, 1);
	diagnosis->clock_low = repeats->at_once <= ONE_AT_A_TIME
	                               ? MIN(repeats->low_ns / self->waits->clock_ns,
						 diagnosis->clock_high)
	                               : (double)NAN;
	diagnosis->places = repeats->commands->len;
	diagnosis->functions = 1;
	const LodeWaitPlace place = lode_wait_start_of(
		self, LODE_AT(repeats->commands, LodeRepeatedCommand, 0).first);
	diagnosis->site.function = g_strdup(place.function);
	diagnosis->site.file = g_strdup(place.file);
	diagnosis->site.line = place.line;
	add_commands(self, diagnosis, repeats);
	g_ptr_array_add(out->diagnoses, diagnosis);
}

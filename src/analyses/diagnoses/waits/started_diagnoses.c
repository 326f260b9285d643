/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "model/process.h"

#include <math.h>
#include <string.h>

/* The program that executes it: a script's is its interpreter. NULL: not known; the caller frees
 * it. */
static char *interpreter_of(const LodeWaitProcess *process)
{
	g_auto(GStrv) words = process->command != NULL ? g_strsplit(process->command, " ", 2)
	                                               : NULL;

	return words != NULL && words[0] != NULL ? g_path_get_basename(words[0])
	                                         : g_strdup(process->name);
}

void lode_wait_add_words_of_children(const LodeWaitDiagnosing *self, const LodeChildren *children,
	const LodeWaitProcess *parent, LodeCauseWords *words)
{
	g_autofree char *by = parent != NULL ? interpreter_of(parent) : NULL;
	g_autofree char *of_parent = g_strconcat("wait-parent:", by, NULL);
	g_autofree char *of_child = g_strconcat("wait-for:", children->name, NULL);

	lode_cause_rules_add_words(self->rules, of_parent, words);
	lode_cause_rules_add_words(self->rules, of_child, words);
}

const LodeWaitProcess *lode_wait_find_parent(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const guint n = self->waits->processes->len;
	const char *name = bundle->first->thread_names->len > 0
	                           ? g_ptr_array_index(bundle->first->thread_names, 0)
	                           : NULL;

	for (uint32_t i = 0; name != NULL && i < n; i++) {
		uint32_t parent = lode_wait_process_at(self, i)->parent;
		if (parent < n && g_strcmp0(lode_wait_process_at(self, parent)->name, name) == 0)
			return lode_wait_process_at(self, parent);
	}
	return NULL;
}

static bool is_by(const LodeWaitBundle *bundle, const char *parent)
{
	const GPtrArray *names = bundle->first->thread_names;

	for (guint i = 0; i < names->len; i++)
		if (g_strcmp0(g_ptr_array_index(names, i), parent) == 0)
			return true;
	return false;
}

/* The share of the clock that a diagnosis of the parent's waits for children saves. */
static double told_of(const LodeWaitDiagnosing *self, const LodeWaitProcess *parent)
{
	double most = 0;

	for (guint i = 0; i < self->bundles->len; i++) {
		const LodeWaitBundle *one = lode_wait_bundle_at(self, i);
		if (one->first->reason == LODE_WAIT_CHILD && is_by(one, parent->name) &&
			one->children.kind != LODE_CHILDREN_UNKNOWN &&
			one->children.kind != LODE_CHILDREN_FEW && lode_wait_bundle_is_known(one))
			most = fmax(most, one->high);
	}
	return most;
}

/* Where the parent waits for most of what it does, in code of the user's own; function NULL: not
 * known. */
static LodeWaitPlace place_of_parent(const LodeWaitDiagnosing *self, const LodeWaitProcess *parent)
{
	LodeWaitPlace place = {0};
	double most_ns = 0;

	for (guint i = 0; i < self->bundles->len; i++) {
		const LodeWaitBundle *bundle = lode_wait_bundle_at(self, i);
		const LodeWaitPlace *one = &bundle->first->place;
		if (is_by(bundle, parent->name) && one->function != NULL &&
			(one->image == NULL || !lode_is_of_others(one->image)) &&
			bundle->waiting_ns > most_ns) {
			most_ns = bundle->waiting_ns;
			place = *one;
		}
	}
	return place;
}

static bool add(const LodeWaitDiagnosing *self, LodeDiagnoses *out, const LodeStarted *started)
{
	const LodeWaitProcess *parent = lode_wait_process_at(self, started->parent);
	double saves = MIN(started->lived_ns / self->waits->clock_ns, 1);
	const LodeWaitPlace own = place_of_parent(self, parent);
	const LodeWaitPlace place =
		own.file != NULL
			? own
			: lode_wait_find_start(self, parent->name, started->children.name).place;
	const char *by = parent->name != NULL ? parent->name : "(unknown)";
	LodeCauseWords words = {0};

	if (told_of(self, parent) >= LODE_WAIT_MOSTLY * saves)
		return false;
	lode_cause_rules_add_words(self->rules, "wait:child", &words);
	lode_cause_rules_add_words(self->rules, "wait-child:short", &words);
	lode_wait_add_words_of_children(self, &started->children, parent, &words);
	const LodeCauseRule *rule = lode_cause_rules_match(self->rules, &words, NULL, 0, NULL, 0);
	if (rule == NULL || rule->cause == NULL)
		return false;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_WAIT);
	diagnosis->object = g_strdup(started->children.text);
	diagnosis->title = g_strdup_printf("%s: %s", rule->title, diagnosis->object);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause, by);
	diagnosis->clock_high = saves;
	diagnosis->clock_low = NAN;
	diagnosis->site.function = g_strdup(place.function);
	diagnosis->site.file = g_strdup(place.file);
	diagnosis->site.line = place.line;
	lode_wait_add_children(
		self, diagnosis, &started->children, own.function == NULL ? by : NULL);
	diagnosis->places = diagnosis->functions = 1;
	g_ptr_array_add(out->diagnoses, diagnosis);
	return true;
}

GPtrArray *lode_wait_started_add(const LodeWaitDiagnosing *self, LodeDiagnoses *out, double least)
{
	GPtrArray *told = g_ptr_array_new();
	g_autoptr(GArray) started = lode_started_new(
		self->profile, least * self->waits->clock_ns, self->repeats);

	for (guint i = 0; i < started->len; i++) {
		const LodeStarted *one = &g_array_index(started, LodeStarted, i);
		if (add(self, out, one))
			g_ptr_array_add(
				told, (void *)lode_wait_process_at(self, one->parent)->name);
	}
	return told;
}

bool lode_wait_is_told_by_started(const LodeWaitBundle *bundle, const GPtrArray *told)
{
	for (guint i = 0; i < told->len && bundle->first->reason == LODE_WAIT_CHILD; i++)
		if (is_by(bundle, g_ptr_array_index(told, i)))
			return true;
	return false;
}

bool lode_wait_is_told_by_writer(const LodeWaitBundle *bundle, const LodeDiagnoses *told)
{
	bool is_known_pipe = bundle->first->reason == LODE_WAIT_PIPE &&
	                     bundle->first->object != NULL;

	for (guint i = 0; i < told->diagnoses->len && is_known_pipe; i++) {
		const LodeDiagnosis *one = g_ptr_array_index(told->diagnoses, i);
		if ((strcmp(one->cause, "wait-child") == 0 ||
			    strcmp(one->cause, "repeated-command") == 0 ||
			    strcmp(one->cause, "wait-sleep") == 0) &&
			one->clock_high >= LODE_WAIT_MOSTLY * bundle->high)
			return true;
	}
	return false;
}

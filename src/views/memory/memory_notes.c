/* SPDX-License-Identifier: MIT */
/* Notes on a memory view: the meaning of its weights, and the part that is not in it. */
#include "views/memory/memory_notes.h"

#include "analyses/memory/page_faults.h"
#include "analyses/memory/window_samples.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/memory.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/memory/memory_coverage.h"

typedef struct {
	LodeMemoryNotes *notes;
	const LodeMemory *memory;
	bool *are_faults, *has_event;
	uint32_t windows; /* event; LODE_NONE */
	GHashTable *pids;
} Count;

static const LodeMemorySample *sample_at(const LodeMemory *memory, uint32_t number)
{
	return &LODE_AT(memory->samples, LodeMemorySample, number);
}

static uint64_t count_recorded(const LodeMemory *memory)
{
	uint64_t n = 0;

	for (guint i = 0; i < memory->samples->len; i++)
		n += sample_at(memory, i)->operand == 0;
	return n;
}

static void add_process(Count *count, uint32_t thread)
{
	if (thread >= count->memory->threads->len)
		return;
	uint32_t pid = LODE_AT(count->memory->threads, LodeThread, thread).pid;
	g_hash_table_add(count->pids, GUINT_TO_POINTER(pid));
}

/* A row; `is_first` of its sample among the chosen ones. */
static void add_row(Count *count, const LodeMemorySample *sample, bool is_first)
{
	LodeMemoryNotes *notes = count->notes;

	notes->n_chosen += is_first;
	add_process(count, sample->thread);
	if (count->are_faults[sample->event]) {
		notes->n_faults += is_first;
		return;
	}
	count->has_event[sample->event] = true;
	notes->weight += sample->weight;
	if (sample->rule == LODE_RULE_NONE) {
		notes->unresolved_weight += sample->weight;
		notes->by_reason[sample->reason] += is_first;
		notes->reason_weight[sample->reason] += sample->weight;
		return;
	}
	notes->n_rows++;
	notes->by_rule[sample->rule] += is_first;
	notes->n_unverified += is_first && sample->is_unverified;
	notes->n_next += is_first && (sample->is_next || sample->rule == LODE_RULE_FORWARD);
}

/* Events of which there are simulated misses, or accesses in windows, but none that was chosen. */
static char *name_others(const Count *count, const LodeProfile *profile)
{
	g_autofree bool *is_named = g_memdup2(
		count->has_event, (lode_code_of(profile)->events->len + 1) * sizeof(bool));
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < count->memory->samples->len; i++) {
		const LodeMemorySample *sample = sample_at(count->memory, i);
		bool is_of_windows = sample->event == count->windows;
		if ((sample->rule != LODE_RULE_TRACED && !is_of_windows) || is_named[sample->event])
			continue;
		count->notes->are_others_of_windows = is_of_windows;
		is_named[sample->event] = true;
		g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "",
			lode_profile_event(profile, sample->event)->name);
	}
	return g_string_free(names, FALSE);
}

static void name_events(Count *count, const LodeProfile *profile)
{
	g_autoptr(GString) names = g_string_new(NULL);

	count->notes->event = LODE_NONE;
	for (uint32_t i = 0; i < lode_code_of(profile)->events->len; i++) {
		if (!count->has_event[i])
			continue;
		if (count->notes->n_events++ == 0)
			count->notes->event = i;
		g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "",
			lode_profile_event(profile, i)->name);
	}
	count->notes->event_names = g_strdup(names->str);
	count->notes->other_names = name_others(count, profile);
	count->notes->is_of_windows = count->notes->n_events == 1 &&
	                              count->notes->event == count->windows;
	count->notes->is_stall_weighted &= !count->notes->is_of_windows;
}

void lode_memory_notes_init(LodeMemoryNotes *self, const LodeProfile *profile,
	const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	g_autofree bool *has_event = g_new0(bool, lode_code_of(profile)->events->len + 1);
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);
	Count count = {
		self, memory, are_faults, has_event, lode_window_samples_event(profile), pids};

	*self = (LodeMemoryNotes){
		.profile = profile,
		.n_recorded = count_recorded(memory),
		.is_stall_weighted = memory->is_stall_weighted,
		.has_fixed_addresses = memory->has_fixed_addresses,
	};
	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = sample_at(memory, samples[i]);
		/* The other row may have been filtered out. */
		bool is_second = sample->operand != 0 && i > 0 && samples[i - 1] + 1 == samples[i];
		add_row(&count, sample, !is_second);
	}
	self->n_processes = g_hash_table_size(pids);
	lode_address_losses_init(&self->losses, profile, LODE_NONE, samples, n_samples);
	name_events(&count, profile);
}

void lode_memory_notes_clear(LodeMemoryNotes *self)
{
	g_clear_pointer(&self->event_names, g_free);
	g_clear_pointer(&self->other_names, g_free);
	lode_address_losses_clear(&self->losses);
}

/* Samples with an address, by any rule. */
static uint64_t count_resolved(const LodeMemoryNotes *self)
{
	uint64_t n = 0;

	for (int i = LODE_RULE_NONE + 1; i < LODE_N_RULES; i++)
		n += self->by_rule[i];
	return n;
}

static uint64_t count_unresolved(const LodeMemoryNotes *self)
{
	uint64_t n = 0;

	for (int i = LODE_REASON_NONE; i < LODE_N_REASONS; i++)
		n += self->by_reason[i];
	return n;
}

static void append_count(GString *line, const char *before, uint64_t n, const char *after)
{
	g_string_append_printf(line, "%s%s%s", before, LODE_COUNT_TEXT(n), after);
}

static void append_part(GString *line, const char *word, uint64_t n)
{
	if (n == 0)
		return;
	g_string_append_printf(line, "%s%s ", line->str[line->len - 1] == ':' ? " " : " · ", word);
	append_count(line, "", n, "");
}

static void put_resolved(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) line = g_string_new(NULL);
	uint64_t n = count_resolved(self);

	append_count(line, "", n,
		n == 1 ? " sample with a data address, by rule:"
		       : " samples with a data address, by rule:");
	for (int i = LODE_RULE_NONE + 1; i < LODE_N_RULES; i++)
		append_part(line, lode_address_rule_to_text((LodeAddressRule)i), self->by_rule[i]);
	append_part(line, "unverified", self->n_unverified);
	if (n == 0)
		g_string_append(line, " none");
	lode_display_print(terminal, out, "%s", line->str);
	if (self->n_next == 0)
		return;
	g_string_truncate(line, 0);
	append_count(line, "", self->n_next,
		" of these have the address of the thread's next access, which is not the one "
		"that was waited for.");
	lode_display_print(terminal, out, "%s", line->str);
}

static void append_share(const LodeMemoryNotes *self, GString *line, LodeAddressReason reason,
	const char *before, const char *after)
{
	if (self->by_reason[reason] > 0)
		g_string_append_printf(line, "%s%s%s", line->len > 0 ? before : "",
			LODE_SHARE_TEXT(lode_share_of(self->reason_weight[reason], self->weight)),
			after);
}

/* The reasons that say what the time was spent on, in words. */
static void put_waiting(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) line = g_string_new(NULL);

	append_share(self, line, LODE_REASON_NOT_MEMORY, "",
		" of weight was spent on instructions that access no memory (not-memory)");
	append_share(self, line, LODE_REASON_AMBIGUOUS, "; ",
		" is of one of several accesses (ambiguous)");
	if (line->len > 0)
		lode_display_print(terminal, out, "%s.", line->str);
}

static void put_unresolved(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) line = g_string_new(NULL);
	uint64_t n = count_unresolved(self);

	if (n == 0) {
		lode_display_print(terminal, out, "Without a data address: nothing.");
		return;
	}
	append_count(line, "", n, n == 1 ? " sample without (" : " samples without (");
	g_string_append_printf(line, "%s of weight), by reason:",
		LODE_SHARE_TEXT(lode_share_of(self->unresolved_weight, self->weight)));
	for (int i = LODE_REASON_NONE; i < LODE_N_REASONS; i++)
		append_part(line, lode_address_reason_to_text((LodeAddressReason)i),
			self->by_reason[i]);
	lode_display_print(terminal, out, "%s", line->str);
	put_waiting(self, terminal, out);
}

void lode_memory_notes_losses(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GPtrArray)
		lines = lode_memory_loss_lines(self->profile, &self->losses, NULL, NULL);

	for (guint i = 0; i < lines->len; i++) {
		g_autofree char *line = lode_display_text(lines->pdata[i], terminal->is_ascii);
		lode_display_print(terminal, out, "%s", line);
	}
}

void lode_memory_notes_head(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	const char *what = self->is_stall_weighted ? "time" : "weight";
	double resolved = lode_share_of(self->weight - self->unresolved_weight, self->weight);

	if (!(self->weight > 0))
		return;
	if (!(self->unresolved_weight > 0)) {
		lode_display_print(terminal, out, "All of the %s has a data address.", what);
		return;
	}
	lode_display_print(terminal, out,
		"%s of the %s has a data address; the other %s is in no page or line (why: below).",
		LODE_SHARE_TEXT(resolved), what, LODE_SHARE_TEXT(1 - resolved));
	lode_memory_notes_losses(self, terminal, out);
}

static void put_left_out(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) line = g_string_new(NULL);

	if (self->n_chosen < self->n_recorded) {
		append_count(line, "Filtered out: ", self->n_recorded - self->n_chosen, " of ");
		append_count(line, "", self->n_recorded, " samples.");
		lode_display_print(terminal, out, "%s", line->str);
	}
	if (self->n_faults > 0) {
		g_string_truncate(line, 0);
		append_count(line, "Not counted as accesses: ", self->n_faults,
			self->n_faults == 1 ? " page fault (--first-touch shows it)."
					    : " page faults (--first-touch shows them).");
		lode_display_print(terminal, out, "%s", line->str);
	}
}

static void put_meaning(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	if (self->is_stall_weighted)
		lode_display_print(terminal, out,
			"Timer samples: shares are of time spent, not of accesses made.");
	if (self->is_of_windows)
		lode_display_print(terminal, out,
			"Accesses in windows, executed step by step: shares are of these, not of "
			"time.");
	if (self->n_events > 1)
		lode_display_print(terminal, out,
			"Weights of %u events are added up (%s); choose one with --event.",
			self->n_events, self->event_names);
	if (self->other_names[0] != '\0')
		lode_display_print(terminal, out, "Not in here: %s, as %s; --event chooses.",
			self->other_names,
			self->are_others_of_windows ? "these are accesses, not time"
						    : "one access may miss several caches");
	if (self->n_processes > 1)
		lode_display_print(terminal, out,
			"Samples are of %u processes: the same address may be other data in each.",
			self->n_processes);
}

void lode_memory_notes_text(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out)
{
	put_resolved(self, terminal, out);
	put_unresolved(self, terminal, out);
	put_left_out(self, terminal, out);
	put_meaning(self, terminal, out);
}

static void put_json_rules(const LodeMemoryNotes *self, LodeJsonStream *json)
{
	lode_json_member_begin(json, "rules", '{');
	for (int i = LODE_RULE_NONE + 1; i < LODE_N_RULES; i++)
		lode_json_member_number(json, lode_address_rule_to_text((LodeAddressRule)i),
			(double)self->by_rule[i]);
	lode_json_end(json, '}');
}

static void put_json_reasons(const LodeMemoryNotes *self, LodeJsonStream *json)
{
	lode_json_member_begin(json, "reasons", '{');
	for (int i = LODE_REASON_NONE; i < LODE_N_REASONS; i++)
		if (self->by_reason[i] > 0)
			lode_json_member_number(json,
				lode_address_reason_to_text((LodeAddressReason)i),
				(double)self->by_reason[i]);
	lode_json_end(json, '}');
}

void lode_memory_notes_json(const LodeMemoryNotes *self, LodeJsonStream *json)
{
	lode_json_member_begin(json, "notes", '{');
	lode_json_member_number(json, "recorded", (double)self->n_recorded);
	lode_json_member_number(json, "chosen", (double)self->n_chosen);
	lode_json_member_number(json, "page_faults", (double)self->n_faults);
	lode_json_member_number(json, "accesses", (double)self->n_rows);
	lode_json_member_number(json, "weight", self->weight);
	lode_json_member_number(json, "unresolved", (double)count_unresolved(self));
	lode_json_member_number(json, "unresolved_weight", self->unresolved_weight);
	lode_json_member_number(json, "unverified", (double)self->n_unverified);
	lode_json_member_number(json, "next", (double)self->n_next);
	lode_json_member_string(json, "events", self->event_names);
	lode_json_member_string(json, "other_events", self->other_names);
	lode_json_member_number(json, "processes", self->n_processes);
	lode_json_member_bool(json, "is_stall_weighted", self->is_stall_weighted);
	lode_json_member_bool(json, "has_fixed_addresses", self->has_fixed_addresses);
	put_json_rules(self, json);
	put_json_reasons(self, json);
	lode_memory_loss_json(self->profile, &self->losses, json);
	lode_json_end(json, '}');
}

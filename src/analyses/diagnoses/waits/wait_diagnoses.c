/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/thread_diagnoses.h"

#include "analyses/diagnoses/waits/wait_bundles.h"
#include "base/arrays/sum_table.h"
#include "model/findings.h"
#include "model/process.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* Of the time by the clock: from when on waiting is spoken of at all. */
static const double MUCH_SAVED = 0.1;

/* So many threads, woken so often, that run for less than this until they wait again, were woken
 * for nothing. */
enum { HERD_THREADS = 4, HERD_WAITS = 1000 };
static const double HERD_RUN_NS = 20e3;

/* Most of the time is in waits of about so long: the receiver delays its acknowledgement by 40 ms
 * (TCP_DELACK_MIN), for which the sender's next small packet waits (RFC 896, RFC 1122). Between
 * them are short waits, as for a message's second part, and now and then a long one, as of a thread
 * that is not given a processor; what takes other times is the peer's own work. */
static const double ONE_DELAY_FROM_NS = 38e6, ONE_DELAY_TO_NS = 50e6, MOSTLY_DELAYED = 0.6,
		    GOOD_PART = 0.25;

/* --- words for the rules --- */

/* For how long its threads ran after each time that they were woken; NAN: not known. */
static double run_after_wait(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *times = self->profile->thread_times;
	double running = 0;
	guint n = 0;

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *row = &LODE_AT(times, LodeThreadTime, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		if (!g_hash_table_contains(bundle->threads, &key))
			continue;
		running += row->running_ns;
		n++;
	}
	return n >= g_hash_table_size(bundle->threads) && bundle->count > 0
	               ? running / bundle->count
	               : (double)NAN;
}

static bool is_herd(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	LodeWaitReason reason = bundle->first->reason;

	return (reason == LODE_WAIT_LOCK || reason == LODE_WAIT_CONDITION ||
		       reason == LODE_WAIT_POLL) &&
	       g_hash_table_size(bundle->threads) >= HERD_THREADS && bundle->count >= HERD_WAITS &&
	       run_after_wait(self, bundle) < HERD_RUN_NS;
}

/* How long a thread waited, in ns: in all, and in waits as long as one delay. */
typedef struct {
	double all, delayed;
} Answers;

/* One thread is enough, with a good part of the waiting (of two ends each has half, or a bit less):
 * where both ends are in the program, the other end waits for that delay and for what this one does
 * then. */
static bool is_delayed(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *slices = self->waits->slices;
	g_autoptr(GHashTable)
		threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	GHashTableIter at;
	gpointer value;
	double all = 0;
	bool is_one = false;

	for (guint i = 0; i < slices->len; i++) {
		const LodeWaitSlice *slice = &LODE_AT(slices, LodeWaitSlice, i);
		const uint64_t key = (uint64_t)slice->pid << 32 | slice->tid;
		if (slice->kind != bundle->first->reason ||
			!g_hash_table_contains(bundle->threads, &key))
			continue;
		Answers *answers = g_hash_table_lookup(threads, &key);
		if (answers == NULL) {
			answers = g_new0(Answers, 1);
			g_hash_table_insert(threads, g_memdup2(&key, sizeof(key)), answers);
		}
		answers->all += slice->time_ns;
		if (slice->time_ns >= ONE_DELAY_FROM_NS && slice->time_ns <= ONE_DELAY_TO_NS)
			answers->delayed += slice->time_ns;
		all += slice->time_ns;
	}
	g_hash_table_iter_init(&at, threads);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const Answers *answers = value;
		is_one |= answers->delayed > GOOD_PART * all &&
		          answers->delayed >= MOSTLY_DELAYED * answers->all;
	}
	return is_one;
}

/* So many threads that live so long at most, and are waited for by about as many waits. */
enum { MANY_THREADS = 200 };
static const double SHORT_LIFE_NS = 5e6;

static bool is_for_short_threads(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *times = self->profile->thread_times;
	guint n = 0;

	if (bundle->first->reason != LODE_WAIT_JOIN && bundle->first->reason != LODE_WAIT_CONDITION)
		return false;
	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *time = &LODE_AT(times, LodeThreadTime, i);
		n += time->end_ns >= time->begin_ns &&
		     (double)(time->end_ns - time->begin_ns) <= SHORT_LIFE_NS;
	}
	return n >= MANY_THREADS && bundle->count >= 0.3 * n && bundle->count <= 3.0 * n &&
	       lode_wait_bundle_mean(bundle) <= SHORT_LIFE_NS;
}

/* The part of the waiting for files that journals have: the file and its folder are written, too.
 */
static const double MUCH_FOR_JOURNALS = 0.2;

/* Whether it waits for journals of transactions: SQLite's x.db-journal and x.db-wal. */
static bool is_for_journal(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	double waiting = 0;

	for (guint i = 0; i < bundle->groups->len; i++) {
		const LodeWaitGroup *group = g_ptr_array_index(bundle->groups, i);
		for (guint k = 0; k < group->rows->len; k++) {
			const LodeWait *row = &g_array_index(self->waits->rows, LodeWait,
				g_array_index(group->rows, uint32_t, k));
			if (row->object != NULL && (g_str_has_suffix(row->object, "-journal") ||
							   g_str_has_suffix(row->object, "-wal")))
				waiting += row->waiting_ns;
		}
	}
	return waiting > 0 && waiting >= MUCH_FOR_JOURNALS * bundle->waiting_ns;
}

/* Whether it is Ruby's sleep: its first thread sleeps in poll, at the eventfd by which it is woken
 * for signals, until the time is over. */
static bool is_slept_out(const LodeWaitBundle *bundle)
{
	static const double alike = 1.3;
	const LodeWaitGroup *first = bundle->first;

	return first->reason == LODE_WAIT_POLL && g_strcmp0(first->object, "eventfd") == 0 &&
	       first->place.file != NULL && g_str_has_suffix(first->place.file, ".rb") &&
	       bundle->longest_ns <= alike * lode_wait_bundle_mean(bundle);
}

static const LodeCauseRule *find_rule(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle, const GArray *groups)
{
	static const char *const kinds[] = {
		[LODE_CHILDREN_UNKNOWN] = NULL,
		[LODE_CHILDREN_FEW] = NULL,
		[LODE_CHILDREN_SHORT] = "wait-child:short",
		[LODE_CHILDREN_SERIAL] = "wait-child:serial",
		[LODE_CHILDREN_NARROW] = "wait-child:narrow",
	};
	const LodeWaitGroup *first = bundle->first;
	LodeCauseWords words = {0};
	bool is_pause = lode_wait_is_of_sleep(first) || lode_wait_is_for_sleep(first);
	g_autofree char *reason = g_strdup_printf("wait:%s",
		lode_wait_reason_to_text(
			is_pause || is_slept_out(bundle) ? LODE_WAIT_SLEEP : first->reason));

	lode_cause_rules_add_words(self->rules, reason, &words);
	if (is_herd(self, bundle))
		lode_cause_rules_add_words(self->rules, "wait:herd", &words);
	if (first->call != NULL) {
		g_autofree char *call = g_strdup_printf("wait-call:%s", first->call);
		lode_cause_rules_add_words(self->rules, call, &words);
	}
	if (first->holder_call != NULL && first->holder_share >= LODE_WAIT_MOSTLY)
		lode_cause_rules_add_words(self->rules, "wait-holder:call", &words);
	if (lode_wait_bundle_is_held_in_sleep(bundle))
		lode_cause_rules_add_words(self->rules, "wait-holder:sleep", &words);
	if (lode_wait_bundle_is_for_gil(bundle))
		lode_cause_rules_add_words(self->rules, "wait-lock:gil", &words);
	if (is_pause)
		lode_cause_rules_add_words(self->rules, "wait-sleep:command", &words);
	if (is_for_journal(self, bundle))
		lode_cause_rules_add_words(self->rules, "wait-file:journal", &words);
	if (lode_wait_sleep_is_work(bundle, groups))
		lode_cause_rules_add_words(self->rules, "wait-sleep:work", &words);
	if (is_delayed(self, bundle))
		lode_cause_rules_add_words(self->rules, "wait-steps:40ms", &words);
	if (is_for_short_threads(self, bundle))
		lode_cause_rules_add_words(self->rules, "wait-threads:short", &words);
	if (lode_wait_is_of_only_thread(self, bundle))
		lode_cause_rules_add_words(self->rules, "wait-pool:one", &words);
	if (first->place.function == NULL && lode_wait_loop_place(self, bundle).function != NULL)
		lode_cause_rules_add_words(self->rules, "wait-loop:own", &words);
	if (lode_wait_bundle_is_foreign(self, bundle))
		lode_cause_rules_add_words(self->rules, "wait-of:system", &words);
	if (kinds[bundle->children.kind] != NULL)
		lode_cause_rules_add_words(self->rules, kinds[bundle->children.kind], &words);
	if (first->reason == LODE_WAIT_CHILD)
		lode_wait_add_words_of_children(
			self, &bundle->children, lode_wait_find_parent(self, bundle), &words);
	return lode_cause_rules_match(self->rules, &words, NULL, 0, NULL, 0);
}

/* --- texts --- */

/* "9.42 s", "12.3 ms", "50 µs" */
static char *time_text(double ns)
{
	return ns >= 1e8   ? g_strdup_printf("%.3g s", ns / 1e9)
	       : ns >= 1e5 ? g_strdup_printf("%.3g ms", ns / 1e6)
	                   : g_strdup_printf("%.3g µs", ns / 1e3);
}

static char *place_text(const LodeWaitPlace *place)
{
	g_autofree char *base = place->file != NULL ? g_path_get_basename(place->file) : NULL;

	return base != NULL && place->line > 0
	               ? g_strdup_printf("%s (%s:%u)", place->function, base, place->line)
	               : g_strdup(place->function);
}

/* The objects with most time; NULL: none is known. */
static char *objects_text(const LodeWaitBundle *self)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	guint n = 0;

	for (guint i = 0; i < self->groups->len; i++) {
		const LodeWaitGroup *group = g_ptr_array_index(self->groups, i);
		char *name = group->object != NULL ? (char *)lode_wait_object_text(group->object)
		                                   : NULL;
		if (name == NULL ||
			g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
			continue;
		n++;
		if (names->len < LODE_WAIT_NAMED_OBJECTS)
			g_ptr_array_add(names, name);
	}
	if (n == 0)
		return NULL;
	g_autofree char *more = n > names->len ? g_strdup_printf("%u more", n - names->len) : NULL;
	if (more != NULL)
		g_ptr_array_add(names, more);
	g_ptr_array_add(names, NULL);
	return g_strjoinv(", ", (char **)names->pdata);
}

void lode_wait_add_children(const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis,
	const LodeChildren *children, const char *parent)
{
	g_autofree char *life = time_text(children->life_ns);
	g_autofree char *running = time_text(children->running_ns);
	double processors = self->profile->run.n_processors;
	g_autofree char *of = processors > 0 ? g_strdup_printf(" on %.0f processor%s", processors,
						       processors == 1 ? "" : "s")
	                                     : NULL;

	if (children->text == NULL)
		return;
	lode_diagnosis_add_evidence(diagnosis, children->processes, "processes",
		"%s each%s%s, %.2g at a time%s", life, parent != NULL ? ", started by " : "",
		parent != NULL ? parent : "", children->at_once, of != NULL ? of : "");
	lode_diagnosis_add_evidence(diagnosis, children->running_ns / 1e9, "s",
		"each ran on a processor for %s", running);
}

/* Waits are counted by switches: a call that waits for a device, or for room, may do so several
 * times before it returns. */
static bool may_wait_again(LodeWaitReason reason)
{
	return reason == LODE_WAIT_SYNC || reason == LODE_WAIT_READ || reason == LODE_WAIT_WRITE ||
	       reason == LODE_WAIT_PIPE || reason == LODE_WAIT_SOCKET || reason == LODE_WAIT_OTHER;
}

static void add_lengths(LodeDiagnosis *diagnosis, const LodeWaitBundle *bundle)
{
	g_autofree char *all = time_text(bundle->waiting_ns),
			*mean = time_text(lode_wait_bundle_mean(bundle)),
			*longest = time_text(bundle->longest_ns);
	guint threads = g_hash_table_size(bundle->threads);
	bool is_one = threads == 1;
	const char *who = lode_wait_is_of_sleep(bundle->first) ? is_one ? "process" : "processes"
	                  : is_one                             ? "thread"
	                                                       : "threads";

	if (!(bundle->count > 0))
		lode_diagnosis_add_evidence(diagnosis, bundle->waiting_ns / 1e9, "s",
			"%u %s waited %s there", threads, who, all);
	else if (bundle->count < 1.5)
		lode_diagnosis_add_evidence(
			diagnosis, bundle->waiting_ns / 1e9, "s", "one wait of %s", all);
	else
		lode_diagnosis_add_evidence(diagnosis, bundle->count, "waits",
			"%.0f waits of %s on average, %s at most, by %u %s: %s%s", bundle->count,
			mean, longest, threads, who, all,
			may_wait_again(bundle->first->reason) ? "; one call may wait several times"
							      : "");
}

static void add_holder(LodeDiagnosis *diagnosis, const LodeWaitGroup *group)
{
	g_autofree char *place = group->holder.function != NULL ? place_text(&group->holder) : NULL;
	double percent = 100 * group->holder_share;
	bool is_condition = group->reason == LODE_WAIT_CONDITION;

	if (!(percent > 0))
		return;
	if (group->is_holder_inferred)
		lode_diagnosis_add_evidence(diagnosis, 0, "",
			"meanwhile a thread that has it waits at %s",
			place != NULL ? place : "another place");
	else if (group->holder_call != NULL)
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"%s was in %s%s%s in %.0f %% of %s",
			is_condition ? "who ended them" : "its holder", group->holder_call,
			place != NULL ? " at " : "", place != NULL ? place : "", percent,
			is_condition ? "their time" : "the looks");
	else
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"its holder ran%s%s in %.0f %% of the looks", place != NULL ? " in " : "",
			place != NULL ? place : "", percent);
}

static void add_on_path(
	const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis, const LodeWaitBundle *bundle)
{
	double percent = 100 * bundle->on_path;

	if (!self->waits->has_path || !(percent >= 1))
		return;
	lode_diagnosis_add_evidence(diagnosis, percent, "%",
		"%.0f %% of the critical path, on which the end of the program depends, %s%s",
		percent,
		bundle->first->reason == LODE_WAIT_LOCK ||
				bundle->first->reason == LODE_WAIT_JOIN ||
				bundle->first->reason == LODE_WAIT_CONDITION
			? "was reached through these waits"
			: "are these waits",
		self->waits->path_sure < 0.7 ? " (probable: who ended the waits is not known)"
					     : "");
}

static void add_looks(
	const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis, const LodeWaitBundle *bundle)
{
	double seen = self->waits->waiting_ns > 0 ? self->waits->seen_ns / self->waits->waiting_ns
	                                          : 1;

	if (bundle->looks >= LODE_WAIT_FEW_LOOKS)
		lode_diagnosis_add_evidence(diagnosis, bundle->looks, "looks",
			"%.0f looks; what is waited for is known of %.0f %% of all waiting",
			bundle->looks, 100 * MIN(seen, 1));
}

/* The instructions of the waiting line, which have next to no processor time. */
static void add_places(const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis)
{
	const LodeProfile *profile = self->profile;

	if (diagnosis->site.file == NULL || diagnosis->site.function == NULL)
		return;
	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (g_strcmp0(function->name, diagnosis->site.function) != 0)
			continue;
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			const LodeFindingPlace place = {function->first_instruction + k, 0};
			uint32_t line = lode_own_lines_find(self->own, place.instruction);
			const LodeLocation *location = line != LODE_NONE
			                                       ? &LODE_AT(profile->code.locations,
									 LodeLocation, line)
			                                       : NULL;
			if (location != NULL && location->line == diagnosis->site.line &&
				g_strcmp0(location->file, diagnosis->site.file) == 0)
				g_array_append_val(diagnosis->at, place);
		}
	}
}

static void take_place(LodeDiagnosis *diagnosis, const LodeWaitPlace *place)
{
	g_free(diagnosis->site.function);
	g_free(diagnosis->site.file);
	diagnosis->site.function = g_strdup(place->function);
	diagnosis->site.file = g_strdup(place->file);
	diagnosis->site.line = place->line;
}

/* Names what runs, or what the threads that are waited for wait for themselves. */
static void add_meanwhile(LodeDiagnosis *diagnosis, const LodeWaitBundle *bundle,
	const GArray *groups, const LodeWaitRuns *runs)
{
	const LodeWaitGroup *other = lode_wait_find_other(groups, bundle, LODE_WAIT_MOSTLY);
	g_autofree char *waiting = bundle->first->place.function != NULL
	                                   ? place_text(&bundle->first->place)
	                                   : NULL;
	g_autofree char *running = runs->place.function != NULL ? place_text(&runs->place) : NULL;

	if (running != NULL)
		lode_diagnosis_add_evidence(diagnosis, 100 * runs->share, "%",
			"%s runs while %s waits; it has %.0f %% of the time of the threads that do "
			"not wait",
			running, waiting != NULL ? waiting : "the other", 100 * runs->share);
	if (other != NULL) {
		g_autofree char *what = lode_wait_group_text(other);
		g_autofree char *where = other->place.function != NULL ? place_text(&other->place)
		                                                       : g_strdup("another thread");
		g_autofree char *time = time_text(other->waiting_ns);
		lode_diagnosis_add_evidence(diagnosis, other->waiting_ns / 1e9, "s",
			"meanwhile %s was %s for %s", where, what, time);
	}
}

static void add_processors(
	const LodeWaitDiagnosing *self, LodeDiagnosis *diagnosis, const LodeWaitBundle *bundle)
{
	double ran = self->waits->running_ns / self->waits->clock_ns,
	       waited = bundle->waiting_ns / self->waits->clock_ns;

	lode_diagnosis_add_evidence(diagnosis, ran + waited, "threads",
		"%.2g threads were ready to run on average, and %.2g of them ran", ran + waited,
		ran);
}

static void add(const LodeWaitDiagnosing *self, LodeDiagnoses *out, const LodeWaitBundle *bundle,
	const GArray *groups)
{
	const LodeWaits *waits = self->waits;
	const LodeCauseRule *rule = find_rule(self, bundle, groups);
	bool is_pause = lode_wait_is_of_sleep(bundle->first) ||
	                lode_wait_is_for_sleep(bundle->first);
	LodeWaitRuns runs = {0};

	if (rule == NULL || rule->cause == NULL)
		return;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_WAIT);
	diagnosis->object = bundle->children.text != NULL ? g_strdup(bundle->children.text)
	                    : is_pause                    ? lode_wait_sleep_text(self)
	                                                  : objects_text(bundle);
	/* The descriptor of an event loop's own says nothing. */
	if (g_strcmp0(diagnosis->object, "epoll") == 0)
		g_clear_pointer(&diagnosis->object, g_free);
	diagnosis->title = diagnosis->object != NULL
	                           ? g_strdup_printf("%s: %s", rule->title, diagnosis->object)
	                           : g_strdup(rule->title);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	const char *named = lode_wait_group_is_of_object(bundle->first)
	                            ? bundle->first->object
	                            : bundle->first->place.function;
	const char *parent = lode_wait_foreign_parent(bundle->first);
	named = parent != NULL ? parent : is_pause ? lode_wait_sleep_starter(self, NULL) : named;
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause,
		named != NULL ? named : lode_wait_reason_to_text(bundle->first->reason));
	if (lode_wait_bundle_is_serial(bundle))
		runs = lode_wait_find_running(self, bundle);
	if (parent == NULL)
		take_place(diagnosis, runs.place.function != NULL ? &runs.place
				      : lode_wait_is_of_sleep(bundle->first)
					      ? lode_wait_sleep_place(self, bundle)
					      : &bundle->first->place);
	if (parent == NULL && diagnosis->site.function == NULL) {
		LodeWaitPlace place = lode_wait_loop_place(self, bundle);
		if (place.function == NULL)
			place = lode_wait_asking_place(bundle, groups);
		take_place(diagnosis, &place);
	}
	if (diagnosis->site.file == NULL && (is_pause || parent != NULL)) {
		const LodeWaitRuns start = lode_wait_find_start(self, is_pause ? NULL : parent,
			is_pause ? LODE_SLEEP_PROGRAM : bundle->children.name);
		if (start.place.file != NULL)
			take_place(diagnosis, &start.place);
	}
	diagnosis->clock = waits->running_ns + waits->waiting_ns > 0
	                           ? bundle->waiting_ns / (waits->running_ns + waits->waiting_ns)
	                           : 0;
	diagnosis->clock_low = bundle->low;
	diagnosis->clock_high = bundle->high;
	if (lode_wait_bundle_is_serial(bundle))
		add_meanwhile(diagnosis, bundle, groups, &runs);
	if (bundle->first->reason == LODE_WAIT_PROCESSOR)
		add_processors(self, diagnosis, bundle);
	lode_wait_add_children(self, diagnosis, &bundle->children, parent);
	if (lode_wait_bundle_is_held_in_waits(bundle))
		add_holder(diagnosis, bundle->first);
	add_lengths(diagnosis, bundle);
	if (!lode_wait_bundle_is_serial(bundle) && !lode_wait_bundle_is_held_in_waits(bundle))
		add_holder(diagnosis, bundle->first);
	add_on_path(self, diagnosis, bundle);
	add_looks(self, diagnosis, bundle);
	add_places(self, diagnosis);
	diagnosis->places = bundle->groups->len;
	diagnosis->functions = 1;
	g_ptr_array_add(out->diagnoses, diagnosis);
}

/* Whether it is not known where threads wait for one of the program, nor which runs: those of a
 * virtual machine's own, for each other. */
static bool is_nowhere(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	return lode_wait_bundle_is_serial(bundle) && bundle->first->place.function == NULL &&
	       lode_wait_find_running(self, bundle).place.function == NULL;
}

static bool is_much(const LodeWaitDiagnosing *self)
{
	const LodeWaits *waits = self->waits;
	double most = 0;

	for (guint i = 0; i < self->bundles->len; i++)
		most = MAX(most, lode_wait_bundle_at(self, i)->high);
	return most >= MUCH_SAVED ||
	       (waits->has_path && waits->path_running_ns < (1 - MUCH_SAVED) * waits->clock_ns);
}

void lode_wait_diagnoses_add(
	LodeDiagnoses *out, const LodeDiagnosisContext *context, const LodeCauseRules *rules)
{
	const LodeProfile *profile = context->profile;

	if (profile->waits == NULL || !(profile->waits->clock_ns > 0))
		return;
	g_autoptr(GPtrArray) bundles = lode_wait_bundles_new();
	g_autoptr(GArray) groups = lode_wait_groups_new(profile, context->own);
	g_autoptr(GHashTable) foreign = lode_foreign_program_names(context);
	g_autofree double *weights = NULL;
	g_autoptr(GArray) repeats = lode_repeats_new(
		profile, LODE_LEAST_BY_CLOCK * profile->waits->clock_ns, &weights);
	LodeWaitDiagnosing self = {.profile = profile,
		.waits = profile->waits,
		.own = context->own,
		.rules = rules,
		.event = context->event,
		.bundles = bundles,
		.repeats = weights,
		.foreign = foreign};

	lode_wait_bundles_gather(&self, groups);
	bool has_much = is_much(&self);
	for (guint i = 0; i < repeats->len && has_much; i++)
		lode_wait_repeats_add(&self, out, &LODE_AT(repeats, LodeRepeats, i));
	g_autoptr(GPtrArray) started = lode_wait_started_add(&self, out, MUCH_SAVED);
	/* those of pipes last: who writes or reads at the other end may be told of */
	for (guint i = 0; i < 2 * bundles->len && has_much; i++) {
		const LodeWaitBundle *bundle = lode_wait_bundle_at(&self, i % bundles->len);
		if ((bundle->first->reason == LODE_WAIT_PIPE) != (i >= bundles->len))
			continue;
		if (bundle->high >= LODE_LEAST_BY_CLOCK && lode_wait_bundle_is_known(bundle) &&
			bundle->children.kind != LODE_CHILDREN_FEW && !is_nowhere(&self, bundle) &&
			!lode_wait_bundle_is_inner(&self, bundle) &&
			!lode_wait_bundle_is_under_lock(&self, bundle) &&
			!lode_wait_sleep_is_told_by_other(&self, bundle) &&
			!lode_wait_bundle_is_for_waiting(&self, bundle, groups) &&
			!lode_wait_is_told_by_started(bundle, started) &&
			!lode_wait_is_told_by_writer(bundle, out))
			add(&self, out, bundle, groups);
	}
}

/* SPDX-License-Identifier: MIT */
/* The contents and the quality of a profile: rows of facts as text or CSV, and a JSON document. */
#include "views/profile/info.h"

#include "analyses/memory/coverage.h"
#include "analyses/memory/objects/allocation_use.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/mining_run.h"
#include "model/observed/windows.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "model/run/unresolved.h"
#include "store/profile_store.h"
#include "store/run_parameters.h"
#include "views/figures/event_values.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/fact_rows.h"
#include "views/form/listing.h"
#include "views/observed/fact_attributes.h"
#include "views/observed/loop_facts.h"
#include "views/observed/observed_summary.h"
#include "views/profile/kernel_share.h"
#include "views/profile/missing_files.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"
#include "views/profile/run_options.h"
#include "views/profile/thread_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_contents(GArray *rows, const LodeProfile *profile)
{
	lode_fact_rows_add_text(rows, "profile", "program", profile->run.program);
	g_autofree char *tool = lode_profile_tool(profile);
	lode_fact_rows_add_text(rows, "profile", "creator", tool);
	g_autofree char *simulated = lode_profile_simulated(profile);
	if (simulated != NULL)
		lode_fact_rows_add_text(rows, "profile", "simulated", simulated);
	g_autofree char *sampling = lode_profile_sampling(profile);
	if (sampling != NULL)
		lode_fact_rows_add_text(rows, "profile", "sampling", sampling);
	lode_fact_rows_add_text(
		rows, "profile", "frequency", lode_frequency_to_text(profile->run.frequency));
	lode_fact_rows_add_text(rows, "profile", "weight",
		lode_profile_event_name(profile, profile->code.weight_event));
	g_autofree char *kernel = lode_kernel_share_text(profile);
	if (kernel != NULL)
		lode_fact_rows_add_text(rows, "profile", "kernel", kernel);
	if (profile->run.n_samples > 0)
		lode_fact_rows_add_number(rows, "contents", "samples", profile->run.n_samples);
	LodeFactRow *executions = lode_fact_rows_add_number(
		rows, "contents", "executions", profile->run.total_count);
	g_autofree char *windows = lode_observed_windows_text(profile);
	bool is_observed = lode_is_observed(profile);
	if (profile->run.frequency == LODE_FREQUENCY_INFERRED)
		executions->detail = g_strdup_printf(
			"inferred from the samples%s%s, to no known scale",
			is_observed ? ", with " : "", is_observed ? windows : "");
	lode_fact_rows_add_number(rows, "contents", "images", profile->code.images->len);
	lode_fact_rows_add_number(rows, "contents", "functions", profile->code.functions->len);
	lode_fact_rows_add_number(rows, "contents", "blocks", profile->code.blocks->len);
	lode_fact_rows_add_number(
		rows, "contents", "instructions", profile->code.instructions->len);
	lode_fact_rows_add_number(
		rows, "contents", "edges", (double)lode_profile_count_edges(profile));
}

/* "on web1, process 1234, 2026-11-23 06:25, 1,644 samples" */
static char *describe_origin(const LodeOrigin *origin)
{
	GString *text = g_string_new(NULL);

	if (origin->host != NULL)
		g_string_append_printf(text, ", on %s", origin->host);
	if (origin->pid != 0)
		g_string_append_printf(text, ", process %" G_GUINT32_FORMAT, origin->pid);
	g_autoptr(GDateTime) time = origin->recorded_at > 0 ? g_date_time_new_from_unix_local(
								      (gint64)origin->recorded_at)
	                                                    : NULL;
	g_autofree char *date = time != NULL ? g_date_time_format(time, "%Y-%m-%d %H:%M") : NULL;
	if (date != NULL)
		g_string_append_printf(text, ", %s", date);
	if (origin->n_samples > 0)
		g_string_append_printf(text, ", %s samples", LODE_COUNT_TEXT(origin->n_samples));
	if (text->len > 0)
		g_string_erase(text, 0, strlen(", "));
	return g_string_free(text, FALSE);
}

static void add_origins(GArray *rows, const LodeProfile *profile)
{
	for (guint i = 0; i < profile->origins->len; i++) {
		const LodeOrigin *origin = &LODE_AT(profile->origins, LodeOrigin, i);
		LodeFactRow *row = lode_fact_rows_add(
			rows, "origin", origin->name != NULL ? origin->name : "recorded");
		g_autofree char *where = describe_origin(origin);
		row->text = g_strdup(where);
		row->detail = origin->name != NULL ? g_strdup(origin->program) : NULL;
	}
}

/* A number of an event, or of executions (LODE_NONE). */
static void set_value(LodeFactRow *row, const LodeProfile *profile, uint32_t event, double value)
{
	g_autoptr(GString) amount = g_string_new(NULL);

	lode_event_value_append(amount, profile, event, value);
	row->number = value;
	row->amount = g_strdup(amount->str);
}

static void add_quality(GArray *rows, const LodeProfile *profile)
{
	LodeFactRow *row = lode_fact_rows_add(rows, "quality", "flow conservation");
	double weight = 0, count = 0;

	if (profile->run.inflow_checked > 0) {
		row->number = profile->run.inflow_equal;
		row->share = profile->run.inflow_equal / profile->run.inflow_checked;
		row->detail = g_strdup_printf("inflow equals executions, of %s executions checked",
			LODE_COUNT_TEXT(profile->run.inflow_checked));
	} else {
		row->text = g_strdup("not checked");
	}
	for (guint i = 0; i < profile->unresolved->len; i++) {
		weight += LODE_AT(profile->unresolved, LodeUnresolved, i).weight;
		count += LODE_AT(profile->unresolved, LodeUnresolved, i).count;
	}
	row = lode_fact_rows_add(rows, "quality", "resolved");
	double total = lode_profile_event_total(profile, profile->code.weight_event);
	bool has_weight = total > 0;
	double whole = has_weight ? total : profile->run.total_count;
	if (whole > 0) {
		set_value(row, profile, has_weight ? profile->code.weight_event : LODE_NONE,
			whole - (has_weight ? weight : count));
		row->share = row->number / whole;
		row->detail = g_strdup_printf("of %s",
			has_weight ? lode_profile_event_name(profile, profile->code.weight_event)
				   : "executions");
	} else {
		row->text = g_strdup("nothing recorded");
	}
}

static void add_events(GArray *rows, const LodeProfile *profile)
{
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		LodeFactRow *row = lode_fact_rows_add(rows, "event", event->name);
		set_value(row, profile, i, event->total);
		bool is_timer = event->kind == LODE_EVENT_SAMPLED &&
		                g_str_has_suffix(event->name, "-clock");
		row->detail = g_strdup_printf("%s%s%s%s%s", lode_event_kind_to_text(event->kind),
			i == profile->code.weight_event ? ", weight" : "",
			is_timer ? " by a timer, without a hardware counter" : "",
			event->description != NULL ? "; " : "",
			event->description != NULL ? event->description : "");
	}
}

typedef struct {
	uint32_t image;
	double value;
} ImageValue;

LODE_ORDER(compare_images, ImageValue, LODE_DESCENDING(value), LODE_ASCENDING(image))

static void add_images(GArray *rows, const LodeProfile *profile)
{
	g_autoptr(GArray) values = lode_profile_image_values(profile, profile->code.weight_event);
	g_autofree ImageValue *order = g_new(ImageValue, values->len + 1);
	double total = lode_profile_event_total(profile, profile->code.weight_event);

	for (uint32_t i = 0; i < values->len; i++)
		order[i] = (ImageValue){i, LODE_AT(values, double, i)};
	qsort(order, values->len, sizeof(*order), compare_images);
	for (uint32_t i = 0; i < values->len; i++) {
		const LodeImage *image = lode_profile_image(profile, order[i].image);
		LodeFactRow *row = lode_fact_rows_add(rows, "image", image->path);
		set_value(row, profile, profile->code.weight_event, order[i].value);
		row->share = lode_share_of(order[i].value, total);
		row->detail = g_strdup_printf("%s%s%s", lode_image_kind_to_text(image->kind),
			image->build_id != NULL ? ", build id " : "",
			image->build_id != NULL ? image->build_id : "");
	}
}

/* Facts of less weight are left out, but for a profile without weight. */
static const double LEAST_FACT = 0.001;

static void add_facts(GArray *rows, const LodeProfile *profile)
{
	g_autoptr(GArray) shares = lode_fact_attributes_shares(profile);
	double whole = lode_profile_event_total(profile, profile->code.weight_event);

	for (guint i = 0; i < shares->len; i++) {
		const LodeFactShare *fact = &g_array_index(shares, LodeFactShare, i);
		if (fact->weight < LEAST_FACT * whole)
			continue;
		LodeFactRow *row = lode_fact_rows_add(rows, "fact", fact->name);
		set_value(row, profile, profile->code.weight_event, fact->weight);
		row->share = lode_share_of(fact->weight, whole);
		row->detail = g_strdup_printf("%s %s, %.1f %% of executions",
			LODE_COUNT_TEXT(fact->n_instructions),
			fact->n_instructions == 1 ? "instruction" : "instructions",
			100 * lode_share_of(fact->executions, profile->run.total_count));
	}
}

/* Each with what it must be to be found. */
static void add_missing_files(GArray *rows, const LodeProfile *profile)
{
	g_autoptr(GArray) files = lode_missing_files_new(profile);

	for (guint i = 0; i < files->len; i++) {
		const LodeMissingFile *file = &g_array_index(files, LodeMissingFile, i);
		const LodeImage *image = lode_profile_image(profile, file->image);
		LodeFactRow *row = lode_fact_rows_add(rows, "missing file", image->path);
		set_value(row, profile, profile->code.weight_event, file->value);
		row->share = file->share;
		row->detail = image->build_id != NULL
		                      ? g_strdup_printf("build id %s", image->build_id)
		                      : g_strdup("no build id is known");
	}
}

static void add_coverage(GArray *rows, const char *kind, const char *word,
	const LodeAccessTotals *totals, double whole)
{
	if (totals->n_samples == 0)
		return;
	g_autofree char *name = g_strdup_printf("%s%s", kind, word);
	LodeFactRow *row = lode_fact_rows_add(rows, "data address", name);
	row->number = (double)totals->n_samples;
	row->share = lode_share_of(totals->weight, whole);
}

/* By the first event that does not count page faults. */
static void add_data_addresses(GArray *rows, const LodeProfile *profile)
{
	if (profile->memory == NULL)
		return;
	g_autoptr(GArray) coverages = lode_memory_coverage_new(profile, NULL, 0);
	if (coverages->len == 0)
		return;
	const LodeMemoryCoverage *coverage = &g_array_index(coverages, LodeMemoryCoverage, 0);
	double whole = coverage->total.weight;
	add_coverage(rows, "with a data address", "", &coverage->resolved, whole);
	for (int i = LODE_RULE_NONE + 1; i < LODE_N_RULES; i++)
		add_coverage(rows, "by rule ", lode_address_rule_to_text((LodeAddressRule)i),
			&coverage->by_rule[i], whole);
	for (int i = LODE_REASON_NONE + 1; i < LODE_N_REASONS; i++)
		add_coverage(rows, "without: ", lode_address_reason_to_text((LodeAddressReason)i),
			&coverage->by_reason[i], whole);
	for (int i = 0; i < LODE_N_LAYERS; i++)
		add_coverage(rows, "named by ", lode_object_layer_to_text((LodeObjectLayer)i),
			&coverage->named[i], whole);
}

/* Through which allocations were followed to their sites. */
static void add_wrappers(GArray *rows, const LodeProfile *profile)
{
	enum { SHOWN = 10 };

	if (profile->memory == NULL)
		return;
	g_autoptr(GArray) wrappers = lode_allocation_wrappers_new(profile->memory);
	for (guint i = 0; i < MIN(wrappers->len, SHOWN); i++) {
		const LodeAllocationWrapper *wrapper = &g_array_index(
			wrappers, LodeAllocationWrapper, i);
		LodeFactRow *row = lode_fact_rows_add_number(
			rows, "wrapper", wrapper->function, (double)wrapper->n);
		row->detail = g_strdup(wrapper->role == LODE_CALL_SKIPPED ? "by --skip-frame"
									  : "passes a size on");
	}
}

/* The longest wait first. */
static void add_threads(GArray *rows, const LodeProfile *profile)
{
	g_autofree uint32_t *order = lode_threads_by_waiting(profile);
	guint n = profile->thread_times->len;

	if (n == 0)
		return;
	LodeFactRow *row = lode_fact_rows_add_number(rows, "contents", "threads", n);
	row->detail = g_strdup_printf("%.2f ran on average", lode_threads_running(profile));
	for (guint i = 0; i < n; i++) {
		const LodeThreadTime *time = &LODE_AT(
			profile->thread_times, LodeThreadTime, order[i]);
		g_autofree char *name = lode_thread_name(time);
		row = lode_fact_rows_add(rows, "thread", name);
		row->text = lode_thread_waiting_text(time);
		row->detail = g_strdup_printf("%s s of it for a processor, %s switches",
			LODE_AMOUNT_TEXT(time->preempted_ns / 1e9),
			LODE_COUNT_TEXT(time->switches));
	}
}

/* Sums over all code; a flow file does not have them. */
static void add_window_sums(GArray *rows, const LodeWindows *windows)
{
	LodeWindowSums sums = lode_windows_sums(windows);
	char outcomes[LODE_NUMBER_SIZE];

	if (windows->instructions->len == 0)
		return;
	LodeFactRow *row = lode_fact_rows_add_number(
		rows, "windows", "outcomes not foretold", sums.unforetold_per_thousand);
	bool is_known = !isnan(row->number);
	lode_number_format_count((double)sums.outcomes, outcomes);
	row->text = is_known ? NULL : g_strdup("not known");
	row->amount = is_known ? g_strdup_printf("%.1f", row->number) : NULL;
	row->detail = is_known ? g_strdup_printf(
					 "of 1,000 instructions, by %s outcomes; %.1f not judged",
					 outcomes, sums.unjudged_per_thousand)
	                       : g_strdup_printf("by %s outcomes, too few", outcomes);
	lode_fact_rows_add_number(rows, "windows", "denormal operands", (double)sums.denormals)
		->detail = g_strdup("executions that had one");
	lode_fact_rows_add_number(rows, "windows", "denormal results", (double)sums.underflows)
		->detail = g_strdup("executions that rounded to one, or to 0");
}

/* A build starts thousands of a few programs. */
static void add_stepped_processes(GArray *rows, const LodeProfile *profile)
{
	enum { SHOWN = 20 };
	g_autoptr(GArray) programs = lode_observed_programs(profile, SHOWN);

	for (guint i = 0; i < programs->len; i++) {
		const LodeSteppedProgram *one = &LODE_AT(programs, LodeSteppedProgram, i);
		const char *name = one->name != NULL ? one->name : "unknown";
		g_autofree char *who = one->n == 1 ? g_strdup_printf("%s (%" G_GUINT32_FORMAT ")",
							     name, one->pid)
		                                   : g_strdup_printf("%s (%s processes)", name,
							     LODE_COUNT_TEXT(one->n));
		LodeFactRow *row = lode_fact_rows_add_number(
			rows, "stepped process", who, (double)one->n_windows);
		row->detail = lode_observed_process_text(one->n_steps, one->obstacle);
	}
}

/* The number of loops whose bounds are known, and their share of the time. */
static void add_loops(GArray *rows, const LodeProfile *profile)
{
	LodeLoopSums sums = lode_loop_facts_sum(profile);

	if (profile->loops->len == 0)
		return;
	LodeFactRow *row = lode_fact_rows_add_number(
		rows, "contents", "innermost loops", sums.n_innermost);
	row->share = sums.weight_share;
	row->detail = g_strdup_printf(
		"of the weight; bounds in cycles of %s; the longest is a recurrence in %u",
		profile->run.core != NULL ? profile->run.core : "?", sums.n_carried);
	if (sums.n_innermost == 0)
		return;
	if (sums.n_above > 0) {
		g_autofree char *above = lode_loop_facts_above(profile);
		row = lode_fact_rows_add_number(
			rows, "contents", "loops faster than a bound", sums.n_above);
		row->detail = g_strdup_printf("these bounds are left out, cycles: %s", above);
	}
	row = lode_fact_rows_add_number(rows, "contents", "loops with a time", sums.n_timed);
	row->share = sums.timed_share;
	row->detail = profile->run.cycles_per_ns > 0
	                      ? g_strdup_printf("of the weight of innermost ones; %.3g cycles/ns",
					profile->run.cycles_per_ns)
	                      : g_strdup("of the weight of innermost ones");
}

static bool has_machine(const LodeProfile *profile)
{
	return profile->run.cycles_per_ns > 0 || profile->run.rates.read[LODE_RATE_MEMORY] > 0;
}

static void add_core(GArray *rows, const LodeProfile *profile)
{
	if (profile->run.n_core_figures <= 0)
		return;
	LodeFactRow *row = lode_fact_rows_add_number(
		rows, "machine", "core's figures measured", profile->run.n_core_figures);
	if (profile->run.mispredict_cycles > 0)
		row->detail = g_strdup_printf("chains of instructions; a misprediction takes %.3g "
					      "cycles once it is resolved",
			profile->run.mispredict_cycles);
	else
		row->detail = g_strdup("chains of instructions");
}

/* What one thread of the recording's machine moves. */
static void add_rates(GArray *rows, const LodeProfile *profile)
{
	const LodeMemoryRates *rates = &profile->run.rates;
	const double *const all[] = {rates->read, rates->write};
	static const char *const names[] = {"bytes/ns read", "bytes/ns written"};

	for (unsigned k = 0; k < 2; k++) {
		if (all[k][LODE_RATE_MEMORY] <= 0)
			continue;
		LodeFactRow *row = lode_fact_rows_add_number(
			rows, "machine", names[k], round(all[k][LODE_RATE_MEMORY]));
		row->detail = g_strdup_printf(
			"by one thread in memory; %.0f, %.0f, %.0f in the caches' levels",
			all[k][LODE_RATE_L1], all[k][LODE_RATE_L2], all[k][LODE_RATE_L3]);
	}
}

/* How much was executed step by step, the cost of that, and the processes. */
static void add_windows(GArray *rows, const LodeProfile *profile)
{
	const LodeWindows *windows = profile->windows;

	if (windows == NULL)
		return;
	LodeFactRow *row = lode_fact_rows_add_number(
		rows, "windows", "executions observed in", (double)windows->n_windows);
	row->detail = g_strdup_printf(
		"windows of %s steps in all", LODE_COUNT_TEXT(windows->n_steps));
	uint64_t hits = lode_windows_hits(windows);
	if (hits > 0) {
		row = lode_fact_rows_add_number(rows, "windows", "breakpoint hits", (double)hits);
		row->detail = g_strdup("each with the registers before its instruction");
	}
	if (windows->n_windows == 0 && hits == 0) {
		add_stepped_processes(rows, profile);
		return;
	}
	row = lode_fact_rows_add_number(
		rows, "windows", "steps in no known code", (double)windows->n_unresolved);
	row->share = lode_share_of((double)windows->n_unresolved, (double)windows->n_steps);
	double taken = windows->user_seconds + windows->system_seconds;
	if (taken > 0) { /* a flow file does not say */
		row = lode_fact_rows_add_number(rows, "windows", "time that they took", taken);
		row->amount = g_strdup_printf("%s s", LODE_AMOUNT_TEXT(taken));
		row->share = lode_observed_time_share(profile);
		row->detail = g_strdup(
			"of the program's processor time, from which it is taken off");
	}
	row = lode_fact_rows_add_number(
		rows, "windows", "samples left out", (double)windows->n_dropped);
	row->share = lode_observed_dropped_share(profile);
	row->detail = g_strdup("taken in windows or shortly after, with share of weight");
	LodeObservedBranches branches = lode_observed_branches(profile);
	row = lode_fact_rows_add_number(rows, "windows", "branches observed", branches.n_branches);
	row->share = branches.weight_share;
	row->detail = g_strdup_printf(
		"%d outcomes or more, with share of weight in their functions",
		LODE_OBSERVED_STEPS);
	add_window_sums(rows, windows);
	add_stepped_processes(rows, profile);
}

static void add_unresolved(GArray *rows, const LodeProfile *profile)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *unresolved = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		LodeFactRow *row = lode_fact_rows_add(rows, "unresolved", unresolved->reason);
		set_value(row, profile, profile->code.weight_event, unresolved->weight);
		row->share = lode_profile_unresolved_share(profile, unresolved);
		g_autofree char *extent = lode_profile_unresolved_extent(unresolved);
		bool is_example = unresolved->example != NULL && extent[0] != '\0';
		row->detail = g_strconcat(
			extent, is_example ? ", such as " : "", unresolved->example, NULL);
	}
}

/* As options; as the store has it when it is of no form that we know. */
static char *describe_parameters(const char *json, bool *out_only_findings)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	char *text = lode_run_parameters_from_json(&parameters, json, NULL)
	                     ? lode_run_options(&parameters)
	                     : g_strdup(json);
	*out_only_findings = parameters.only_findings;
	g_free((char *)parameters.weight);
	g_free((char *)parameters.attributes);
	g_free((char *)parameters.exclude);
	g_free((char *)parameters.images);
	g_free((char *)parameters.functions);
	g_free((char *)parameters.origins);
	return text;
}

static void add_runs(GArray *rows, const GPtrArray *runs)
{
	for (guint i = 0; runs != NULL && i < runs->len; i++) {
		const LodeRunSummary *run = g_ptr_array_index(runs, i);
		LodeFactRow *row = lode_fact_rows_add(rows, "run", run->name);
		row->number = (double)run->n_sequences;
		bool only_findings = false;
		g_autofree char *options = describe_parameters(
			run->parameters != NULL ? run->parameters : "{}", &only_findings);
		row->detail = g_strdup_printf("%s by %s%s, %.2f s: %s",
			only_findings ? "sequences, as only findings were fitted yet,"
				      : "sequences",
			run->weight != NULL ? run->weight : "the default weight",
			run->is_complete ? "" : ", INCOMPLETE", run->seconds,
			*options != '\0' ? options : "with the default options");
	}
}

static GArray *info_rows(const LodeProfile *profile, const GPtrArray *runs)
{
	GArray *rows = lode_fact_rows_new();

	add_contents(rows, profile);
	add_loops(rows, profile);
	add_threads(rows, profile);
	add_origins(rows, profile);
	add_core(rows, profile);
	add_rates(rows, profile);
	add_quality(rows, profile);
	add_windows(rows, profile);
	add_events(rows, profile);
	add_images(rows, profile);
	add_missing_files(rows, profile);
	add_facts(rows, profile);
	add_data_addresses(rows, profile);
	add_wrappers(rows, profile);
	add_unresolved(rows, profile);
	add_runs(rows, runs);
	return rows;
}

static const LodeFactTitle titles[] = {
	{"profile", "Profile"},
	{"contents", "Contents"},
	{"thread", "Threads, by how long they waited of their time"},
	{"origin", "Origins"},
	{"machine", "Machine of the recording"},
	{"quality", "Quality"},
	{"windows", "Windows, executed step by step"},
	{"stepped process", "Processes, by their windows"},
	{"event", "Events"},
	{"image", "Images, by share of weight"},
	{"fact", "Facts, by attribute and share of weight"},
	{"missing file", "Files not found, by share of weight"},
	{"data address", "Data addresses, samples with share of weight"},
	{"wrapper", "Wrappers around allocators, by blocks allocated through them"},
	{"unresolved", "Unresolved, by reason, with share of weight"},
	{"run", "Mining runs"},
	{NULL, NULL},
};

static void write_text(const LodeProfile *profile, const GArray *rows, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out)
{
	lode_fact_rows_write_text(rows, titles, &options->terminal, out);
	fputc('\n', out);
	g_autoptr(GArray) missing = lode_missing_files_new(profile);
	if (missing->len > 0)
		lode_display_print(&options->terminal, out, "%s", lode_missing_files_remedy);
	if (profile->unresolved->len == 0)
		lode_profile_lines_unresolved(profile, &options->terminal, out);
	if (runs == NULL || runs->len == 0)
		lode_display_print(&options->terminal, out, "No mining run yet: lode mine %s",
			options->profile_path != NULL ? options->profile_path : "PROFILE.lode");
}

/* A section's rows as an array of objects. */
static void put_json_rows(LodeJsonStream *json, const GArray *rows, const char *section)
{
	lode_json_begin(json, '[');
	for (guint i = 0; i < rows->len; i++) {
		const LodeFactRow *row = &g_array_index(rows, LodeFactRow, i);
		if (strcmp(row->section, section) != 0)
			continue;
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "name", row->name);
		lode_json_member_number(json, "value", row->number);
		if (isfinite(row->share))
			lode_json_member_number(json, "share", row->share);
		lode_json_member_string(json, "detail", row->detail);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void put_json_runs(LodeJsonStream *json, const GPtrArray *runs)
{
	lode_json_member_begin(json, "runs", '[');
	for (guint i = 0; runs != NULL && i < runs->len; i++) {
		const LodeRunSummary *run = g_ptr_array_index(runs, i);
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "name", run->name);
		lode_json_member_string(json, "weight", run->weight);
		lode_json_member_number(json, "sequences", (double)run->n_sequences);
		lode_json_member_bool(json, "is_complete", run->is_complete);
		lode_json_member_number(json, "seconds", run->seconds);
		/* The store's own JSON, as text: nothing here vouches for it. */
		lode_json_member_string(json, "parameters", run->parameters);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static const LodeColumn origin_columns[] = {
	{"name", LODE_CELL_TEXT(LodeOrigin, name)},
	{"host", LODE_CELL_TEXT(LodeOrigin, host)},
	{"program", LODE_CELL_TEXT(LodeOrigin, program)},
	{"pid", LODE_CELL_NUMBER(LodeOrigin, pid)},
	{"recorded_at", LODE_CELL_NUMBER(LodeOrigin, recorded_at)},
	{"samples", LODE_CELL_NUMBER(LodeOrigin, n_samples)},
	{"executions", LODE_CELL_NUMBER(LodeOrigin, total_count)},
};
static const LodeColumns origins = LODE_COLUMNS("origins", origin_columns, LodeOrigin);

static void write_json(
	const LodeProfile *profile, const GArray *rows, const GPtrArray *runs, FILE *out)
{
	LodeJsonStream json;

	lode_profile_json_open(&json, out, profile);
	lode_json_member_begin(&json, "flow_conservation", '{');
	lode_json_member_number(&json, "checked", profile->run.inflow_checked);
	lode_json_member_number(&json, "equal", profile->run.inflow_equal);
	lode_json_member_number(&json, "share",
		profile->run.inflow_checked > 0
			? profile->run.inflow_equal / profile->run.inflow_checked
			: (double)NAN);
	lode_json_end(&json, '}');
	lode_json_line(&json);
	lode_columns_put_json_list(&origins, profile->origins, &json);
	lode_json_line(&json);
	lode_json_key(&json, "events");
	put_json_rows(&json, rows, "event");
	lode_json_line(&json);
	lode_json_key(&json, "images");
	put_json_rows(&json, rows, "image");
	lode_json_line(&json);
	lode_json_key(&json, "facts");
	put_json_rows(&json, rows, "fact");
	lode_json_line(&json);
	lode_json_key(&json, "missing_files");
	put_json_rows(&json, rows, "missing file");
	lode_json_line(&json);
	if (profile->memory != NULL) {
		lode_json_key(&json, "data_addresses");
		put_json_rows(&json, rows, "data address");
		lode_json_line(&json);
	}
	if (profile->memory != NULL) {
		lode_json_key(&json, "wrappers");
		put_json_rows(&json, rows, "wrapper");
		lode_json_line(&json);
	}
	if (profile->thread_times->len > 0) {
		lode_json_key(&json, "threads");
		lode_threads_json(&json, profile);
		lode_json_line(&json);
	}
	if (profile->loops->len > 0) {
		lode_loop_facts_sum_json(profile, &json);
		lode_json_line(&json);
	}
	if (has_machine(profile)) {
		lode_loop_facts_machine_json(profile, &json);
		lode_json_line(&json);
	}
	if (profile->windows != NULL) {
		lode_observed_json(&json, profile);
		lode_json_line(&json);
	}
	lode_profile_json_unresolved(&json, profile);
	lode_json_line(&json);
	put_json_runs(&json, runs);
	lode_json_end(&json, '}');
}

bool lode_info_write(const LodeProfile *profile, const GPtrArray *runs,
	const LodeInfoOptions *options, FILE *out, GError **error)
{
	g_autoptr(GArray) rows = info_rows(profile, runs);

	if (options->format == LODE_VIEW_TEXT)
		write_text(profile, rows, runs, options, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(profile, rows, runs, out);
	else
		lode_fact_rows_write_csv(rows, false, out);
	return lode_view_flush(out, error);
}

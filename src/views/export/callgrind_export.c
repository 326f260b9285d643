/* SPDX-License-Identifier: MIT */
/*
 * A function may be written in several parts, which readers put together: its own instructions, and
 * the calls that it makes, which may be known of functions that have no cost of their own.
 *
 *   ob=  fl=  fn=        function
 *   0x… line costs       an instruction
 *   cob= cfn= calls=     a call, then what it costs
 */
#include "views/export/callgrind_export.h"

#include "analyses/calls/call_costs.h"
#include "analyses/memory/window_samples.h"
#include "base/arrays/id_cache.h"
#include "base/arrays/name_table.h"
#include "base/arrays/partition_point.h"
#include "model/causes.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "views/export/stack_export.h"
#include "views/form/format.h"

#include <math.h>
#include <string.h>

typedef enum { OBJECTS, FILES, FUNCTIONS, N_NAMES } NameKind;

typedef struct {
	const LodeProfile *profile;
	FILE *out;
	GArray *events; /* uint32_t: those that are written */
	LodeNameTable names[N_NAMES];
	GHashTable *files; /* image and function → source file; both owned */
	double *totals;    /* of each event */
} Callgrind;

/* "(3) name" the first time, "(3)" then. */
static void write_name(Callgrind *self, const char *tag, NameKind kind, const char *name)
{
	const char *text = name != NULL && name[0] != '\0' ? name : "???";
	guint n_known = self->names[kind].names->len;
	uint32_t number = lode_name_table_add(&self->names[kind], text);

	fprintf(self->out, "%s=(%u)%s", tag, number + 1, number < n_known ? "\n" : " ");
	if (number < n_known)
		return;
	g_autofree char *harmless = lode_stack_export_text(text);
	fprintf(self->out, "%s\n", harmless);
}

/* A name of letters and digits. Executions have callgrind's name, by which readers know them; the
 * caller frees it. */
static char *event_name(const LodeEvent *event)
{
	char *name = g_strdup(event->kind == LODE_EVENT_COUNT ? "Ir" : event->name);

	g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS, '_');
	if (g_ascii_isalpha(name[0]))
		return name;
	char *longer = g_strconcat("e", name, NULL);
	g_free(name);
	return longer;
}

/* The title of an event, which readers show in menus and titles, so it is short: for sampled and
 * derived events the name, as the description says how they were made. The caller frees it. */
static char *event_title(const LodeProfile *profile, uint32_t index)
{
	const LodeEvent *event = lode_profile_event(profile, index);
	char *text = NULL;

	if (event->kind == LODE_EVENT_SAMPLED || event->kind == LODE_EVENT_DERIVED ||
		event->description == NULL)
		text = g_strconcat(
			event->name, lode_stack_export_is_time(profile, index) ? ", ns" : "", NULL);
	else
		text = g_strndup(event->description, strcspn(event->description, ";"));
	return g_strdelimit(text, "\r\n", ' ');
}

static void write_events(Callgrind *self)
{
	GString *list = g_string_new("events:");

	for (guint i = 0; i < self->events->len; i++) {
		const LodeEvent *event = lode_profile_event(
			self->profile, g_array_index(self->events, uint32_t, i));
		g_autofree char *name = event_name(event);
		g_autofree char *title = event_title(
			self->profile, g_array_index(self->events, uint32_t, i));
		g_autofree char *text = lode_stack_export_text(title);
		fprintf(self->out, "event: %s : %s\n", name, text);
		g_string_append_printf(list, " %s", name);
	}
	fprintf(self->out, "%s\n", list->str);
	g_string_free(list, TRUE);
}

static void write_head(Callgrind *self)
{
	g_autofree char *command = lode_stack_export_text(
		self->profile->run.program != NULL ? self->profile->run.program : "???");

	fprintf(self->out, "# callgrind format\nversion: 1\ncreator: lode-" LODE_VERSION "\n");
	fprintf(self->out, "cmd: %s\npositions: instr line\n", command);
	write_events(self);
}

static void write_costs(const Callgrind *self, uint64_t address, uint32_t line, const double *costs)
{
	fprintf(self->out, "0x%" G_GINT64_MODIFIER "x %" G_GUINT32_FORMAT, address, line);
	for (guint i = 0; i < self->events->len; i++)
		fprintf(self->out, " %.0f", round(costs[i]));
	putc('\n', self->out);
}

static void write_call(const Callgrind *self, double count, uint64_t target, uint32_t target_line)
{
	fprintf(self->out, "calls=%.0f 0x%" G_GINT64_MODIFIER "x %" G_GUINT32_FORMAT "\n",
		MAX(round(count), 1), target, target_line);
}

static const LodeLocation *location_of(const LodeProfile *profile, const LodeInstruction *at)
{
	return at->location != LODE_NONE
	               ? &LODE_AT(profile->code.locations, LodeLocation, at->location)
	               : NULL;
}

static uint32_t line_of(const LodeProfile *profile, const LodeInstruction *at)
{
	const LodeLocation *location = location_of(profile, at);

	return location != NULL ? location->line : 0;
}

static const char *file_of(const LodeProfile *profile, const LodeInstruction *at)
{
	const LodeLocation *location = location_of(profile, at);

	return location != NULL ? location->file : NULL;
}

/* Readers know a function by its file too: it is the one that it was first seen with. */
static const char *function_file(
	Callgrind *self, const char *image, const char *function, const char *file)
{
	g_autofree char *key = g_strconcat(image != NULL ? image : "", "\n", function, NULL);
	const char *known = g_hash_table_lookup(self->files, key);

	if (known != NULL)
		return known;
	char *kept = g_strdup(file != NULL ? file : "");
	g_hash_table_insert(self->files, g_steal_pointer(&key), kept);
	return kept;
}

static void find_files(Callgrind *self)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		function_file(self, lode_profile_image(profile, function->image)->path,
			function->name, lode_stack_export_function_file(profile, function));
	}
}

/* Begins with "c" where it is called. */
static void write_place(
	Callgrind *self, bool is_callee, const char *image, const char *function, const char *file)
{
	write_name(self, is_callee ? "cob" : "ob", OBJECTS, image);
	write_name(
		self, is_callee ? "cfl" : "fl", FILES, function_file(self, image, function, file));
	write_name(self, is_callee ? "cfn" : "fn", FUNCTIONS, function);
}

/* The calls of a function, which are a range of the edges. `costs` are of all edges, an array for
 * each event. */
static void write_edges(Callgrind *self, uint32_t instruction, double *const *costs)
{
	const LodeProfile *profile = self->profile;
	const LodeInstruction *source = lode_profile_instruction(profile, instruction);
	const LodeEdge *edges = (const LodeEdge *)profile->code.edges->data;
	uint32_t at = LODE_PARTITION_POINT(
		profile->code.edges->len, i, edges[i].source < instruction);
	g_autofree double *values = g_new(double, MAX(self->events->len, 1));

	for (; at < profile->code.edges->len && edges[at].source == instruction; at++) {
		if (edges[at].kind != LODE_EDGE_CALL || edges[at].count <= 0)
			continue;
		const LodeInstruction *target = lode_profile_instruction(profile, edges[at].target);
		const LodeFunction *callee = lode_profile_function(profile, target->function);
		write_place(self, true, lode_profile_image(profile, callee->image)->path,
			callee->name, NULL);
		write_call(self, edges[at].count, target->address, line_of(profile, target));
		for (guint i = 0; i < self->events->len; i++)
			values[i] = costs[i][at];
		write_costs(self, source->address, line_of(profile, source), values);
	}
}

/* `calls` NULL: they are written apart. */
static void write_function(Callgrind *self, const LodeFunction *function, double *const *calls)
{
	const LodeProfile *profile = self->profile;
	g_autofree double *values = g_new(double, MAX(self->events->len, 1));
	const char *image = lode_profile_image(profile, function->image)->path;
	const char *file = function_file(self, image, function->name, NULL);

	putc('\n', self->out);
	write_place(self, false, image, function->name, NULL);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t at = function->first_instruction + i;
		const LodeInstruction *instruction = lode_profile_instruction(profile, at);
		const char *of = file_of(profile, instruction) != NULL
		                         ? file_of(profile, instruction)
		                         : "";
		bool has_cost = false;
		for (guint j = 0; j < self->events->len; j++) {
			values[j] = lode_profile_event_value(
				profile, g_array_index(self->events, uint32_t, j), at);
			has_cost = has_cost || values[j] >= 0.5;
			self->totals[j] += round(values[j]);
		}
		/* Inlined code is of another file. */
		if (g_strcmp0(of, file) != 0)
			write_name(self, "fi", FILES, of);
		file = of;
		if (has_cost)
			write_costs(
				self, instruction->address, line_of(profile, instruction), values);
		if (calls != NULL)
			write_edges(self, at, calls);
	}
}

/* Functions of call stacks, without those inlined: from a stack outward to the next that is one. */
static uint32_t function_stack(const LodeStacks *stacks, uint32_t stack)
{
	while (stack != LODE_NONE) {
		const LodeStack *at = &g_array_index(stacks->stacks, LodeStack, stack);
		if (!g_array_index(stacks->frames, LodeFrame, at->frame).is_inlined)
			return stack;
		stack = at->outer;
	}
	return LODE_NONE;
}

/* A call of a function from a place in another, in all stacks together. */
typedef struct {
	uint32_t caller, callee; /* frames; of the callee any */
	uint32_t last_sum; /* that it is counted for, from 1: in recursion it is there again */
	double n;
	double *values;
} StackCall;

typedef struct {
	const LodeStacks *stacks;
	GArray *calls;   /* StackCall */
	uint32_t *of;    /* of each stack: index of its function's call; LODE_NONE: none */
	LodeIdCache ids; /* caller's frame, callee's name and image → index */
	GStringChunk *strings;
} StackCalls;

static const LodeFrame *frame_at(const LodeStacks *stacks, uint32_t stack)
{
	return &g_array_index(
		stacks->frames, LodeFrame, g_array_index(stacks->stacks, LodeStack, stack).frame);
}

static void find_calls(StackCalls *self, guint n_events)
{
	const LodeStacks *stacks = self->stacks;

	for (uint32_t i = 0; i < stacks->stacks->len; i++) {
		const LodeStack *stack = &g_array_index(stacks->stacks, LodeStack, i);
		uint32_t outer = function_stack(stacks, stack->outer);
		bool is_new;
		self->of[i] = LODE_NONE;
		if (frame_at(stacks, i)->is_inlined || outer == LODE_NONE)
			continue;
		const LodeFrame *callee = frame_at(stacks, i);
		g_autofree char *name = lode_stack_export_frame_name(callee);
		const char *image = callee->image != NULL ? callee->image : "";
		const LodeIdKey key = {{g_array_index(stacks->stacks, LodeStack, outer).frame,
			(uint64_t)(uintptr_t)g_string_chunk_insert_const(self->strings, name),
			(uint64_t)(uintptr_t)g_string_chunk_insert_const(self->strings, image)}};
		LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);
		if (is_new) {
			const StackCall call = {
				.caller = g_array_index(stacks->stacks, LodeStack, outer).frame,
				.callee = stack->frame,
				.values = g_new0(double, MAX(n_events, 1)),
			};
			slot->id = self->calls->len;
			g_array_append_val(self->calls, call);
		}
		self->of[i] = slot->id;
	}
}

static void add_weight(const Callgrind *to, StackCall *call, uint32_t event, double weight)
{
	for (guint i = 0; i < to->events->len; i++)
		if (g_array_index(to->events, uint32_t, i) == event)
			call->values[i] += weight;
}

/*
 * Events without stacks, such as executions, are known by function only. Callers get a share of
 * them in proportion to the function's samples: 60 of 90 executions in work(), if 2 of its 3
 * samples are of calls from a(). Otherwise a reader would show less for a function with its callees
 * than for it alone.
 */
typedef struct {
	uint32_t event;  /* of the samples */
	guint n_columns; /* of `costs`: the export's events */
	GHashTable *ids; /* image and function → number + 1 */
	uint32_t *
		of_frame; /* of each frame: its function's number; LODE_NONE: it has no code here */
	double *costs;    /* function × column; 0 where stacks were sampled with the event */
	double *samples;  /* of each function: the weight of those in it */
} Shares;

static char *function_key(const char *image, const char *function)
{
	return g_strconcat(image != NULL ? image : "", "\n", function, NULL);
}

static uint32_t function_number(const Shares *self, const char *image, const char *function)
{
	g_autofree char *key = function_key(image, function);

	return GPOINTER_TO_UINT(g_hash_table_lookup(self->ids, key)) - 1;
}

/* Functions of one name in an image are one to readers. */
static void sum_functions(Shares *self, const Callgrind *to, const bool *is_sampled)
{
	const LodeProfile *profile = to->profile;

	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		const char *image = lode_profile_image(profile, function->image)->path;
		uint32_t number = function_number(self, image, function->name);
		if (number == LODE_NONE) {
			number = g_hash_table_size(self->ids);
			g_hash_table_insert(self->ids, function_key(image, function->name),
				GUINT_TO_POINTER(number + 1));
		}
		double *costs = self->costs + (size_t)number * self->n_columns;
		for (guint j = 0; j < self->n_columns; j++) {
			uint32_t event = g_array_index(to->events, uint32_t, j);
			for (uint32_t k = 0; !is_sampled[event] && k < function->n_instructions;
				k++)
				costs[j] += lode_profile_event_value(
					profile, event, function->first_instruction + k);
		}
	}
}

/* The function that a sample is in; LODE_NONE: none, or the sample is of another event. */
static uint32_t function_of(
	const Shares *self, const LodeStacks *stacks, const LodeStackSample *sample)
{
	uint32_t stack = sample->event == self->event ? function_stack(stacks, sample->stack)
	                                              : LODE_NONE;

	return stack != LODE_NONE
	               ? self->of_frame[g_array_index(stacks->stacks, LodeStack, stack).frame]
	               : LODE_NONE;
}

static void init_shares(Shares *self, const LodeStacks *stacks, const Callgrind *to)
{
	g_autofree bool *is_sampled = g_new0(bool, MAX(to->profile->code.events->len, 1));
	g_auto(LodeStackExport) export = {0};
	size_t n_functions = MAX(to->profile->code.functions->len, 1);

	lode_stack_export_init(&export, to->profile, LODE_NONE, NULL);
	*self = (Shares){
		.event = export.weight,
		.n_columns = to->events->len,
		.ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.of_frame = g_new(uint32_t, MAX(stacks->frames->len, 1)),
		.costs = g_new0(double, n_functions *MAX(to->events->len, 1)),
		.samples = g_new0(double, n_functions),
	};
	for (guint i = 0; i < export.events->len; i++) {
		uint32_t event = g_array_index(export.events, uint32_t, i);
		uint32_t cause = lode_profile_event_as_charged(to->profile, event);
		is_sampled[event] = true;
		if (cause != LODE_NONE)
			is_sampled[cause] = true;
	}
	sum_functions(self, to, is_sampled);
	for (guint i = 0; i < stacks->frames->len; i++) {
		const LodeFrame *frame = &g_array_index(stacks->frames, LodeFrame, i);
		g_autofree char *name = lode_stack_export_frame_name(frame);
		self->of_frame[i] = function_number(self, frame->image, name);
	}
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(stacks->samples, LodeStackSample, i);
		uint32_t function = function_of(self, stacks, sample);
		if (function != LODE_NONE)
			self->samples[function] += sample->weight;
	}
}

static void clear_shares(Shares *self)
{
	g_hash_table_unref(self->ids);
	g_free(self->of_frame);
	g_free(self->costs);
	g_free(self->samples);
}

static void add_share(
	const Shares *self, StackCall *call, uint32_t function, const LodeStackSample *sample)
{
	if (function == LODE_NONE || self->samples[function] <= 0)
		return;
	for (guint i = 0; i < self->n_columns; i++)
		call->values[i] += self->costs[(size_t)function * self->n_columns + i] *
		                   (sample->weight / self->samples[function]);
}

/* Weight that moves to the instruction that waited stays in its function, except from the first
 * instruction of a call's target: it counts for both events. */
static void sum_calls(StackCalls *self, const Callgrind *to)
{
	uint32_t latency = lode_profile_find_event(to->profile, LODE_LATENCY_EVENT);
	Shares shares;

	init_shares(&shares, self->stacks, to);
	for (guint i = 0; i < self->stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(
			self->stacks->samples, LodeStackSample, i);
		uint32_t cause = lode_profile_event_as_charged(to->profile, sample->event);
		uint32_t function = function_of(&shares, self->stacks, sample);
		/* Latency is a second weight of a sample that has been counted. */
		bool is_counted = sample->event != latency || sample->event == shares.event;
		for (uint32_t at = sample->stack; at != LODE_NONE;
			at = g_array_index(self->stacks->stacks, LodeStack, at).outer) {
			StackCall *call = self->of[at] != LODE_NONE
			                          ? &g_array_index(
							    self->calls, StackCall, self->of[at])
			                          : NULL;
			if (call == NULL || call->last_sum == i + 1)
				continue;
			call->last_sum = i + 1;
			call->n += is_counted ? 1.0 + sample->n_more : 0;
			add_weight(to, call, sample->event, sample->weight);
			if (cause != LODE_NONE)
				add_weight(to, call, cause, sample->weight);
			add_share(&shares, call, function, sample);
		}
	}
	clear_shares(&shares);
}

static void write_stack_calls(Callgrind *self, const StackCalls *calls)
{
	for (guint i = 0; i < calls->calls->len; i++) {
		const StackCall *call = &g_array_index(calls->calls, StackCall, i);
		const LodeFrame *caller = &g_array_index(
			calls->stacks->frames, LodeFrame, call->caller);
		const LodeFrame *callee = &g_array_index(
			calls->stacks->frames, LodeFrame, call->callee);
		g_autofree char *caller_name = lode_stack_export_frame_name(caller);
		g_autofree char *callee_name = lode_stack_export_frame_name(callee);
		if (call->n == 0)
			continue;
		putc('\n', self->out);
		write_place(self, false, caller->image, caller_name, caller->file);
		write_place(self, true, callee->image, callee_name, callee->file);
		write_call(self, call->n, callee->address, callee->line);
		write_costs(self, caller->address, caller->line, call->values);
	}
}

static void write_stacks(Callgrind *self)
{
	const LodeStacks *stacks = self->profile->stacks;
	StackCalls calls = {
		.stacks = stacks,
		.calls = g_array_new(FALSE, FALSE, sizeof(StackCall)),
		.of = g_new(uint32_t, MAX(stacks->stacks->len, 1)),
		.strings = g_string_chunk_new(1 << 12),
	};

	lode_id_cache_init(&calls.ids);
	find_calls(&calls, self->events->len);
	sum_calls(&calls, self);
	write_stack_calls(self, &calls);
	for (guint i = 0; i < calls.calls->len; i++)
		g_free(g_array_index(calls.calls, StackCall, i).values);
	lode_id_cache_clear(&calls.ids);
	g_string_chunk_free(calls.strings);
	g_array_unref(calls.calls);
	g_free(calls.of);
}

static bool has_call_stacks(const LodeProfile *profile)
{
	return profile->stacks != NULL && profile->stacks->has_chains;
}

static void write_functions(Callgrind *self)
{
	const LodeProfile *profile = self->profile;
	g_autoptr(GPtrArray) costs = g_ptr_array_new_with_free_func(g_free);
	bool has_stacks = has_call_stacks(profile);

	for (guint i = 0; !has_stacks && i < self->events->len; i++)
		g_ptr_array_add(costs,
			lode_call_costs_new(profile, g_array_index(self->events, uint32_t, i)));
	for (guint i = 0; i < profile->code.functions->len; i++)
		write_function(self, lode_profile_function(profile, i),
			has_stacks ? NULL : (double *const *)costs->pdata);
}

static void write_totals(const Callgrind *self)
{
	fputs("\ntotals:", self->out);
	for (guint i = 0; i < self->events->len; i++)
		fprintf(self->out, " %.0f", self->totals[i]);
	putc('\n', self->out);
}

/* The weight first: it is what a reader shows. */
/* Accesses in windows have no costs. */
static GArray *choose_events(const LodeProfile *profile)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t windows = lode_window_samples_event(profile);

	if (profile->code.events->len > 0)
		g_array_append_val(events, profile->code.weight_event);
	for (uint32_t i = 0; i < profile->code.events->len; i++)
		if (i != profile->code.weight_event && i != windows &&
			lode_profile_event(profile, i)->kind != LODE_EVENT_DERIVED)
			g_array_append_val(events, i);
	return events;
}

bool lode_callgrind_write(const LodeProfile *profile, FILE *out, GError **error)
{
	Callgrind self = {
		.profile = profile,
		.out = out,
		.events = choose_events(profile),
		.files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
	};

	for (int i = 0; i < N_NAMES; i++)
		lode_name_table_init(&self.names[i]);
	self.totals = g_new0(double, MAX(self.events->len, 1));
	find_files(&self);
	write_head(&self);
	write_functions(&self);
	if (has_call_stacks(profile))
		write_stacks(&self);
	write_totals(&self);
	for (int i = 0; i < N_NAMES; i++)
		lode_name_table_clear(&self.names[i]);
	g_array_unref(self.events);
	g_hash_table_unref(self.files);
	g_free(self.totals);
	return lode_view_flush(out, error);
}

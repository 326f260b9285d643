/* SPDX-License-Identifier: MIT */
/*
 * Flow that callgrind never writes. It keeps a call stack of its own, and whatever takes frames off
 * it (a return, longjmp, a thrown exception's landing) is written as no jump at all; nor does it
 * write what the kernel does. Each gap is closed only where something else bears it out:
 *
 *   gap                                         borne out by
 *   a process's first instruction               the number of processes in the recording
 *   a signal handler's entry                    returns into the signal trampoline, or unseen
 *   after a system call, more often than it ran a new thread or process begins there (clone)
 *   after a call, more often than it ran        indirect jumps with no written target (longjmp)
 *   a landing pad                               jumps just after rsp was set from a register
 *   the resolver's jump to what it resolved     written as a second call by its own caller
 *
 * At the end the returns that left callees are compared with those that arrived after calls.
 */
#include "ingest/join/join_flow.h"
#include "model/code.h"

#include <math.h>
#include <string.h>

typedef LodeJoinFlow Flow;

/* The ends of one class of unwritten jumps. */
typedef struct {
	GArray *sources, *targets; /* uint32_t: instructions */
	double left, lacking;
} Gap;

static LodeFunction *function_of(const Flow *self, uint32_t index)
{
	return lode_profile_function(
		self->profile, lode_profile_instruction(self->profile, index)->function);
}

static bool is_entry(const Flow *self, uint32_t index)
{
	return lode_profile_instruction(self->profile, index)->address ==
	       function_of(self, index)->address;
}

static bool is_after_system_call(const Flow *self, uint32_t index)
{
	return index > 0 && (self->codes[index - 1].kinds >> LODE_KIND_SYSCALL & 1) != 0 &&
	       lode_join_flow_following(self, index - 1) == index;
}

static bool is_after_call(const Flow *self, uint32_t index)
{
	const LodeJoinCode *before = &self->codes[index > 0 ? index - 1 : 0];

	return index > 0 &&
	       (before->branch == LODE_BRANCH_CALL ||
		       before->branch == LODE_BRANCH_INDIRECT_CALL) &&
	       lode_join_flow_following(self, index - 1) == index;
}

/* Its entry lacks as much as its returns went into the trampoline, or the lack is something else.
 */
static void close_signal_handler(Flow *self, uint32_t index, double lack)
{
	if (lack != self->signal_returns[lode_profile_instruction(self->profile, index)->function])
		return;
	self->in[index] += lack;
	function_of(self, index)->calls += lack;
}

static uint32_t lacking_at(const Flow *self, guint index)
{
	return g_array_index(self->lacking, uint32_t, index);
}

/* Entries that nothing leads to, as many as there were processes. */
static void close_starts(Flow *self)
{
	double n_processes = MAX(self->recording->pids->len, 1), found = 0;

	for (int pass = 0; pass < 2 && found <= n_processes; pass++) {
		for (guint i = 0; i < self->lacking->len; i++) {
			uint32_t at = lacking_at(self, i);
			double count = lode_profile_instruction(self->profile, at)->count;
			if (self->in[at] != 0 || count > n_processes || !is_entry(self, at))
				continue;
			if (pass == 0)
				found += count;
			else
				self->in[at] = count;
		}
	}
}

/* `mov REG, rsp`, and before the jump perhaps `pop REG`. */
static bool sets_stack_before(const uint8_t *code, uint64_t offset)
{
	if (offset >= 4 && (code[offset - 1] & 0xf8) == 0x58)
		offset--;
	return offset >= 3 && code[offset - 3] == 0x48 && code[offset - 2] == 0x89 &&
	       (code[offset - 1] & 0xc7) == 0xc4;
}

/* How gcc ends __builtin_eh_return: an exception lands in another frame. */
static bool is_landing(const Flow *self, uint32_t index)
{
	const LodeFunction *function = function_of(self, index);
	uint64_t offset = lode_profile_instruction(self->profile, index)->address -
	                  function->address;
	uint8_t branch = self->codes[index].branch;
	gsize size;

	if (function->code == NULL ||
		(branch != LODE_BRANCH_RETURN && branch != LODE_BRANCH_INDIRECT_JUMP))
		return false;
	const uint8_t *code = g_bytes_get_data(function->code, &size);
	return offset <= size && sets_stack_before(code, offset);
}

/* An indirect jump that ran more often than its written targets: longjmp() ends so. */
static bool is_silent_jump(const Flow *self, uint32_t index)
{
	return self->codes[index].branch == LODE_BRANCH_INDIRECT_JUMP &&
	       self->out[index] < lode_profile_instruction(self->profile, index)->count;
}

static double left_over(const Flow *self, uint32_t index)
{
	return lode_profile_instruction(self->profile, index)->count - self->out[index];
}

static void gap_init(Gap *self)
{
	self->sources = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->targets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->left = self->lacking = 0;
}

static void gap_clear(Gap *self)
{
	g_array_unref(self->sources);
	g_array_unref(self->targets);
}

/* Who jumped where is known when either end is one instruction only. */
static void add_gap_edges(Flow *self, const Gap *gap)
{
	bool has_one_source = gap->sources->len == 1;
	const GArray *many = has_one_source ? gap->targets : gap->sources;

	if (!has_one_source && gap->targets->len != 1)
		return;
	for (guint i = 0; i < many->len; i++) {
		uint32_t source = g_array_index(gap->sources, uint32_t, has_one_source ? 0 : i);
		uint32_t target = g_array_index(gap->targets, uint32_t, has_one_source ? i : 0);
		lode_join_flow_add_edge(self, source, target, LODE_EDGE_RETURN,
			has_one_source ? lode_join_flow_lack(self, target)
				       : left_over(self, source));
	}
}

/* Only a class as a whole can be compared, and only when its sums agree is it believed. */
static void close_gap(Flow *self, const Gap *gap)
{
	if (gap->targets->len == 0 || fabs(gap->left - gap->lacking) > 1e-9 * gap->left)
		return;
	add_gap_edges(self, gap);
	for (guint i = 0; i < gap->targets->len; i++) {
		uint32_t target = g_array_index(gap->targets, uint32_t, i);
		self->in[target] = lode_profile_instruction(self->profile, target)->count;
	}
}

static void add_source(Flow *self, uint32_t index, Gap *jumps, Gap *landings)
{
	Gap *gap = is_landing(self, index) ? landings : is_silent_jump(self, index) ? jumps : NULL;

	if (gap == NULL)
		return;
	g_array_append_val(gap->sources, index);
	gap->left += left_over(self, index);
}

static void add_target(Flow *self, uint32_t index, Gap *jumps, Gap *landings)
{
	double lack = lode_join_flow_lack(self, index);
	Gap *gap = is_after_call(self, index) ? jumps : landings;

	if (lack == 0)
		return;
	g_array_append_val(gap->targets, index);
	gap->lacking += lack;
}

/* longjmp's jumps and exceptions' landings, each against what lacks inflow. */
static void close_non_local(Flow *self)
{
	Gap jumps, landings;

	gap_init(&jumps);
	gap_init(&landings);
	for (guint i = 0; i < self->exits->len; i++)
		add_source(self, g_array_index(self->exits, uint32_t, i), &jumps, &landings);
	for (guint i = 0; i < self->lacking->len; i++)
		add_target(self, lacking_at(self, i), &jumps, &landings);
	close_gap(self, &jumps);
	close_gap(self, &landings);
	gap_clear(&jumps);
	gap_clear(&landings);
}

static void close_single_gaps(Flow *self)
{
	for (guint i = 0; i < self->lacking->len; i++) {
		uint32_t at = lacking_at(self, i);
		double lack = lode_join_flow_lack(self, at);
		if (is_after_system_call(self, at)) {
			/* A new thread; the call made at most one each time that it ran. */
			if (lack <= lode_profile_instruction(self->profile, at - 1)->count)
				self->in[at] += lack;
		} else if (is_entry(self, at)) {
			close_signal_handler(self, at, lack);
		}
	}
}

/* Returns that left their callee, less those written as jumps or landing elsewhere. */
static double departed_returns(const Flow *self)
{
	double departed = 0;

	for (guint i = 0; i < self->exits->len; i++) {
		uint32_t at = g_array_index(self->exits, uint32_t, i);
		if (self->codes[at].branch == LODE_BRANCH_RETURN && !is_landing(self, at))
			departed += left_over(self, at);
	}
	return departed;
}

/* The only indirect jump of a function that no transfer leaves; LODE_NONE when there is none. */
static uint32_t only_silent_jump(const Flow *self, uint32_t inside)
{
	const LodeFunction *function = function_of(self, inside);
	uint32_t end = function->first_instruction + function->n_instructions, found = LODE_NONE;

	for (uint32_t i = function->first_instruction; i < end; i++) {
		if (self->codes[i].branch != LODE_BRANCH_INDIRECT_JUMP || self->out[i] != 0)
			continue;
		if (found != LODE_NONE)
			return LODE_NONE;
		found = i;
	}
	return found;
}

/* One jump's transfers: its calls of the resolver, and as many written for the resolver's jump. */
static void reroute(Flow *self, LodeJoinTransfer *transfers, uint32_t n)
{
	double excess = self->out[transfers->source] -
	                lode_profile_instruction(self->profile, transfers->source)->count;

	for (uint32_t i = 0; i < n; i++) {
		if (transfers[i].target == LODE_NONE || transfers[i].count != excess ||
			self->out[transfers->source] != 2 * excess)
			continue;
		uint32_t jump = only_silent_jump(self, transfers[i].target);
		if (jump == LODE_NONE)
			continue;
		for (uint32_t j = 0; j < n; j++)
			if (j != i)
				transfers[j].source = jump;
		return;
	}
}

void lode_join_reroute_resolver(Flow *self)
{
	LodeJoinTransfer *transfers = (LodeJoinTransfer *)self->transfers->data;
	uint32_t n = self->transfers->len, end;

	for (uint32_t i = 0; i < n; i++)
		self->out[transfers[i].source] += transfers[i].count;
	for (uint32_t i = 0; i < n; i = end) {
		uint32_t source = transfers[i].source;
		for (end = i + 1; end < n && transfers[end].source == source;)
			end++;
		if (self->codes[source].branch == LODE_BRANCH_INDIRECT_JUMP &&
			self->out[source] > lode_profile_instruction(self->profile, source)->count)
			reroute(self, transfers + i, end - i);
	}
	memset(self->out, 0, self->n * sizeof(double));
}

/* Without a cache simulation not even the handlers' returns are written: then as many returns were
 * lost as handlers were entered. */
static bool close_unwritten_handlers(Flow *self, double n_returns)
{
	double lacking = 0;

	for (int pass = 0; pass < 2; pass++) {
		if (pass == 1 && (lacking == 0 || lacking != n_returns))
			return false;
		for (guint i = 0; i < self->lacking->len; i++) {
			uint32_t at = lacking_at(self, i);
			double lack = is_entry(self, at) ? lode_join_flow_lack(self, at) : 0;
			if (pass == 0)
				lacking += lack;
			if (pass == 0 || lack == 0)
				continue;
			self->in[at] += lack;
			function_of(self, at)->calls += lack;
		}
	}
	return true;
}

double lode_join_unwritten(Flow *self)
{
	close_single_gaps(self);
	close_starts(self);
	close_non_local(self);
	double astray = self->arrived - departed_returns(self);
	if (astray < 0 && close_unwritten_handlers(self, -astray))
		return 0;
	/* Code that could not be read may hold returns. */
	if (astray > 0)
		return MAX(astray - self->undecoded, 0);
	return -astray;
}

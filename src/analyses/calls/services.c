/* SPDX-License-Identifier: MIT */
/*
 * On stacks, each frame has a role:
 *
 *   own      the user's code, or what runs it, as the main loop of an interpreter
 *   service  of a library of the system, or of a family
 *   through  neither: the kernel, stubs, headers of the toolchain, inlined parts of libraries, and
 *            in an image with own source lines what has none, as a library that it was linked with
 *
 * A frame is an entry if it is a service and the next outward that is not "through" is own. Of
 * services that are inlined in each other the innermost is the entry, too. Below a line of a script
 * the interpreter's own frames are "through". A pair
 * (entry, own line around it) is a label of the stack, and its cost is that of the stacks with this
 * label. A builtin of V8 or HotSpot in a run is a part of it. One that no service calls is a
 * service without what it calls, and what it does by a library is called by its name. Runs with
 * nothing own around, as of the start of a thread, are no services of what they
 * call; what they cost alone has no known caller.
 */
#include "analyses/calls/services.h"

#include "analyses/calls/called_names.h"
#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "base/files/own_library.h"
#include "model/code.h"
#include "model/lines/own_lines.h"
#include "model/run/program_run.h"
#include "model/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ROLE_THROUGH, ROLE_OWN, ROLE_SERVICE, ROLE_SELF } Role;

/* One caller's part of one service. */
typedef struct {
	uint32_t function, family; /* of the service: one of them is LODE_NONE */
	LodeServiceCaller caller;  /* its function LODE_NONE: unknown */
} Share;

typedef struct {
	const LodeFunctionCosts *costs;
	const LodeFamilies *families;
	const uint32_t *family_of;
	LodeOwnLines *own;
	LodeCallSource source;
	GArray *shares; /* Share */
	LodeIdCache ids;
	GStringChunk *strings; /* the result's */
	GHashTable *implicit;  /* lode_implicit_members() */
} Search;

static const LodeFunctionCost *function_at(const Search *self, uint32_t function)
{
	return lode_function_cost_at(self->costs, function);
}

/* ROLE_SELF: a service without what it calls, which runs the user's code. */
static Role role_of(const Search *self, uint32_t function)
{
	const LodeFunctionCost *one = function_at(self, function);
	uint32_t family = self->family_of[function];

	/* The start of a program calls the library that calls main(). */
	static const char *const starts[] = {
		"_start", "start_thread", "clone", "clone3", "__clone", "__clone3", NULL};
	if (one->is_stub || strcmp(one->image, "[kernel]") == 0 ||
		g_strv_contains(starts, one->name) ||
		g_str_has_prefix(one->name, "__libc_start_") || lode_is_own_library(one->image))
		return ROLE_THROUGH;
	if (family != LODE_NONE)
		return lode_families_at(self->families, family)->is_self_only ? ROLE_SELF
		                                                              : ROLE_SERVICE;
	if (lode_is_system_library(one->image))
		return one->is_inlined ? ROLE_THROUGH : ROLE_SERVICE;
	return one->is_own ? ROLE_OWN : ROLE_THROUGH;
}

/* Whether a function is a builtin of V8 or HotSpot, or of what they consist of. */
static bool is_builtin(const Search *self, uint32_t function)
{
	const char *name = function_at(self, function)->name;
	uint32_t family = self->family_of[function];

	if (family == LODE_NONE || !lode_families_at(self->families, family)->is_self_only)
		return false;
	return strcmp(lode_families_at(self->families, family)->name, "run-time builtins") == 0 ||
	       g_str_has_prefix(name, "Builtins_") || g_str_has_prefix(name, "v8::");
}

/* Keys have two bits beyond for the work. */
#define MOST_LINE 0x3fffffff

static Share *share_of(Search *self, uint32_t function, uint32_t family,
	const LodeServiceCaller *caller, uint32_t *out_number)
{
	const LodeIdKey key = {{(uint64_t)function << 32 | family,
		(uint64_t)caller->function << 32 | (caller->line & MOST_LINE) |
			(uint64_t)caller->work << 30,
		GPOINTER_TO_SIZE(caller->file), GPOINTER_TO_SIZE(caller->called)}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);

	if (is_new) {
		const Share added = {function, family, *caller};
		slot->id = self->shares->len;
		g_array_append_val(self->shares, added);
	}
	*out_number = slot->id;
	return &g_array_index(self->shares, Share, slot->id);
}

static const LodeServiceCaller nobody = {.function = LODE_NONE};

/* Stands for all callers together, for which a sample counts once. */
static const LodeServiceCaller everybody = {.function = LODE_NONE - 1};

/* --- by stacks --- */

typedef struct {
	const LodeStacks *stacks;
	guint n;
	uint32_t *owners;  /* of each stack the innermost own one, itself or around; LODE_NONE */
	uint32_t *entries; /* the entry of the run of services it is in; LODE_NONE */
	uint32_t *hosts;   /* the builtin around, with no own code or service between; LODE_NONE */
	const char **called;     /* of it, as in LodeServiceCaller */
	double *costs, *samples; /* of each stack alone */
	GHashTable *with_lines;  /* images, of which some own code has its source lines */
	bool *is_in_run_time; /* it is of the program of a run-time environment, or one around is */
	/* Of each stack: the work on an object that it is part of. */
	LodeObjectWork *works;
} Walk;

/* Labels of stacks: LODE_NONE where they have none. */
enum { SERVICE, ALL_SERVICE, FAMILY, ALL_FAMILY, N_LABELS };

static const LodeStack *stack_at(const Walk *self, uint32_t i)
{
	return &LODE_AT(self->stacks->stacks, LodeStack, i);
}

static const LodeFrame *frame_at(const Walk *self, uint32_t i)
{
	return &LODE_AT(self->stacks->frames, LodeFrame, stack_at(self, i)->frame);
}

static bool has_own_file(const Search *self, const LodeFrame *frame)
{
	return frame->file != NULL && lode_own_lines_is_own_file(self->own, frame->file);
}

static bool is_made(const LodeFrame *frame)
{
	return frame->function != NULL && frame->image != NULL &&
	       g_str_has_suffix(frame->image, ".dump");
}

/* Whether a frame without an own line was made at run time and is Java's own: of its class library,
 * or a stub or the interpreter of HotSpot. V8's names have colons. */
static bool is_of_java(const Search *self, const LodeFrame *frame)
{
	const LodeFrame unlined = {.function = frame->function, .image = frame->image};

	return is_made(frame) && !has_own_file(self, frame) &&
	       strchr(frame->function, ':') == NULL && !lode_is_own_frame(&unlined);
}

static LodeServiceCaller caller_at(const Search *self, const Walk *walk, uint32_t owner)
{
	LodeServiceCaller caller = nobody;

	if (owner == LODE_NONE)
		return caller;
	const LodeFrame *frame = frame_at(walk, owner);
	uint32_t function = lode_function_costs_at_stack(self->costs, owner);
	/* The virtual machine's library calls compiled code, whose callers are not known. It is
	 * called by stubs, and by the interpreter for a method that is not known. */
	if ((is_builtin(self, function) &&
		    lode_is_system_library(function_at(self, function)->image)) ||
		is_of_java(self, frame))
		return caller;
	caller.function = function;
	if (frame->line > 0 && has_own_file(self, frame)) {
		caller.file = frame->file;
		caller.line = frame->line;
	}
	return caller;
}

static Role role_at(const Search *self, const Walk *walk, const Role *roles, uint32_t stack)
{
	const LodeFrame *frame = frame_at(walk, stack);
	Role role = roles[lode_function_costs_at_stack(self->costs, stack)];

	if (role != ROLE_OWN || has_own_file(self, frame))
		return role;
	/* Compiled code of Java has no lines at some calls, and its methods have names. */
	if (frame->file == NULL && !frame->is_inlined && is_made(frame))
		return is_of_java(self, frame) ? ROLE_THROUGH : ROLE_OWN;
	return frame->file != NULL || (frame->image != NULL && !frame->is_inlined &&
					      g_hash_table_contains(walk->with_lines, frame->image))
	               ? ROLE_THROUGH
	               : role;
}

/* The name by which a service that begins at a stack is called, if that is not its own. The loader
 * is called by the stub of what it looks for. A library's work for a builtin (`host`) is a part
 * of it. */
static const char *called_at(const Search *self, uint32_t stack, uint32_t host)
{
	uint32_t function = lode_function_costs_at_stack(self->costs, stack);
	const LodeFunctionCost *one = function_at(self, function);
	uint32_t family = self->family_of[function];

	if (one->is_inlined || !lode_is_system_library(one->image) ||
		(family != LODE_NONE &&
			strcmp(lode_families_at(self->families, family)->name, "loader") == 0))
		return NULL;
	if (host != LODE_NONE)
		return strcmp(function_at(self, host)->image, one->image) != 0
		               ? function_at(self, host)->name
		               : NULL;
	const char *stub = lode_called_names_stub(self->costs, stack);
	const char *at = stub != NULL ? strchr(stub, '@') : NULL;
	if (at == NULL || at == stub || !g_str_has_suffix(at, "@plt"))
		return NULL;
	g_autofree char *called = g_strndup(stub, (size_t)(at - stub));
	g_autofree char *own = lode_service_called_name(one);
	return strcmp(called, own) != 0 ? g_string_chunk_insert_const(self->strings, called) : NULL;
}

/* Whether it is the interpreter's own, other than a service, below a line of a script: that line is
 * what calls. */
static bool is_of_script(const Search *self, const Walk *walk, uint32_t stack)
{
	uint32_t outer = stack_at(walk, stack)->outer, function;
	uint32_t owner = outer != LODE_NONE ? walk->owners[outer] : LODE_NONE;

	if (owner == LODE_NONE ||
		function_at(self, lode_function_costs_at_stack(self->costs, owner))->script_line ==
			0)
		return false;
	function = lode_function_costs_at_stack(self->costs, stack);
	uint32_t family = self->family_of[function];
	return function_at(self, function)->script_line == 0 &&
	       (family == LODE_NONE || lode_families_at(self->families, family)->is_self_only) &&
	       lode_is_run_time_code(function_at(self, function)->image);
}

/* Whether a stack's frame is of an implicit member of a class. */
static bool is_implicit(const Search *self, const Walk *walk, uint32_t stack)
{
	const char *name = frame_at(walk, stack)->function;

	return name != NULL && g_hash_table_contains(self->implicit, name);
}

/* The labels of stacks in which a service begins, and of families; outer stacks come first. */
static void label_stacks(
	Search *self, Walk *walk, const Role *roles, uint32_t *const labels[N_LABELS])
{
	for (uint32_t i = 0; i < walk->n; i++) {
		uint32_t outer = stack_at(walk, i)->outer;
		uint32_t function = lode_function_costs_at_stack(self->costs, i);
		uint32_t owner = outer != LODE_NONE ? walk->owners[outer] : LODE_NONE;
		uint32_t entry = outer != LODE_NONE ? walk->entries[outer] : LODE_NONE;
		Role role = is_of_script(self, walk, i) ? ROLE_THROUGH
		                                        : role_at(self, walk, roles, i);
		if (role == ROLE_OWN && owner != LODE_NONE &&
			role_at(self, walk, roles, owner) == ROLE_OWN && is_implicit(self, walk, i))
			role = ROLE_THROUGH;
		LodeServiceCaller caller;

		for (unsigned k = 0; k < N_LABELS; k++)
			labels[k][i] = LODE_NONE;
		bool is_around = outer != LODE_NONE && walk->is_in_run_time[outer];
		const char *image = function_at(self, function)->image;
		walk->is_in_run_time[i] = is_around || lode_is_run_time_program(image);
		/* A run-time environment's own work is not the user's to change. */
		bool is_its_own = owner == LODE_NONE && is_around && lode_is_system_library(image);
		bool begins = role == ROLE_SERVICE && !is_its_own &&
		              (entry == LODE_NONE ||
				      (function_at(self, entry)->is_inlined &&
					      function_at(self, function)->is_inlined));
		/* A builtin in a run is a part of it, and not the one that calls what it calls. */
		bool is_host = role == ROLE_SELF && is_builtin(self, function);
		bool is_known = owner != LODE_NONE && role_at(self, walk, roles, owner) == ROLE_OWN;
		bool ends = role == ROLE_OWN ||
		            (role == ROLE_SELF && !(is_host && entry != LODE_NONE));
		LodeObjectWork around_it = outer != LODE_NONE ? walk->works[outer]
		                                              : LODE_OBJECT_WORK_NONE;
		LodeObjectWork work = lode_object_work_of(function_at(self, function)->name);
		bool is_in_run = entry != LODE_NONE && !begins && !ends;
		if (is_in_run || (work == LODE_OBJECT_WORK_NONE && role != ROLE_OWN))
			work = around_it;
		walk->works[i] = work;
		uint32_t host = outer != LODE_NONE ? walk->hosts[outer] : LODE_NONE;
		walk->owners[i] = ends && !(is_host && is_known) ? i : owner;
		walk->entries[i] = begins ? function : ends ? LODE_NONE : entry;
		walk->hosts[i] = is_host                                 ? function
		                 : ends || walk->entries[i] != LODE_NONE ? LODE_NONE
		                                                         : host;
		walk->called[i] = begins                          ? called_at(self, i, host)
		                  : walk->entries[i] != LODE_NONE ? walk->called[outer]
		                                                  : NULL;
		if (owner == LODE_NONE || role != ROLE_SERVICE)
			continue;
		caller = caller_at(self, walk, owner);
		uint32_t family = self->family_of[function];
		if (begins) {
			LodeServiceCaller named = caller;
			named.called = walk->called[i];
			named.work = walk->works[i];
			share_of(self, function, LODE_NONE, &named, &labels[SERVICE][i]);
			share_of(self, function, LODE_NONE, &everybody, &labels[ALL_SERVICE][i]);
		}
		if (family != LODE_NONE) {
			share_of(self, LODE_NONE, family, &caller, &labels[FAMILY][i]);
			share_of(self, LODE_NONE, family, &everybody, &labels[ALL_FAMILY][i]);
		}
	}
}

static void add_totals(Search *self, const uint32_t *labels)
{
	guint n = self->shares->len;
	g_autofree LodeStackTotal *totals = lode_function_costs_of_labels(self->costs, labels, n);

	for (guint i = 0; i < n; i++) {
		LodeServiceCaller *caller = &g_array_index(self->shares, Share, i).caller;
		caller->cost += totals[i].cost;
		caller->samples += totals[i].samples;
	}
}

static Share *add_cost(Search *self, uint32_t function, uint32_t family,
	const LodeServiceCaller *caller, double cost, double samples)
{
	uint32_t number;
	Share *share = share_of(self, function, family, caller, &number);

	share->caller.cost += cost;
	share->caller.samples += samples;
	return share;
}

enum { MOST_OUTWARD = 64 };

/* Adds to each family that is on a stack. */
static void add_families(Search *self, const Walk *walk, const Role *roles, uint32_t stack)
{
	uint64_t known = 0;

	for (unsigned i = 0, at = stack; at != LODE_NONE && i < MOST_OUTWARD; i++) {
		uint32_t function = lode_function_costs_at_stack(self->costs, at);
		uint32_t family = roles[function] == ROLE_SERVICE ? self->family_of[function]
		                                                  : LODE_NONE;
		at = stack_at(walk, at)->outer;
		if (family == LODE_NONE || family >= 64 || (known >> family & 1) != 0)
			continue;
		known |= LODE_BIT(family);
		add_cost(
			self, LODE_NONE, family, &nobody, walk->costs[stack], walk->samples[stack]);
	}
}

/* The cost of functions that have no known caller, and those that are services without what they
 * call; and which service is the nearest. */
static void add_alone(Search *self, const Walk *walk, const Role *roles)
{
	g_autofree uint32_t *around = g_new(uint32_t, MAX(walk->n, 1)); /* not inlined */

	for (uint32_t i = 0; i < walk->n; i++) {
		uint32_t outer = stack_at(walk, i)->outer;
		uint32_t function = lode_function_costs_at_stack(self->costs, i);
		bool is_part = function_at(self, function)->is_inlined && outer != LODE_NONE;
		bool is_kernel = strcmp(function_at(self, function)->image, "[kernel]") == 0;
		double nearest = is_kernel ? 0 : walk->costs[i];

		around[i] = is_part ? around[outer] : i;
		if (walk->samples[i] == 0)
			continue;
		function = lode_function_costs_at_stack(self->costs, around[i]);
		bool is_self = roles[function] == ROLE_SELF;
		bool is_in_run = walk->entries[around[i]] != LODE_NONE;
		if (is_self) {
			uint32_t beyond = stack_at(walk, around[i])->outer;
			LodeServiceCaller caller = caller_at(
				self, walk, beyond != LODE_NONE ? walk->owners[beyond] : LODE_NONE);
			add_cost(self, function, LODE_NONE, &caller, walk->costs[i],
				walk->samples[i])
				->caller.nearest += is_in_run ? 0 : nearest;
			add_cost(self, LODE_NONE, self->family_of[function], &caller,
				walk->costs[i], walk->samples[i]);
		}
		if (is_self && !is_in_run)
			continue;
		if (walk->owners[i] == LODE_NONE) {
			add_families(self, walk, roles, i);
			LodeServiceCaller unknown = nobody;
			unknown.work = walk->works[i];
			if (walk->entries[i] != LODE_NONE)
				add_cost(self, walk->entries[i], LODE_NONE, &unknown,
					walk->costs[i], walk->samples[i])
					->caller.nearest += nearest;
		} else if (walk->entries[i] != LODE_NONE) {
			LodeServiceCaller caller = caller_at(self, walk, walk->owners[i]);
			caller.called = walk->called[i];
			caller.work = walk->works[i];
			add_cost(self, walk->entries[i], LODE_NONE, &caller, 0, 0)
				->caller.nearest += nearest;
		}
	}
}

static void take_stacks(Search *self, const Role *roles, uint32_t event)
{
	const LodeStacks *stacks = lode_stacks_of(self->costs->profile);
	guint n = stacks->stacks->len;
	Walk walk = {stacks, n, g_new(uint32_t, MAX(n, 1)), g_new(uint32_t, MAX(n, 1)),
		g_new(uint32_t, MAX(n, 1)), g_new0(const char *, MAX(n, 1)),
		g_new0(double, MAX(n, 1)), g_new0(double, MAX(n, 1)),
		g_hash_table_new(g_str_hash, g_str_equal), g_new0(bool, MAX(n, 1)),
		g_new0(LodeObjectWork, MAX(n, 1))};
	uint32_t *labels[N_LABELS];

	for (unsigned k = 0; k < N_LABELS; k++)
		labels[k] = g_new(uint32_t, MAX(n, 1));
	for (guint i = 0; i < stacks->frames->len; i++) {
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, i);
		/* Rust's standard library has its lines also in a program that was built without.
		 */
		if (frame->image != NULL && !frame->is_inlined && has_own_file(self, frame))
			g_hash_table_add(walk.with_lines, frame->image);
	}
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != event || sample->stack >= n)
			continue;
		walk.costs[sample->stack] += sample->weight;
		walk.samples[sample->stack] += 1.0 + sample->n_more;
	}
	label_stacks(self, &walk, roles, labels);
	for (unsigned k = 0; k < N_LABELS; k++) {
		add_totals(self, labels[k]);
		g_free(labels[k]);
	}
	add_alone(self, &walk, roles);
	g_hash_table_unref(walk.with_lines);
	g_free(walk.owners);
	g_free(walk.entries);
	g_free(walk.hosts);
	g_free(walk.is_in_run_time);
	g_free(walk.works);
	g_free(walk.called);
	g_free(walk.costs);
	g_free(walk.samples);
}

/* --- by calls --- */

char *lode_service_called_name(const LodeFunctionCost *function)
{
	const char *name = function->called != NULL ? function->called : function->name;
	static const char *const variants[] = {"_sse2", "_sse3", "_sse4", "_ssse3", "_avx", "_evex",
		"_erms", "_fma", "_movbe", "_rtm", "_generic", "_unaligned"};
	const char *begin = name + strspn(name, "_"), *end = NULL;
	const char *part = strstr(name, ".part.");

	if (begin == name)
		return part != NULL ? g_strndup(name, (size_t)(part - name)) : g_strdup(name);
	if (g_str_has_prefix(begin, "libc_"))
		return g_strdup(begin + strlen("libc_"));
	if (g_str_has_prefix(begin, "GI_"))
		begin += strlen("GI_") + strspn(begin + strlen("GI_"), "_");
	if (g_str_has_prefix(begin, "ieee754_"))
		begin += strlen("ieee754_");
	if (g_str_has_prefix(begin, "IO_"))
		return g_strdup(begin + strlen("IO_"));
	for (size_t i = 0; i < G_N_ELEMENTS(variants); i++) {
		const char *found = strstr(begin, variants[i]);
		char after = found != NULL ? found[strlen(variants[i])] : 'x';
		if (found != NULL && found > begin &&
			(after == '\0' || after == '_' || g_ascii_isdigit(after)) &&
			(end == NULL || found < end))
			end = found;
	}
	return end != NULL ? g_strndup(begin, (size_t)(end - begin)) : g_strdup(name);
}

/* Calls of one service function from one place. */
typedef struct {
	uint32_t service;
	LodeServiceCaller caller;
	double count, cost;
} Call;

typedef struct {
	Search *search;
	const Role *roles;
	const GArray *counted; /* LodeCountedCall */
	double *beyond;        /* of each stub, calls to what it calls */
	GHashTable *called;    /* called name → service function + 1, of most cost */
	GArray *calls;         /* Call */
} Calls;

static LodeServiceCaller caller_of(const Search *self, const LodeCountedCall *call)
{
	const LodeProfile *profile = self->costs->profile;
	LodeServiceCaller caller = nobody;

	caller.function = call->caller;
	if (call->edge == LODE_NONE)
		return caller;
	uint32_t source = LODE_AT(lode_code_of(profile)->edges, LodeEdge, call->edge).source;
	uint32_t location = lode_own_lines_find(self->own, source);
	if (location != LODE_NONE && lode_own_lines_is_own(self->own, location)) {
		caller.file =
			LODE_AT(lode_code_of(profile)->locations, LodeLocation, location).file;
		caller.line =
			LODE_AT(lode_code_of(profile)->locations, LodeLocation, location).line;
	}
	return caller;
}

static bool is_service(const Calls *self, uint32_t function)
{
	return self->roles[function] >= ROLE_SERVICE;
}

/* Neither a service nor a stub nor the kernel. */
static bool is_caller(const Calls *self, uint32_t function)
{
	const LodeFunctionCost *one = function_at(self->search, function);

	return self->roles[function] != ROLE_SERVICE && !one->is_stub &&
	       strcmp(one->image, "[kernel]") != 0;
}

static void add_call(Calls *self, const LodeCountedCall *call, uint32_t service, double share)
{
	const Call added = {
		service, caller_of(self->search, call), call->count * share, call->cost * share};

	if (added.count > 0)
		g_array_append_val(self->calls, added);
}

/* A stub calls what it jumped to, in proportion, or else the function that it is named after. */
static void add_call_of_stub(Calls *self, const LodeCountedCall *call)
{
	const char *name = function_at(self->search, call->callee)->name;

	const LodeCountedCall *counted = (const LodeCountedCall *)(void *)self->counted->data;
	size_t at = LODE_PARTITION_POINT(self->counted->len, i, counted[i].caller < call->callee);

	if (self->beyond[call->callee] > 0) {
		for (; at < self->counted->len && counted[at].caller == call->callee; at++)
			if (is_service(self, counted[at].callee))
				add_call(self, call, counted[at].callee,
					counted[at].count / self->beyond[call->callee]);
		return;
	}
	g_autofree char *called = g_str_has_suffix(name, "@plt")
	                                  ? g_strndup(name, strlen(name) - strlen("@plt"))
	                                  : g_strdup(name);
	uint32_t service = GPOINTER_TO_UINT(g_hash_table_lookup(self->called, called));
	if (service > 0)
		add_call(self, call, service - 1, 1);
}

static void list_calls(Calls *self)
{
	for (guint i = 0; i < self->counted->len; i++) {
		const LodeCountedCall *call = &g_array_index(self->counted, LodeCountedCall, i);
		if (function_at(self->search, call->caller)->is_stub)
			self->beyond[call->caller] += call->count;
	}
	for (guint i = 0; i < self->counted->len; i++) {
		const LodeCountedCall *call = &g_array_index(self->counted, LodeCountedCall, i);
		if (!is_caller(self, call->caller))
			continue;
		if (function_at(self->search, call->callee)->is_stub)
			add_call_of_stub(self, call);
		else if (is_service(self, call->callee))
			add_call(self, call, call->callee, 1);
	}
}

static void name_services(Calls *self, guint n)
{
	for (uint32_t i = 0; i < n; i++) {
		double cost = function_at(self->search, i)->self;
		if (!is_service(self, i) || !(cost > 0))
			continue;
		char *name = lode_service_called_name(function_at(self->search, i));
		uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(self->called, name));
		if (known == 0 || function_at(self->search, known - 1)->self < cost)
			g_hash_table_insert(self->called, name, GUINT_TO_POINTER(i + 1));
		else
			g_free(name);
	}
}

/* Counted calls have a cost. Inferred ones do not: they share what their service costs itself. */
static void take_calls(Search *self, const Role *roles, const GArray *counted)
{
	guint n = lode_code_of(self->costs->profile)->functions->len,
	      n_families = lode_families_n(self->families);
	bool has_costs = self->source == LODE_CALLS_FROM_COUNTS;
	Calls calls = {self, roles, counted, g_new0(double, MAX(n, 1)),
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		g_array_new(FALSE, FALSE, sizeof(Call))};
	g_autofree double *of_function = g_new0(double, MAX(n, 1)); /* calls */
	g_autofree double *of_family = g_new0(double, MAX(n_families, 1));
	g_autofree double *family_self = g_new0(double, MAX(n_families, 1));

	name_services(&calls, n);
	list_calls(&calls);
	for (uint32_t i = 0; i < n; i++)
		if (self->family_of[i] != LODE_NONE)
			family_self[self->family_of[i]] += function_at(self, i)->self;
	for (guint i = 0; i < calls.calls->len; i++) {
		const Call *call = &g_array_index(calls.calls, Call, i);
		of_function[call->service] += call->count;
		if (self->family_of[call->service] != LODE_NONE)
			of_family[self->family_of[call->service]] += call->count;
	}
	for (guint i = 0; i < calls.calls->len; i++) {
		const Call *call = &g_array_index(calls.calls, Call, i);
		uint32_t family = self->family_of[call->service], number;
		bool is_alone = !has_costs || roles[call->service] == ROLE_SELF;
		double cost = is_alone ? function_at(self, call->service)->self *
		                                 (call->count / of_function[call->service])
		                       : call->cost;
		Share *share = share_of(self, call->service, LODE_NONE, &call->caller, &number);
		share->caller.cost += cost;
		share->caller.nearest += cost;
		share->caller.calls += call->count;
		if (family == LODE_NONE)
			continue;
		share = share_of(self, LODE_NONE, family, &call->caller, &number);
		share->caller.cost +=
			has_costs ? cost : family_self[family] * (call->count / of_family[family]);
		share->caller.calls += call->count;
	}
	for (uint32_t i = 0; i < n; i++)
		if (calls.roles[i] >= ROLE_SERVICE && of_function[i] == 0 && !has_costs)
			add_cost(self, i, LODE_NONE, &nobody, function_at(self, i)->self, 0)
				->caller.nearest += function_at(self, i)->self;
	for (uint32_t i = 0; i < n_families; i++)
		if (of_family[i] == 0)
			add_cost(self, LODE_NONE, i, &nobody, family_self[i], 0);
	g_free(calls.beyond);
	g_hash_table_unref(calls.called);
	g_array_unref(calls.calls);
}

/* --- all --- */

LODE_ORDER(compare_shares, Share, LODE_ASCENDING(function), LODE_ASCENDING(family),
	LODE_DESCENDING(caller.cost), LODE_ASCENDING(caller.function), LODE_ASCENDING(caller.line),
	g_strcmp0(left->caller.called, right->caller.called), LODE_ASCENDING(caller.work))

LODE_ORDER(compare_services, LodeService, LODE_DESCENDING(inclusive), LODE_ASCENDING(family),
	LODE_ASCENDING(function))

/* The standard deviation of a share of independent samples. */
static double error_of(double samples, double n, double total)
{
	double share = n > 0 ? CLAMP(samples / n, 0, 1) : 0;

	return n > 0 ? total * sqrt(share * (1 - share) / n) : (double)NAN;
}

static double self_of(const Search *self, const LodeService *service)
{
	double sum = 0;

	if (service->function != LODE_NONE)
		return function_at(self, service->function)->self;
	for (guint i = 0; i < self->costs->functions->len; i++)
		if (self->family_of[i] == service->family)
			sum += function_at(self, i)->self;
	return sum;
}

static void add_caller(
	const Search *self, LodeServices *out, LodeService *service, const LodeServiceCaller *found)
{
	LodeServiceCaller caller = *found;
	bool has_stacks = self->source == LODE_CALLS_FROM_STACKS ||
	                  self->source == LODE_CALLS_FROM_TOPS;

	if (caller.function == LODE_NONE) {
		service->unknown += caller.cost;
		if (caller.called != NULL || caller.work != LODE_OBJECT_WORK_NONE) {
			g_array_append_val(out->nameless, caller);
			service->n_nameless++;
		}
	}
	if (caller.function == LODE_NONE || caller.function == everybody.function)
		return;
	*(has_stacks ? &caller.calls : &caller.samples) = (double)NAN;
	g_array_append_val(out->callers, caller);
	service->n_callers++;
}

static void group_shares(Search *self, LodeServices *out, double total)
{
	const LodeProfile *profile = self->costs->profile;
	bool has_stacks = self->costs->samples > 0;
	double n = has_stacks ? self->costs->samples : lode_program_run_of(profile)->n_samples,
	       samples = 0;

	g_array_sort(self->shares, compare_shares);
	for (guint i = 0, end; i < self->shares->len; i = end) {
		const Share *first = &g_array_index(self->shares, Share, i);
		LodeService service = {.function = first->function,
			.family = first->function != LODE_NONE ? self->family_of[first->function]
		                                               : first->family,
			.first_caller = out->callers->len,
			.first_nameless = out->nameless->len};
		double sum = 0, whole = 0, n_whole = 0;
		samples = 0;
		for (end = i; end < self->shares->len; end++) {
			const Share *one = &g_array_index(self->shares, Share, end);
			if (one->function != first->function || one->family != first->family)
				break;
			bool is_whole = one->caller.function == everybody.function;
			*(is_whole ? &whole : &sum) += one->caller.cost;
			service.nearest += one->caller.nearest;
			*(is_whole ? &n_whole : &samples) += one->caller.samples;
			if (one->caller.cost > 0)
				add_caller(self, out, &service, &one->caller);
		}
		/* With what calls itself through the user's code a sample has several callers. */
		service.inclusive = whole > 0 ? whole + service.unknown : sum;
		samples = whole > 0 ? MIN(samples, n_whole / whole * service.inclusive) : samples;
		if (!(service.inclusive > 0))
			continue;
		service.self = self_of(self, &service);
		if (samples == 0)
			samples = total > 0 ? service.inclusive / total * n : 0;
		service.error = error_of(samples, n, total);
		g_array_append_val(out->services, service);
	}
	g_array_sort(out->services, compare_services);
}

static double total_of(const LodeFunctionCosts *costs)
{
	return costs->event != LODE_NONE ? lode_profile_event(costs->profile, costs->event)->total
	                                 : 0;
}

LodeServices *lode_services_new(const LodeFunctionCosts *costs, const LodeFamilies *families,
	const uint32_t *family_of, const char *const *own)
{
	const LodeStacks *stacks = lode_stacks_of(costs->profile);
	LodeServices *out = g_new0(LodeServices, 1);
	guint n = costs->functions->len;
	g_autofree Role *roles = g_new0(Role, MAX(n, 1));
	g_autoptr(LodeOwnLines) lines = lode_own_lines_new(costs->profile, own);
	out->strings = g_string_chunk_new(1 << 8);
	Search self = {costs, families, family_of, lines, costs->source,
		g_array_new(FALSE, FALSE, sizeof(Share)), {0}, out->strings,
		lode_implicit_members(costs->profile, lines)};

	out->services = g_array_new(FALSE, FALSE, sizeof(LodeService));
	out->callers = g_array_new(FALSE, FALSE, sizeof(LodeServiceCaller));
	out->nameless = g_array_new(FALSE, FALSE, sizeof(LodeServiceCaller));
	lode_id_cache_init(&self.ids);
	for (uint32_t i = 0; i < n; i++)
		roles[i] = role_of(&self, i);
	if (costs->stacks != NULL) {
		self.source = stacks->has_chains ? LODE_CALLS_FROM_STACKS : LODE_CALLS_FROM_TOPS;
		take_stacks(&self, roles, costs->event);
	} else if (costs->source == LODE_CALLS_FROM_COUNTS) {
		take_calls(&self, roles, costs->counted.calls);
	} else if (costs->event != LODE_NONE) {
		g_auto(LodeCallCosts) inferred = {0};
		self.source = LODE_CALLS_INFERRED;
		lode_call_costs_init(&inferred, costs->profile, costs->event, true);
		take_calls(&self, roles, inferred.calls);
	}
	group_shares(&self, out, total_of(costs));
	lode_sort_comparisons_init(&out->comparisons, costs, lines);
	out->source = self.source;
	g_hash_table_unref(self.implicit);
	lode_id_cache_clear(&self.ids);
	g_array_unref(self.shares);
	return out;
}

void lode_services_free(LodeServices *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->services);
	g_array_unref(self->callers);
	g_array_unref(self->nameless);
	g_string_chunk_free(self->strings);
	lode_sort_comparisons_clear(&self->comparisons);
	g_free(self);
}

const LodeService *lode_services_find(const LodeServices *self, uint32_t function, uint32_t family)
{
	for (guint i = 0; i < self->services->len; i++) {
		const LodeService *one = &g_array_index(self->services, LodeService, i);
		if (one->function == function && (function != LODE_NONE || one->family == family))
			return one;
	}
	return NULL;
}

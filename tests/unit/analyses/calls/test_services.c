/* SPDX-License-Identifier: MIT */
/*
 * Services: examples by hand, random stacks against a naive walk of each sample's stack, counted
 * and inferred calls, names of variants.
 */
#include "analyses/calls/services.h"
#include "called_profile.h"
#include "made_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

#define OWN "/home/me/program"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBSTDCXX "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"

typedef enum { THROUGH, IS_OWN, SERVICE } Kind;

enum { MAIN, WORK, STRLEN, MALLOC, NEW, QSORT, START, KERNEL, STUB, N_FUNCTIONS, N_OWN = STRLEN };

/* Families: STRLEN "strings and memory", MALLOC and NEW "allocator". */
static const CalledFunction functions[N_FUNCTIONS] = {
	[MAIN] = {"main", OWN, "main.c", 10},
	[WORK] = {"work", OWN, "work.c", 11},
	[STRLEN] = {"__strlen_avx2", LIBC, NULL, 0},
	[MALLOC] = {"malloc", LIBC, NULL, 0},
	[NEW] = {"operator new(unsigned long)", LIBSTDCXX, NULL, 0},
	[QSORT] = {"qsort", LIBC, NULL, 0},
	[START] = {"start_thread", LIBC, NULL, 0},
	[KERNEL] = {"do_user_addr_fault", "[kernel]", NULL, 0},
	[STUB] = {"strlen@plt", OWN, NULL, 0},
};

static const struct {
	Kind kind;
	const char *family;
} known[N_FUNCTIONS] = {
	[MAIN] = {IS_OWN, NULL},
	[WORK] = {IS_OWN, NULL},
	[STRLEN] = {SERVICE, "strings and memory"},
	[MALLOC] = {SERVICE, "allocator"},
	[NEW] = {SERVICE, "allocator"},
	[QSORT] = {SERVICE, NULL},
	[START] = {THROUGH, NULL},
	[KERNEL] = {THROUGH, NULL},
	[STUB] = {THROUGH, NULL},
};

typedef struct {
	LodeProfile *profile;
	LodeFunctionCosts *costs;
	LodeFamilies *families;
	GArray *family_costs;
	uint32_t *family_of;
	LodeServices *services;
} Scene;

static void scene_init(Scene *self, LodeProfile *profile)
{
	self->profile = profile;
	self->costs = lode_function_costs_new(profile, 0);
	self->families = lode_families_new();
	self->family_costs = lode_families_costs(self->families, self->costs, &self->family_of);
	/* Families of functions without cost, too. */
	for (guint i = 0; i < self->costs->functions->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(self->costs, i);
		self->family_of[i] = lode_families_find(
			self->families, one->name, one->image, false);
	}
	self->services = lode_services_new(self->costs, self->families, self->family_of, NULL);
}

static void scene_clear(Scene *self)
{
	lode_services_free(self->services);
	g_free(self->family_of);
	g_array_unref(self->family_costs);
	lode_families_free(self->families);
	lode_function_costs_free(self->costs);
	lode_profile_free(self->profile);
}

static uint32_t family_named(const Scene *self, const char *name)
{
	for (uint32_t i = 0; i < lode_families_n(self->families); i++)
		if (g_strcmp0(lode_families_at(self->families, i)->name, name) == 0)
			return i;
	return LODE_NONE;
}

/* "70: work.c:5 40, main.c:7 30, nobody 0" */
static char *service_text(const Scene *self, const LodeService *service)
{
	GString *text = g_string_new(NULL);

	if (service == NULL)
		return g_string_free(text, FALSE);
	g_string_append_printf(text, "%g:", service->inclusive);
	for (guint i = 0; i < service->n_callers; i++) {
		const LodeServiceCaller *one = lode_service_caller(self->services, service, i);
		g_string_append_printf(text, " %s %s:%u %g,",
			lode_function_cost_at(self->costs, one->function)->name,
			one->file != NULL ? one->file : "?", one->line, one->cost);
	}
	g_string_append_printf(text, " nobody %g", service->unknown);
	return g_string_free(text, FALSE);
}

static void check_service(const Scene *self, uint32_t function, const char *expected)
{
	g_autofree char *found = service_text(
		self, lode_services_find(self->services, function, LODE_NONE));

	g_assert_cmpstr(found, ==, expected);
}

static void check_family(const Scene *self, const char *family, const char *expected)
{
	g_autofree char *found = service_text(
		self, lode_services_find(self->services, LODE_NONE, family_named(self, family)));

	g_assert_cmpstr(found, ==, expected);
}

/* The drawing of services.h, an allocation through operator new, and a lost caller. */
static void test_example(void)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	Scene self;

	profile->stacks = lode_stacks_new();
	/* The start of a stripped program has no name. */
	lode_profile_function(profile, START)->name = lode_profile_intern(
		profile, "__libc_start_main");
	uint32_t thread = add_stack(profile, START, 0, add_stack(profile, WORK, 1, LODE_NONE));
	uint32_t in_main = add_stack(profile, MAIN, 40, thread);
	uint32_t sort = add_stack(profile, QSORT, 0, in_main);
	uint32_t compare = add_stack(profile, WORK, 8, sort);
	add_samples(profile, add_stack(profile, STRLEN, 0, compare), 3);
	add_samples(profile, compare, 5);
	add_samples(profile, sort, 1);
	uint32_t allocation = add_stack(profile, NEW, 0, in_main);
	add_samples(profile, add_stack(profile, MALLOC, 0, allocation), 4);
	add_samples(profile, add_stack(profile, MALLOC, 0, LODE_NONE), 2);
	scene_init(&self, profile);
	g_assert_cmpint(self.services->source, ==, LODE_CALLS_FROM_STACKS);
	check_service(&self, STRLEN, "30: work work.c:8 30, nobody 0");
	check_service(&self, QSORT, "90: main main.c:40 90, nobody 0");
	check_service(&self, NEW, "40: main main.c:40 40, nobody 0");
	check_service(&self, MALLOC, "20: nobody 20");
	check_service(&self, START, "");
	check_family(&self, "allocator", "60: main main.c:40 40, nobody 20");
	const LodeService *sorted = lode_services_find(self.services, QSORT, LODE_NONE);
	g_assert_cmpfloat_with_epsilon(sorted->error, 150 * sqrt(.6 * .4 / 15), 1e-9);
	g_assert_cmpfloat(sorted->nearest, ==, 10);
	g_assert_cmpfloat(lode_service_caller(self.services, sorted, 0)->nearest, ==, 10);
	scene_clear(&self);
}

/* In an image with lines, what has none was linked with it. */
static void test_static(void)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	Scene self;

	profile->stacks = lode_stacks_new();
	uint32_t in_main = add_stack(profile, MAIN, 40, LODE_NONE);
	const LodeFrame helper = {.function = lode_profile_intern(profile, "uw_frame_state_for"),
		.image = lode_profile_image(profile, MAIN)->path};
	uint32_t thrown = add_stack(profile, NEW, 0, in_main);
	add_samples(profile, add_stack(profile, STRLEN, 0, made_stack(profile, helper, thrown)), 4);
	profile->stacks->has_chains = false;
	profile->stacks->has_tops = true;
	scene_init(&self, profile);
	g_assert_cmpint(self.services->source, ==, LODE_CALLS_FROM_TOPS);
	g_assert_true(isnan(lode_function_cost_at(self.costs, MAIN)->inclusive));
	g_assert_cmpfloat(lode_function_cost_at(self.costs, NEW)->inclusive, ==, 40);
	check_service(&self, NEW, "40: main main.c:40 40, nobody 0");
	check_service(&self, STRLEN, "");
	check_family(&self, "strings and memory", "40: main main.c:40 40, nobody 0");
	scene_clear(&self);
}

/* Without symbols, a function has the name of the stub by which most call it. */
static void test_nameless(void)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	Scene self;

	profile->stacks = lode_stacks_new();
	lode_profile_function(profile, STRLEN)->source = LODE_FUNCTION_UNWIND;
	lode_profile_function(profile, STRLEN)->name = lode_profile_intern(profile, "fn_167ac0");
	lode_profile_function(profile, QSORT)->source = LODE_FUNCTION_UNWIND;
	lode_profile_function(profile, QSORT)->name = lode_profile_intern(profile, "fn_99");
	lode_profile_instruction(profile, MAIN)->size = 5;
	made_edge(profile, MAIN, STUB, LODE_EDGE_CALL, 9);
	uint32_t in_main = add_stack(profile, MAIN, 40, LODE_NONE);
	LODE_AT(profile->stacks->frames, LodeFrame, 0).address = 20;
	uint32_t beyond = add_stack(profile, MAIN, 41, LODE_NONE);
	LODE_AT(profile->stacks->frames, LodeFrame, 1).address = 21;
	add_samples(profile, add_stack(profile, STRLEN, 0, in_main), 4);
	add_samples(profile, add_stack(profile, QSORT, 0, beyond), 3);
	scene_init(&self, profile);
	g_assert_cmpstr(lode_function_cost_at(self.costs, STRLEN)->called, ==, "strlen");
	g_assert_null(lode_function_cost_at(self.costs, QSORT)->called);
	check_service(&self, STRLEN, "40: main main.c:40 40, nobody 0");
	scene_clear(&self);
}

/* The name that the program calls counts, though the function there has another name. */
static void test_called(void)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	Scene self;

	profile->stacks = lode_stacks_new();
	lode_profile_function(profile, STUB)->name = lode_profile_intern(profile, "strcoll@plt");
	lode_profile_instruction(profile, MAIN)->size = 5;
	made_edge(profile, MAIN, STUB, LODE_EDGE_CALL, 9);
	uint32_t in_main = add_stack(profile, MAIN, 40, LODE_NONE);
	LODE_AT(profile->stacks->frames, LodeFrame, 0).address = 20;
	uint32_t beyond = add_stack(profile, MAIN, 41, LODE_NONE);
	LODE_AT(profile->stacks->frames, LodeFrame, 1).address = 21;
	add_samples(profile, add_stack(profile, STRLEN, 0, in_main), 4);
	add_samples(profile, add_stack(profile, STRLEN, 0, beyond), 3);
	scene_init(&self, profile);
	check_service(&self, STRLEN, "70: main main.c:40 40, main main.c:41 30, nobody 0");
	const LodeService *service = lode_services_find(self.services, STRLEN, LODE_NONE);
	g_assert_cmpstr(lode_service_caller(self.services, service, 0)->called, ==, "strcoll");
	g_assert_null(lode_service_caller(self.services, service, 1)->called);
	scene_clear(&self);
}

static uint32_t add_inlined(LodeProfile *profile, const char *name, uint32_t outer)
{
	const LodeFrame frame = {.function = (char *)name,
		.image = lode_profile_image(profile, MAIN)->path,
		.file = (char *)"/usr/include/c++/12/bits/hashtable.h",
		.line = 7,
		.is_inlined = true};

	return made_stack(profile, frame, outer);
}

static const LodeService *service_named(const Scene *self, const char *name)
{
	for (guint i = 0; i < self->services->services->len; i++) {
		const LodeService *one = &g_array_index(self->services->services, LodeService, i);
		if (one->function != LODE_NONE &&
			strcmp(lode_function_cost_at(self->costs, one->function)->name, name) == 0)
			return one;
	}
	return NULL;
}

/* Inlined in each other, with all that they call; a sample is nearest to the innermost. */
static void test_inlined(void)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	Scene self;

	profile->stacks = lode_stacks_new();
	uint32_t in_main = add_stack(profile, MAIN, 40, LODE_NONE);
	uint32_t outer = add_inlined(
		profile, "std::unordered_map<int, int>::at(int const&)", in_main);
	uint32_t between = add_inlined(profile, "std::__addressof(int&)", outer);
	uint32_t inner = add_inlined(profile, "std::_Hashtable<int, int>::find(int)", between);
	add_samples(profile, outer, 2);
	add_samples(profile, between, 1);
	add_samples(profile, inner, 6);
	add_samples(profile, add_stack(profile, MALLOC, 0, inner), 3);
	add_samples(profile, in_main, 8);
	scene_init(&self, profile);
	const LodeService *service = service_named(&self, "std::_Hashtable<int, int>::find(int)");
	g_autofree char *text = service_text(&self, service);
	g_assert_cmpstr(text, ==, "90: main main.c:40 90, nobody 0");
	g_assert_cmpfloat(service->nearest, ==, 90);
	service = service_named(&self, "std::unordered_map<int, int>::at(int const&)");
	g_assert_cmpfloat(service->inclusive, ==, 120);
	g_assert_cmpfloat(service->nearest, ==, 30);
	check_service(&self, MALLOC, "");
	check_family(&self, "hashing", "120: main main.c:40 120, nobody 0");
	check_family(&self, "allocator", "30: main main.c:40 30, nobody 0");
	scene_clear(&self);
}

/* --- random stacks --- */

enum { MOST_STACKS = 60, N_LINES = 3, N_CALLERS = N_OWN * N_LINES, MOST_FAMILIES = 128 };

typedef struct {
	double all, of[N_CALLERS], unknown;
	double nearest, nearest_of[N_CALLERS];
} Sum;

static uint32_t function_at(const Scene *self, uint32_t stack)
{
	return lode_function_costs_at_stack(self->costs, stack);
}

static uint32_t outer_of(const Scene *self, uint32_t stack)
{
	return LODE_AT(self->profile->stacks->stacks, LodeStack, stack).outer;
}

/* The nearest own stack outward; LODE_NONE. */
static uint32_t own_around(const Scene *self, uint32_t stack)
{
	while (stack != LODE_NONE && known[function_at(self, stack)].kind != IS_OWN)
		stack = outer_of(self, stack);
	return stack;
}

static guint caller_at(const Scene *self, uint32_t own)
{
	uint32_t frame = LODE_AT(self->profile->stacks->stacks, LodeStack, own).frame;

	return function_at(self, own) * N_LINES +
	       LODE_AT(self->profile->stacks->frames, LodeFrame, frame).line - 1;
}

static bool is_entry(const Scene *self, uint32_t stack)
{
	uint32_t at = outer_of(self, stack);

	while (at != LODE_NONE && known[function_at(self, at)].kind == THROUGH)
		at = outer_of(self, at);
	return at == LODE_NONE || known[function_at(self, at)].kind == IS_OWN;
}

static void mark(Sum *sum, bool *is_marked, guint n, double weight)
{
	for (guint i = 0; i < n; i++) {
		sum->of[i] += is_marked[i] ? weight : 0;
		is_marked[n] |= is_marked[i];
	}
	sum->all += is_marked[n] ? weight : 0;
}

static void add_naively(
	const Scene *self, const LodeStackSample *sample, Sum *services, Sum *families)
{
	bool of_service[N_FUNCTIONS][N_CALLERS + 1] = {0};
	bool of_family[MOST_FAMILIES][N_CALLERS + 1] = {0};
	bool has_own = own_around(self, sample->stack) != LODE_NONE;
	uint32_t outermost = LODE_NONE, nearest = LODE_NONE;

	/* The nearest service: the outermost before the first that is own. */
	for (uint32_t at = sample->stack;
		at != LODE_NONE && known[function_at(self, at)].kind != IS_OWN;
		at = outer_of(self, at))
		nearest = known[function_at(self, at)].kind == SERVICE ? function_at(self, at)
		                                                       : nearest;
	if (nearest != LODE_NONE && function_at(self, sample->stack) != KERNEL) {
		services[nearest].nearest += sample->weight;
		if (has_own)
			services[nearest].nearest_of[caller_at(
				self, own_around(self, sample->stack))] += sample->weight;
	}
	for (uint32_t at = sample->stack; at != LODE_NONE; at = outer_of(self, at)) {
		uint32_t function = function_at(self, at), own = own_around(self, at);
		if (known[function].kind != SERVICE)
			continue;
		outermost = function;
		uint32_t family = family_named(self, known[function].family);
		if (own != LODE_NONE && is_entry(self, at))
			of_service[function][caller_at(self, own)] = true;
		if (own != LODE_NONE && family != LODE_NONE)
			of_family[family][caller_at(self, own)] = true;
		if (!has_own && family != LODE_NONE && !of_family[family][N_CALLERS]) {
			of_family[family][N_CALLERS] = true;
			families[family].unknown += sample->weight;
		}
	}
	for (guint i = 0; i < N_FUNCTIONS; i++)
		mark(&services[i], of_service[i], N_CALLERS, sample->weight);
	for (guint i = 0; i < MOST_FAMILIES; i++)
		mark(&families[i], of_family[i], N_CALLERS, sample->weight);
	if (!has_own && outermost != LODE_NONE) {
		services[outermost].unknown += sample->weight;
		services[outermost].all += sample->weight;
	}
}

static void check_sum(const Scene *self, const LodeService *service, const Sum *sum)
{
	double of[N_CALLERS] = {0}, nearest_of[N_CALLERS] = {0};

	g_assert_true((service != NULL) == (sum->all > 0));
	if (service == NULL)
		return;
	g_assert_cmpfloat(service->inclusive, ==, sum->all);
	g_assert_cmpfloat(service->unknown, ==, sum->unknown);
	g_assert_true(service->error >= 0);
	for (guint i = 0; i < service->n_callers; i++) {
		const LodeServiceCaller *one = lode_service_caller(self->services, service, i);
		of[one->function * N_LINES + one->line - 1] += one->cost;
		nearest_of[one->function * N_LINES + one->line - 1] += one->nearest;
		g_assert_cmpfloat(one->samples, ==, one->cost / 10);
		g_assert_true(isnan(one->calls));
		if (i > 0)
			g_assert_cmpfloat(one->cost, <=,
				lode_service_caller(self->services, service, i - 1)->cost);
	}
	for (guint i = 0; i < N_CALLERS; i++)
		g_assert_cmpfloat(of[i], ==, sum->of[i]);
	g_assert_cmpfloat(service->nearest, ==, sum->nearest);
	for (guint i = 0; i < N_CALLERS; i++)
		g_assert_cmpfloat(nearest_of[i], ==, sum->nearest_of[i]);
}

static void check_random(void)
{
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	guint n = (guint)random_int_range(1, MOST_STACKS);
	Sum services[N_FUNCTIONS] = {0}, families[MOST_FAMILIES] = {0};
	Scene self;

	profile->stacks = lode_stacks_new();
	for (guint i = 0; i < n; i++)
		add_stack(profile, (uint32_t)random_int_range(0, N_FUNCTIONS),
			(uint32_t)random_int_range(1, N_LINES + 1),
			i > 0 && random_int_range(0, 5) > 0
				? (uint32_t)random_int_range(0, (gint32)i)
				: LODE_NONE);
	for (guint i = 0; i < 2 * n; i++)
		add_samples(profile, (uint32_t)random_int_range(0, (gint32)n), 1);
	profile->stacks->has_chains = random_int_range(0, 2) > 0;
	profile->stacks->has_tops = !profile->stacks->has_chains;
	scene_init(&self, profile);
	for (guint i = 0; i < profile->stacks->samples->len; i++)
		add_naively(&self, &LODE_AT(profile->stacks->samples, LodeStackSample, i), services,
			families);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		check_sum(&self, lode_services_find(self.services, i, LODE_NONE), &services[i]);
	for (uint32_t i = 0; i < lode_families_n(self.families); i++)
		check_sum(&self, lode_services_find(self.services, LODE_NONE, i), &families[i]);
	scene_clear(&self);
}

static void test_random(void)
{
	for (unsigned i = random_rounds(200, 20000); i > 0; i--)
		check_random();
}

/* --- calls --- */

static void add_call(LodeProfile *profile, uint32_t caller, uint32_t callee, double count)
{
	made_edge(profile, caller, callee, LODE_EDGE_CALL, count);
	lode_profile_instruction(profile, callee)->count += count;
}

/* Costs of 10 for each of strlen's, through a stub, malloc's and operator new's calls. */
static LodeProfile *profile_of_calls(bool has_bound_stub)
{
	static const double costs[N_FUNCTIONS] = {[MAIN] = 50, [STRLEN] = 100, [MALLOC] = 60};
	LodeProfile *profile = called_profile_new(functions, N_FUNCTIONS);
	uint32_t end = 0;

	g_array_set_size(profile->code.cost_starts, 0);
	for (guint i = 0; i <= N_FUNCTIONS; i++) {
		g_array_append_val(profile->code.cost_starts, end);
		if (i == N_FUNCTIONS || costs[i] == 0)
			continue;
		const LodeCost cost = {0, costs[i]};
		g_array_append_val(profile->code.costs, cost);
		lode_profile_event(profile, 0)->total += costs[i];
		end++;
	}
	lode_profile_event(profile, 0)->kind = LODE_EVENT_RECORDED;
	add_call(profile, MAIN, NEW, 6);
	add_call(profile, MAIN, STUB, 7);
	add_call(profile, WORK, STUB, 3);
	add_call(profile, NEW, MALLOC, 6);
	if (has_bound_stub) {
		made_edge(profile, STUB, STRLEN, LODE_EDGE_JUMP, 10);
		lode_profile_instruction(profile, STRLEN)->count = 10;
	}
	return profile;
}

static void test_counted(void)
{
	LodeProfile *profile = profile_of_calls(true);
	Scene self;

	profile->run.frequency = LODE_FREQUENCY_EXACT;
	scene_init(&self, profile);
	g_assert_cmpint(self.services->source, ==, LODE_CALLS_FROM_COUNTS);
	check_service(&self, STRLEN, "100: main main.c:10 70, work work.c:11 30, nobody 0");
	check_service(&self, NEW, "60: main main.c:10 60, nobody 0");
	check_service(&self, MALLOC, "");
	check_family(&self, "allocator", "60: main main.c:10 60, nobody 0");
	scene_clear(&self);
}

/* A stub whose jump is not known calls what it is named after; what nobody calls has no caller. */
static void test_inferred(void)
{
	LodeProfile *profile = profile_of_calls(false);
	Scene self;

	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	scene_init(&self, profile);
	g_assert_cmpint(self.services->source, ==, LODE_CALLS_INFERRED);
	check_service(&self, STRLEN, "100: main main.c:10 70, work work.c:11 30, nobody 0");
	check_service(&self, MALLOC, "60: nobody 60");
	check_family(&self, "allocator", "60: main main.c:10 60, nobody 0");
	scene_clear(&self);
}

/* Builtins of V8 in a run of a service are a part of it; a library that a builtin calls is called
 * by the builtin's name; the line is the user's beyond it. Node.js itself is looked through. */
static void test_builtins(void)
{
	enum { PAGE, DATE, PARSER, FLATTEN, COPY, INNER };
	static const CalledFunction of_node[] = {
		[PAGE] = {"JS:*work /home/me/x.js:1:1", "/tmp/jit-7.dump", "/home/me/x.js", 4},
		[DATE] = {"v8::internal::Builtin_DateConstructor(int)", "/usr/bin/node", NULL, 0},
		[PARSER] = {"v8::internal::Factory::New(int)", "/usr/bin/node", NULL, 0},
		[FLATTEN] = {"v8::internal::String::WriteToFlat(int)", "/usr/bin/node", NULL, 0},
		[COPY] = {"memcpy", LIBC, NULL, 0},
		[INNER] = {"node::Environment::Tick()", "/usr/bin/node", NULL, 0},
	};
	LodeProfile *profile = called_profile_new(of_node, G_N_ELEMENTS(of_node));
	Scene self;

	profile->stacks = lode_stacks_new();
	uint32_t page = add_stack(profile, PAGE, 4, LODE_NONE);
	uint32_t date = add_stack(profile, DATE, 0, page);
	add_samples(profile, add_stack(profile, PARSER, 0, date), 5);
	uint32_t inner = add_stack(profile, INNER, 0, page);
	uint32_t flatten = add_stack(profile, FLATTEN, 0, inner);
	add_samples(profile, add_stack(profile, COPY, 0, flatten), 3);
	scene_init(&self, profile);
	const LodeService *dates = lode_services_find(self.services, DATE, LODE_NONE);
	const LodeService *copy = lode_services_find(self.services, COPY, LODE_NONE);
	g_assert_cmpfloat(dates->nearest, ==, 50); /* a sample weighs 10 */
	g_assert_cmpfloat(lode_services_find(self.services, PARSER, LODE_NONE)->nearest, ==, 0);
	g_assert_cmpuint(copy->n_callers, ==, 1);
	const LodeServiceCaller *caller = lode_service_caller(self.services, copy, 0);
	g_assert_cmpuint(caller->function, ==, PAGE);
	g_assert_cmpuint(caller->line, ==, 4);
	g_assert_cmpstr(caller->called, ==, of_node[FLATTEN].name);
	scene_clear(&self);
}

/* What HotSpot does is called by a method: by one without a line at the call, too; not by a stub,
 * the interpreter, or the class library, whose callers are not known. */
static void test_hotspot(void)
{
	enum { LINED, UNLINED, MAKER, INTERPRETER, LIBRARY, MAKE, N };
	static const char dump[] = "/tmp/jit-7.dump";
	static const CalledFunction of_java[N] = {
		[LINED] = {"Page.lay(int)", dump, "Page.java", 4},
		[UNLINED] = {"Page.with(int)", dump, NULL, 0},
		[MAKER] = {"_new_array_Java", dump, NULL, 0},
		[INTERPRETER] = {"Interpreter", dump, NULL, 0},
		[LIBRARY] = {"java.util.Arrays.copyOf(int)", dump, NULL, 0},
		[MAKE] = {"ObjArrayAllocator::initialize()", "/usr/lib/jvm/lib/server/libjvm.so",
			NULL, 0},
	};
	static const struct {
		int outer, inner;
		uint32_t caller, line;
	} cases[] = {{LINED, MAKER, LINED, 4}, {UNLINED, MAKER, UNLINED, 0},
		{LINED, LIBRARY, LINED, 4}, {-1, MAKER, LODE_NONE, 0},
		{-1, INTERPRETER, LODE_NONE, 0}, {-1, LIBRARY, LODE_NONE, 0},
		{MAKER, LIBRARY, LODE_NONE, 0}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		LodeProfile *profile = called_profile_new(of_java, N);
		Scene self;
		profile->stacks = lode_stacks_new();
		uint32_t outer = LODE_NONE;
		/* Elsewhere the file has lines. */
		add_samples(profile, add_stack(profile, LINED, 4, LODE_NONE), 1);
		if (cases[i].outer >= 0)
			outer = add_stack(
				profile, (uint32_t)cases[i].outer, cases[i].line, LODE_NONE);
		outer = add_stack(profile, (uint32_t)cases[i].inner, 0, outer);
		add_samples(profile, add_stack(profile, MAKE, 0, outer), 5);
		scene_init(&self, profile);
		const LodeService *made = lode_services_find(self.services, MAKE, LODE_NONE);
		bool is_known = cases[i].caller != LODE_NONE;
		if (made->n_callers != is_known)
			g_test_message("case %zu", i);
		g_assert_cmpuint(made->n_callers, ==, is_known);
		if (is_known) {
			const LodeServiceCaller *caller = lode_service_caller(
				self.services, made, 0);
			g_assert_cmpuint(caller->function, ==, cases[i].caller);
			g_assert_cmpuint(caller->line, ==, cases[i].line);
		}
		scene_clear(&self);
	}
}

static void test_members(void)
{
	static const CalledFunction classes[] = {{"main", OWN, "main.cc", 10},
		{"Board::Board(Board const&)", OWN, "main.cc", 3},
		{"operator new(unsigned long)", LIBSTDCXX, NULL, 0}};
	Scene scene;
	LodeProfile *profile = called_profile_new(classes, G_N_ELEMENTS(classes));

	profile->stacks = lode_stacks_new();
	profile->stacks->has_chains = true;
	uint32_t in_main = add_stack(profile, 0, 10, LODE_NONE);
	uint32_t copy = add_stack(profile, 1, 3, in_main);
	uint32_t alone = add_stack(profile, 1, 3, LODE_NONE);
	add_samples(profile, add_stack(profile, 2, 0, copy), 5);
	add_samples(profile, add_stack(profile, 2, 0, in_main), 3);
	add_samples(profile, add_stack(profile, 2, 0, alone), 2);
	scene_init(&scene, profile);
	check_service(&scene, 2,
		"100: main main.cc:10 50, main main.cc:10 30, Board::Board(Board const&) "
		"main.cc:3 20, nobody 0");
	const LodeService *service = lode_services_find(scene.services, 2, LODE_NONE);
	g_assert_cmpint(
		lode_service_caller(scene.services, service, 0)->work, ==, LODE_OBJECT_WORK_COPY);
	g_assert_cmpint(
		lode_service_caller(scene.services, service, 1)->work, ==, LODE_OBJECT_WORK_NONE);
	g_assert_cmpint(
		lode_service_caller(scene.services, service, 2)->work, ==, LODE_OBJECT_WORK_COPY);
	g_assert_cmpfloat(lode_service_caller(scene.services, service, 0)->nearest, ==, 50);
	scene_clear(&scene);
}

static void test_nothing(void)
{
	Scene self;

	scene_init(&self, called_profile_new(functions, N_FUNCTIONS));
	g_assert_cmpuint(self.services->services->len, ==, 0);
	scene_clear(&self);
}

static void test_names(void)
{
	static const char *const cases[][2] = {
		{"__strlen_avx2", "strlen"},
		{"__memmove_avx_unaligned_erms", "memmove"},
		{"__memcpy_avx512_unaligned_erms", "memcpy"},
		{"__strcmp_evex", "strcmp"},
		{"__strlen_evex512", "strlen"},
		{"__ieee754_pow_fma", "pow"},
		{"__sin_fma4", "sin"},
		{"__GI___strtol_l_internal", "__GI___strtol_l_internal"},
		{"__libc_malloc", "malloc"},
		{"_IO_fputs", "fputs"},
		{"malloc", "malloc"},
		{"_int_malloc", "_int_malloc"},
		{"work_avx2", "work_avx2"},
		{"__avx2", "__avx2"},
		{"__", "__"},
		{"", ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeFunctionCost function = {.name = cases[i][0]};
		g_autofree char *found = lode_service_called_name(&function);
		g_assert_cmpstr(found, ==, cases[i][1]);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/services/example", test_example);
	g_test_add_func("/services/static", test_static);
	g_test_add_func("/services/nameless", test_nameless);
	g_test_add_func("/services/called", test_called);
	g_test_add_func("/services/inlined", test_inlined);
	g_test_add_func("/services/counted", test_counted);
	g_test_add_func("/services/inferred", test_inferred);
	g_test_add_func("/services/builtins", test_builtins);
	g_test_add_func("/services/hotspot", test_hotspot);
	g_test_add_func("/services/members", test_members);
	g_test_add_func("/services/nothing", test_nothing);
	g_test_add_func("/services/names", test_names);
	add_random_test("/services/random", test_random, "R02S00000000000000000000000000000003",
		"R02S0000000000000000000000000000004b", NULL);
	return g_test_run();
}

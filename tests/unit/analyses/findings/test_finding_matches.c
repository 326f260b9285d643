/* SPDX-License-Identifier: MIT */
/* What matches around a finding's places, against the enumeration of all paths. */
#include "analyses/findings/finding_matches.h"
#include "made_profile.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "seeds.h"

enum { N = 12, N_ATTRIBUTES = 3, MAX_ELEMENTS = 5 };

static const char *const names[N_ATTRIBUTES] = {"op:mov", "kind:load", "kind:call"};

typedef struct {
	LodeProfile *profile;
	double edges[N][N]; /* counts */
	uint32_t attributes[N];
	LodeMiningRun *run;
	LodeFinding finding;
	uint32_t wanted[MAX_ELEMENTS]; /* attributes of each element */
} Case;

/* One function of N instructions; edges to the next one and others, some of which never executed
 * or too rarely to count. */
static void make_profile(Case *self)
{
	LodeProfile *profile = self->profile = made_profile("count", LODE_EVENT_COUNT, "x");
	static const double counts[] = {-1, -1, -1, 0, 5, 100};

	profile->run.frequency = LODE_FREQUENCY_EXACT;
	made_function(profile, (LodeFunction){.name = "f"});
	for (uint32_t i = 0; i < N; i++) {
		g_autoptr(GString) attributes = g_string_new(NULL);
		self->attributes[i] = (uint32_t)random_int_range(0, 1 << N_ATTRIBUTES);
		for (uint32_t a = 0; a < N_ATTRIBUTES; a++)
			if ((self->attributes[i] >> a & 1) != 0)
				g_string_append_printf(attributes, "%s%s",
					attributes->len > 0 ? " " : "", names[a]);
		for (uint32_t j = 0; j < N; j++) {
			double count = counts[random_int_range(0, G_N_ELEMENTS(counts))];
			self->edges[i][j] = count;
			if (j != i + 1 && count >= 0)
				made_edge(profile, i, j, LODE_EDGE_TAKEN, count);
		}
		made_instruction(profile, (LodeInstruction){.address = i, .count = 1000},
			attributes->str, 0);
		if (i + 1 < N)
			made_fall(profile, i, self->edges[i][i + 1]);
	}
}

static void make_finding(Case *self)
{
	LodeFindings *findings = lode_findings_new();
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	self->run = lode_mining_run_new("main", &parameters);
	self->run->findings = findings;
	for (uint32_t a = 0; a < N_ATTRIBUTES; a++)
		g_ptr_array_add(findings->attributes, g_strdup(names[a]));
	self->finding = (LodeFinding){
		.n_elements = (uint32_t)random_int_range(1, MAX_ELEMENTS + 1), .n_places = N};
	self->finding.focus = (uint32_t)random_int_range(0, (gint32)self->finding.n_elements);
	for (uint32_t i = 0; i < self->finding.n_elements; i++) {
		LodeFindingElement element = {findings->items->len, 0};
		self->wanted[i] = 0;
		for (uint32_t a = 0; a < N_ATTRIBUTES; a++) {
			if (random_int_range(0, 3) > 0)
				continue;
			self->wanted[i] |= UINT32_C(1) << a;
			g_array_append_val(findings->items, a);
			element.n_items++;
		}
		g_array_append_val(findings->elements, element);
	}
	for (uint32_t i = 0; i < N; i++) {
		LodeFindingPlace place = {i, 0.1};
		g_array_append_val(findings->places, place);
	}
}

/* Edges of 5 in 1,000 executions are no context. */
static bool is_edge(const Case *self, uint32_t source, uint32_t target)
{
	return self->edges[source][target] >= 10;
}

/* Walks from the element to the end of the pattern in one direction; marks what is on a path that
 * arrives. */
static bool walk(const Case *self, uint32_t at, uint32_t element, int step, uint32_t *out)
{
	uint32_t end = step < 0 ? 0 : self->finding.n_elements - 1;
	bool arrives = element == end;

	for (uint32_t i = 0; i < N && element != end; i++) {
		uint32_t next = step < 0 ? element - 1 : element + 1;
		if (!(step < 0 ? is_edge(self, i, at) : is_edge(self, at, i)) ||
			(self->attributes[i] & self->wanted[next]) != self->wanted[next])
			continue;
		if (walk(self, i, next, step, out)) {
			out[i] |= UINT32_C(1) << next;
			arrives = true;
		}
	}
	return arrives;
}

static void test_random(void)
{
	for (int repeat = 0; repeat < 50; repeat++) {
		Case self;
		g_autoptr(GError) error = NULL;
		make_profile(&self);
		make_finding(&self);
		g_autoptr(LodeFindingMatches) found = lode_finding_matches_find(
			self.profile, self.run, &self.finding, N, &error);
		g_assert_no_error(error);
		for (uint32_t v = 0; v < N; v++) {
			uint32_t expected[N] = {0}, seen[N] = {0}, last = 0;
			walk(&self, v, self.finding.focus, -1, expected);
			walk(&self, v, self.finding.focus, 1, expected);
			expected[v] |= UINT32_C(1) << self.finding.focus;
			for (uint32_t i = found->starts[v]; i < found->starts[v + 1]; i++) {
				const LodeFindingMatch *match = &g_array_index(
					found->matches, LodeFindingMatch, i);
				g_assert_true(i == found->starts[v] || match->instruction > last);
				last = match->instruction;
				seen[last] = match->elements;
			}
			for (uint32_t i = 0; i < N; i++)
				g_assert_cmphex(seen[i], ==, expected[i]);
		}
		lode_mining_run_free(self.run);
		lode_profile_free(self.profile);
	}
}

/* Of an attribute that the profile lost, the focus is all that is known. */
static void test_unknown_attribute(void)
{
	Case self;
	g_autoptr(GError) error = NULL;

	make_profile(&self);
	make_finding(&self);
	LodeFindings *findings = self.run->findings;
	uint32_t unknown = findings->attributes->len;
	LodeFindingElement elements[] = {{findings->items->len, 1}, {0, 0}};
	g_ptr_array_add(findings->attributes, g_strdup("user:gone"));
	g_array_append_val(findings->items, unknown);
	self.finding.first_element = findings->elements->len;
	self.finding.n_elements = 2;
	self.finding.focus = 1;
	g_array_append_vals(findings->elements, elements, 2);
	g_autoptr(LodeFindingMatches)
		found = lode_finding_matches_find(self.profile, self.run, &self.finding, 3, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(found->matches->len, ==, 3);
	lode_mining_run_free(self.run);
	lode_profile_free(self.profile);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/analyses/finding-matches/random", test_random,
		"R02S00000001000000020000000300000004", "R02S0000000500000006000000070000000a",
		NULL);
	g_test_add_func("/analyses/finding-matches/unknown-attribute", test_unknown_attribute);
	return g_test_run();
}

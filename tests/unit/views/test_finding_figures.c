/* SPDX-License-Identifier: MIT */
#include "model/findings.h"
#include "model/profile.h"
#include "views/figures/event_values.h"
#include "views/findings/finding_figures.h"

#include <string.h>

/* A finding ⟨before⟩ → ⟪focus⟫ that costs so much each. */
static bool is_miscounted(
	const char *before, const char *focus, double each, const char *unit, bool is_counted)
{
	g_autoptr(LodeFindings) findings = lode_findings_new();
	const uint32_t ids[] = {0, 1};
	const LodeFindingElement elements[] = {{0, 1}, {1, 1}};
	const LodeFinding finding = {.focus = 1, .n_elements = 2, .each = each};

	g_ptr_array_add(findings->attributes, g_strdup(before));
	g_ptr_array_add(findings->attributes, g_strdup(focus));
	g_array_append_vals(findings->items, ids, 2);
	g_array_append_vals(findings->elements, elements, 2);
	findings->is_counted = is_counted;
	return lode_finding_is_miscounted(findings, &finding, unit);
}

/* What waits in a loop for another thread may wait once in the run that counts. */
static void test_miscounted(void)
{
	g_assert_true(is_miscounted("op:mov", "op:test", 19.3e6, "ns", true));
	g_assert_true(is_miscounted("kind:syscall", "op:test", 2e6, "ns", true));
	g_assert_false(is_miscounted("op:mov", "kind:load", 600, "ns", true));
	g_assert_false(is_miscounted("op:mov", "op:cpuid", 1e5, "ns", true));
	g_assert_false(is_miscounted("op:mov", "kind:string", 19.3e6, "ns", true));
	g_assert_false(is_miscounted("op:mov", "kind:syscall", 19.3e6, "ns", true));
	g_assert_false(is_miscounted("op:mov", "op:test", 19.3e6, "cycles", true));
	g_assert_false(is_miscounted("op:mov", "op:test", 19.3e6, "ns", false));
}

static void check_place(const char *path, LodeFunctionSource source, const char *expected)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(GString) out = g_string_new(NULL);
	LodeImage image = {.kind = LODE_IMAGE_FILE};
	LodeFunction function = {.source = source};
	LodeInstruction one = {.address = 0x154bb, .location = LODE_NONE};

	image.path = lode_profile_intern(profile, path);
	function.name = lode_profile_intern(profile, "fn_154a0");
	g_array_append_val(profile->code.images, image);
	g_array_append_val(profile->code.functions, function);
	g_array_append_val(profile->code.instructions, one);
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	lode_finding_append_place(out, profile, own, 0, &(LodeTerminal){.width = 80});
	g_assert_cmpstr(out->str, ==, expected);
}

static void test_places(void)
{
	check_place("/bin/gzip", LODE_FUNCTION_UNWIND, "fn_154a0 (0x154bb)");
	check_place("/lib/libgcc_s.so.1", LODE_FUNCTION_SYMBOL, "fn_154a0 (0x154bb)");
	check_place("/lib/libgcc_s.so.1", LODE_FUNCTION_UNWIND, "fn_154a0 (libgcc_s.so.1:0x154bb)");
}

/* The event of this name in a profile of a clock, from which latency is. */
static void check_value(const char *event, double value, const char *expected)
{
	static const char *const names[] = {
		"cycles", "cpu-clock", "cpu-clock:cause", "task-clock", LODE_LATENCY_EVENT};
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(GString) out = g_string_new(NULL);

	for (size_t i = event != NULL && strcmp(event, "cycles") == 0 ? 0 : 1;
		i < G_N_ELEMENTS(names); i++)
		lode_profile_add_event(profile, names[i], NULL, LODE_EVENT_RECORDED, NULL, 0);
	lode_event_value_append(out, profile,
		event != NULL ? lode_profile_find_event(profile, event) : LODE_NONE, value);
	g_assert_cmpstr(out->str, ==, expected);
}

static void test_values(void)
{
	check_value("cycles", 1234567, "1,234,567");
	check_value(NULL, 1234567, "1,234,567");
	check_value("cpu-clock", 0, "0");
	check_value("cpu-clock:cause", 100000, "0.0001 s");
	check_value("cpu-clock:cause", 33.2e6, "0.0332 s");
	check_value("task-clock", 0.526e9, "0.53 s");
	check_value("latency", 0.526e9, "0.53 s");
	check_value("task-clock", 30.04e9, "30.0 s");
	check_value("task-clock", 3601e9, "3,601 s");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/finding-figures/miscounted", test_miscounted);
	g_test_add_func("/finding-figures/places", test_places);
	g_test_add_func("/finding-figures/values", test_values);
	return g_test_run();
}

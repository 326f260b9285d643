/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as expressions over samples: each line but the last is a definition, the last one is
 * evaluated for an access with everything and for a sample with nothing.
 */
#include "analyses/memory/expressions/expression.h"
#include "analyses/memory/sample_attributes.h"
#include "fuzz_target.h"
#include "model/memory.h"
#include "model/profile.h"

#include <string.h>

static void add_nouns(LodeProfile *profile)
{
	LodeMemory *memory = profile->memory;
	LodeThread thread = {.pid = 7, .tid = 9, .ordinal = 1, .name = "worker"};
	LodeDataType type = {.name = "struct node", .size = 24, .n_members = 1};
	LodeDataMember member = {.name = "next", .type = "struct node *", .offset = 8, .size = 8};
	LodeAllocationSite site = {.name = "malloc@a.c:1", .stack = "walk < main"};
	LodeDataObject object = {
		.name = "struct node.next", .mapping = "[heap]", .variable = "\xff"};
	LodeImage image = {.path = "/usr/lib/liba.so"};
	LodeFunction function = {.name = "walk(node*)"};

	lode_profile_add_event(profile, "cycles", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_location(profile, "/src/a.c", 7, NULL);
	g_array_append_val(profile->code.images, image);
	g_array_append_val(profile->code.functions, function);
	g_array_append_val(memory->threads, thread);
	g_array_append_val(memory->types, type);
	g_array_append_val(memory->members, member);
	g_array_append_val(memory->sites, site);
	g_array_append_val(memory->objects, object);
}

static LodeProfile *make_profile(void)
{
	LodeProfile *profile = lode_profile_new();
	LodeMemorySample full = {.weight = 1.5,
		.time_ns = 5,
		.pc = 0x401000,
		.access_pc = 0x401004,
		.address = UINT64_MAX - 4,
		.data_source = UINT64_C(3) << 33,
		.latency = UINT64_MAX,
		.instruction = LODE_NONE,
		.access_instruction = LODE_NONE,
		.mapping = LODE_NONE,
		.allocation = LODE_NONE,
		.size = 8,
		.rule = LODE_RULE_HARDWARE,
		.access = LODE_ACCESS_LOAD};
	LodeMemorySample empty = {.thread = LODE_NONE,
		.event = LODE_NONE,
		.instruction = LODE_NONE,
		.access_instruction = LODE_NONE,
		.access_function = LODE_NONE,
		.access_location = LODE_NONE,
		.object = LODE_NONE,
		.mapping = LODE_NONE,
		.allocation = LODE_NONE,
		.cpu = UINT32_MAX,
		.node = UINT32_MAX,
		.reason = LODE_REASON_TLS};

	profile->memory = lode_memory_new();
	add_nouns(profile);
	g_array_append_val(profile->memory->samples, full);
	g_array_append_val(profile->memory->samples, empty);
	return profile;
}

static void check_message(const GError *error)
{
	g_auto(GStrv) lines = g_strsplit(error->message, "\n", -1);
	guint n = g_strv_length(lines);

	if (!g_utf8_validate(error->message, -1, NULL))
		g_error("a message that is not UTF-8");
	/* Only a column has an excerpt, and that one line with one mark. */
	if (n != 1 && (n != 3 || !g_str_has_suffix(lines[2], "^")))
		g_error("a message of %u lines", n);
}

static void check_value(const LodeExpression *expression, const LodeValue *value)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (value->kind != LODE_VALUE_NONE && value->kind != lode_expression_kind(expression))
		g_error("a value of another kind");
	if (!lode_value_equal(value, value) || lode_value_compare(value, value) != 0)
		g_error("a value that differs from itself");
	lode_value_append(value, lode_expression_is_hex(expression), text);
}

static void evaluate(const LodeExpression *expression, const LodeSampleAttributes *attributes,
	const GArray *samples)
{
	g_autoptr(LodeEvaluator) evaluator = lode_evaluator_new(expression, attributes);

	for (guint i = 0; i < samples->len; i++) {
		g_autoptr(GError) error = NULL;
		LodeValue value;
		if (lode_evaluator_run(
			    evaluator, &LODE_AT(samples, LodeMemorySample, i), &value, &error))
			check_value(expression, &value);
		else
			check_message(error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static LodeProfile *profile;
	static LodeSampleAttributes *attributes;
	g_autoptr(LodeExpressionScope)
		scope = lode_expression_scope_new(&lode_sample_attribute_source);
	g_autofree char *text = g_strndup((const char *)data, size);
	g_auto(GStrv) lines = g_strsplit(text, "\n", 50);
	guint n = g_strv_length(lines);

	if (profile == NULL) {
		profile = make_profile();
		attributes = lode_sample_attributes_new(profile, NULL);
	}
	for (guint i = 0; i + 1 < n; i++) {
		g_autoptr(GError) error = NULL;
		if (!lode_expression_scope_define(scope, lines[i], &error))
			check_message(error);
	}
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExpression)
		expression = lode_expression_new(n > 0 ? lines[n - 1] : "", scope, &error);
	if ((expression == NULL) != (error != NULL))
		g_error("a result and an error");
	if (expression == NULL)
		check_message(error);
	else
		evaluate(expression, attributes, profile->memory->samples);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* JSON as json-glib reads it. */
#include "base/text/json_stream.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static JsonNode *parse_json(const char *text)
{
	g_autoptr(GError) error = NULL;
	JsonNode *node = json_from_string(text, &error);

	g_assert_no_error(error);
	return node;
}

static void test_values(void)
{
	static const char hostile[] = "q\"b\\n\n e\x1b u\xe2\x86\x92 c\xc2\x9b x\x7f \xe2\x80\xae "
				      "\xf0\x9d\x85\xb3 bad\xff";
	g_autoptr(GString) text = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "text", hostile);
	lode_json_member_string(&json, "none", NULL);
	lode_json_member_number(&json, "tenth", 0.1);
	lode_json_member_number(&json, "large", 9007199254740992.0);
	lode_json_member_number(&json, "nan", (double)NAN);
	lode_json_member_bool(&json, "yes", true);
	lode_json_line(&json);
	lode_json_key(&json, "list");
	lode_json_begin(&json, '[');
	lode_json_begin(&json, '[');
	lode_json_end(&json, ']');
	for (int i = 0; i < 3; i++) {
		lode_json_line(&json);
		lode_json_number(&json, i);
	}
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
	g_assert_null(strchr(text->str, 0x1b));
	g_assert_null(strchr(text->str, 0x7f));
	g_assert_nonnull(strstr(text->str, "\\u202e \\ud834\\udd73 "));
	g_assert_true(g_utf8_validate(text->str, -1, NULL));
	g_autoptr(JsonNode) node = parse_json(text->str);
	JsonObject *object = json_node_get_object(node);
	g_assert_cmpstr(json_object_get_string_member(object, "text"), ==,
		"q\"b\\n\n e\x1b u\xe2\x86\x92 c\xc2\x9b x\x7f \xe2\x80\xae \xf0\x9d\x85\xb3 "
		"bad\xef\xbf\xbd");
	g_assert_true(json_object_get_null_member(object, "none"));
	g_assert_true(json_object_get_null_member(object, "nan"));
	g_assert_cmpfloat(json_object_get_double_member(object, "tenth"), ==, 0.1);
	g_assert_cmpint(json_object_get_int_member(object, "large"), ==, 9007199254740992);
	g_assert_true(json_object_get_boolean_member(object, "yes"));
	g_assert_cmpuint(
		json_array_get_length(json_object_get_array_member(object, "list")), ==, 4);
}

static void test_text(void)
{
	g_autoptr(GString) text = g_string_new("before ");
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	json.keeps_bytes = true;
	lode_json_begin(&json, '[');
	lode_json_string(&json, "bad\xff\x1b");
	lode_json_integer(&json, UINT64_MAX);
	lode_json_bool(&json, false);
	lode_json_end(&json, ']');
	g_assert_cmpstr(text->str, ==, "before [\"bad\xff\\u001b\",18446744073709551615,false]");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/base/json_stream/values", test_values);
	g_test_add_func("/base/json_stream/text", test_text);
	return g_test_run();
}

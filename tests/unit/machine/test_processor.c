/* SPDX-License-Identifier: MIT */
#include "machine/processor.h"

#include <glib.h>

static void test_given(void)
{
	g_assert_true(g_setenv("LODE_PROCESSOR", "GenuineIntel,6,143,8", TRUE));
	g_autofree char *given = lode_processor_id();
	g_assert_cmpstr(given, ==, "GenuineIntel,6,143,8");
	g_assert_true(g_setenv("LODE_PROCESSOR", "", TRUE));
	g_autofree char *empty = lode_processor_id();
	g_unsetenv("LODE_PROCESSOR");
	g_autofree char *own = lode_processor_id();
	g_assert_cmpstr(empty, ==, own);
}

static void test_value(void)
{
	static const char text[] = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: One of them\n";
	g_autofree char *model = lode_proc_value(text, "model\t");
	g_autofree char *name = lode_proc_value(text, "model name");
	g_autofree char *none = lode_proc_value(text, "stepping");

	g_assert_cmpstr(model, ==, "17");
	g_assert_cmpstr(name, ==, "One of them");
	g_assert_null(none);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/processor/given", test_given);
	g_test_add_func("/processor/value", test_value);
	return g_test_run();
}

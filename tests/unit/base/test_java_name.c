/* SPDX-License-Identifier: MIT */
#include "base/text/java_name.h"

#include <glib.h>
#include <string.h>

static void check_name(const char *class, const char *method, const char *types, const char *name)
{
	char text[256];

	lode_java_method_name_write(text, sizeof text, class, method, types);
	g_assert_cmpstr(text, ==, name);
}

static void test_names(void)
{
	check_name("Ljava/lang/String;", "hashCode", "()I", "java.lang.String.hashCode()");
	check_name("Ljava/lang/String;", "indexOf", "(Ljava/lang/String;I)I",
		"java.lang.String.indexOf(String, int)");
	check_name("LMain;", "main", "([Ljava/lang/String;)V", "Main.main(String[])");
	check_name("Lp/A$B;", "<init>", "([[JLp/A$B;BCDFSZ)V",
		"p.A$B.<init>(long[][], A$B, byte, char, double, float, short, boolean)");
	/* what differs from run to run is left out, as JDK 17 and later write it */
	check_name("Lp/Foo$$Lambda$14+0x0000000800c03000;", "run", "()V", "p.Foo$$Lambda$14.run()");
	check_name("Lp/Foo$$Lambda.0x0000000800c03000;", "run", "()V", "p.Foo$$Lambda.run()");
	check_name("Lp/Foo$$Lambda/0x0000000800c03000;", "run", "(Lp/Bar/0x00000008;)V",
		"p.Foo$$Lambda.run(Bar)");
}

/* The virtual machine would not say such things, but nothing is read behind their ends. */
static void test_odd_signatures(void)
{
	check_name("", "", "", ".()");
	check_name("L", "f", "(", ".f()");
	check_name("LA", "f", "(L", "A.f()");
	check_name("LA;", "f", "([", "A.f([])");
	check_name("LA;", "f", "(?I", "A.f(?, int)");
}

static void test_cut_off(void)
{
	char text[11];

	for (size_t size = 1; size <= sizeof text; size++) {
		memset(text, 'x', sizeof text);
		lode_java_method_name_write(text, size, "La/b/C;", "name", "(I)V");
		g_assert_cmpuint(strlen(text), ==, size - 1);
		g_assert_cmpint(strncmp("a.b.C.name(int)", text, size - 1), ==, 0);
	}
}

static void check_type(const char *signature, const char *name)
{
	char text[64];

	lode_java_type_name_write(text, sizeof text, signature);
	g_assert_cmpstr(text, ==, name);
}

static void test_types(void)
{
	check_type("Ljava/lang/String;", "java.lang.String");
	check_type("[[Lp/A$B;", "p.A$B[][]");
	check_type("[J", "long[]");
	check_type("Lp/Foo$$Lambda/0x0000000800c03000;", "p.Foo$$Lambda");
	check_type("", "");
}

static void test_source_path(void)
{
	char text[64];

	lode_java_source_path_write(text, sizeof text, "Ljava/lang/String;", "String.java");
	g_assert_cmpstr(text, ==, "java/lang/String.java");
	lode_java_source_path_write(text, sizeof text, "LMain$1;", "Main.java");
	g_assert_cmpstr(text, ==, "Main.java");
	lode_java_source_path_write(
		text, sizeof text, "Lp/Foo$$Lambda/0x0000000800c03000;", "Foo.java");
	g_assert_cmpstr(text, ==, "p/Foo.java");
	memset(text, 'x', sizeof text);
	lode_java_source_path_write(text, sizeof text, "LMain;", "");
	g_assert_cmpstr(text, ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/java_name/names", test_names);
	g_test_add_func("/java_name/odd_signatures", test_odd_signatures);
	g_test_add_func("/java_name/cut_off", test_cut_off);
	g_test_add_func("/java_name/types", test_types);
	g_test_add_func("/java_name/source_path", test_source_path);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "serve/parameters.h"

static void test_texts(void)
{
	g_auto(LodeServeParameters) parameters;

	lode_serve_parameters_init(&parameters);
	lode_serve_parameters_add(&parameters, "with", "");
	lode_serve_parameters_add(&parameters, "with", "load");
	lode_serve_parameters_add(&parameters, "all", "1");
	lode_serve_parameters_add(&parameters, "with", "ev:*");
	lode_serve_parameters_add(&parameters, "reverse", NULL);
	g_autofree const char **with = lode_serve_parameters_texts(&parameters, "with");
	g_assert_cmpstr(with[0], ==, "load");
	g_assert_cmpstr(with[1], ==, "ev:*");
	g_assert_null(with[2]);
	g_assert_cmpstr(lode_serve_parameters_text(&parameters, "with"), ==, "load");
	g_assert_null(lode_serve_parameters_text(&parameters, "reverse"));
	g_assert_null(lode_serve_parameters_texts(&parameters, "without"));
	g_assert_true(lode_serve_parameters_flag(&parameters, "all"));
	g_assert_false(lode_serve_parameters_flag(&parameters, "with"));
	g_assert_false(lode_serve_parameters_flag(&parameters, "other"));
}

static void test_numbers(void)
{
	static const char *const wrong[] = {
		"x", "-1", "1.5", "11", " 1", "0x1", "1e1", "99999999999999999999999"};
	static const char *const wrong_shares[] = {"x", "-1%", "101%", "1.1", "nan", "inf", "2%%"};
	uint64_t value = 7;
	double share = 0.5;

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_auto(LodeServeParameters) parameters;
		g_autoptr(GError) error = NULL;
		lode_serve_parameters_init(&parameters);
		lode_serve_parameters_add(&parameters, "n", wrong[i]);
		g_assert_false(lode_serve_parameters_count(&parameters, "n", 10, &value, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
		g_assert_cmpuint(value, ==, 7);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(wrong_shares); i++) {
		g_auto(LodeServeParameters) parameters;
		g_autoptr(GError) error = NULL;
		lode_serve_parameters_init(&parameters);
		lode_serve_parameters_add(&parameters, "s", wrong_shares[i]);
		g_assert_false(lode_serve_parameters_share(&parameters, "s", &share, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
		g_assert_cmpfloat(share, ==, 0.5);
	}
	g_auto(LodeServeParameters) parameters;
	lode_serve_parameters_init(&parameters);
	lode_serve_parameters_add(&parameters, "n", "10");
	lode_serve_parameters_add(&parameters, "s", "2%");
	g_assert_true(lode_serve_parameters_count(&parameters, "absent", 10, &value, NULL));
	g_assert_cmpuint(value, ==, 7);
	g_assert_true(lode_serve_parameters_count(&parameters, "n", 10, &value, NULL));
	g_assert_cmpuint(value, ==, 10);
	g_assert_true(lode_serve_parameters_share(&parameters, "s", &share, NULL));
	g_assert_cmpfloat(share, ==, 0.02);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/parameters/texts", test_texts);
	g_test_add_func("/parameters/numbers", test_numbers);
	return g_test_run();
}

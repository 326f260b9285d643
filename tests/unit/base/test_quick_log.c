/* SPDX-License-Identifier: MIT */
#include "base/quick_log.h"
#include "seeds.h"

#include <float.h>
#include <math.h>

static void assert_log(double x)
{
	double exact = log(x), quick = lode_quick_log_of_normal(x);

	if (isfinite(x))
		g_assert_cmpfloat_with_epsilon(quick, exact, 4e-15 * fmax(1, fabs(exact)));
	else
		g_assert_true(isnan(quick));
}

static void test_against_libm(void)
{
	for (int i = 0; i < 100000; i++) {
		double mantissa = random_int_range(1, 1 << 30) / (double)(1 << 29);
		assert_log(mantissa);
		assert_log(ldexp(mantissa, random_int_range(-1000, 1000)));
		assert_log(1 + ldexp(mantissa, random_int_range(-60, 0)));
	}
}

static void test_limits(void)
{
	static const double xs[] = {1, DBL_MIN, DBL_MAX, HUGE_VAL, NAN, M_SQRT1_2, M_SQRT2};

	for (size_t i = 0; i < sizeof(xs) / sizeof(xs[0]); i++)
		assert_log(xs[i]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/quick_log/against_libm", test_against_libm,
		"R02S00000000000000000000000000000001", NULL);
	g_test_add_func("/quick_log/limits", test_limits);
	return g_test_run();
}

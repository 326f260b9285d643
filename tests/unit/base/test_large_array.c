/* SPDX-License-Identifier: MIT */
#include "base/arrays/large_array.h"

#include <stdint.h>

static void test_has_room(void)
{
	g_assert_true(lode_large_array_has_room(sizeof(uint64_t), 0));
	g_assert_true(lode_large_array_has_room(sizeof(uint64_t), 1000));
	/* More than there are addresses. */
	g_assert_false(lode_large_array_has_room(sizeof(uint64_t), SIZE_MAX / 2));
}

static void test_takes_elements(void)
{
	g_autoptr(GArray) array = lode_large_array_new(sizeof(uint32_t), 1 << 20);

	g_assert_cmpuint(array->len, ==, 0);
	for (uint32_t i = 0; i < 1 << 20; i++)
		g_array_append_val(array, i);
	for (uint32_t i = 0; i < 1 << 20; i++)
		g_assert_cmpuint(g_array_index(array, uint32_t, i), ==, i);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/large_array/has_room", test_has_room);
	g_test_add_func("/large_array/takes_elements", test_takes_elements);
	return g_test_run();
}

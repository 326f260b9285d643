/* SPDX-License-Identifier: MIT */
/* Code whose jumps are known by construction. */
#include "images/code/tail_jumps.h"

#include <glib.h>

static void test_calls(void)
{
	static const uint8_t call[] = {0xe8, 0x10, 0, 0, 0},
			     back[] = {0xe8, 0xf0, 0xff, 0xff, 0xff},
			     indirect[] = {0xff, 0x15, 0, 0, 0};

	g_assert_cmphex(lode_called_address(call, 0x1005), ==, 0x1015);
	g_assert_cmphex(lode_called_address(back, 0x1005), ==, 0xff5);
	g_assert_cmphex(lode_called_address(indirect, 0x1005), ==, 0);
}

static void test_jumps(void)
{
	static const uint8_t code[] = {
		0x74, 0x05,                         /* 0: je 7 */
		0xe9, 0x30, 0, 0, 0,                /* 2: jmp 0x37, out of it */
		0xeb, 0xf7,                         /* 7: jmp 0 */
		0xff, 0xe0,                         /* 9: jmp rax, of a table */
		0xff, 0x25, 0x20, 0, 0, 0,          /* 11: jmp [rip + 0x20] */
		0xe8, 0, 0, 0, 0,                   /* 17: call 22 */
		0xe9, 0xe4, 0xff, 0xff, 0xff, 0xe9, /* 22: jmp −1; and one that is cut off */
	};
	LodeTailJump jumps[4];

	g_assert_cmpuint(lode_tail_jumps_find(code, sizeof(code), 0x1000, jumps, 4), ==, 3);
	g_assert_cmphex(jumps[0].address, ==, 0x1002);
	g_assert_cmphex(jumps[0].target, ==, 0x1037);
	g_assert_cmphex(jumps[1].address, ==, 0x100b);
	g_assert_cmphex(jumps[1].target, ==, 0);
	g_assert_cmphex(jumps[2].address, ==, 0x1016);
	g_assert_cmphex(jumps[2].target, ==, 0xfff);
	g_assert_cmpuint(lode_tail_jumps_find(code, sizeof(code), 0x1000, jumps, 1), ==, 1);
	g_assert_cmpuint(lode_tail_jumps_find(code, 0, 0x1000, jumps, 4), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/tail_jumps/calls", test_calls);
	g_test_add_func("/tail_jumps/jumps", test_jumps);
	return g_test_run();
}

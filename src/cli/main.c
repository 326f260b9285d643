/* SPDX-License-Identifier: MIT */
#include <stdio.h>

int main(void)
{
	puts("lode " LODE_VERSION);
	return 0;
}

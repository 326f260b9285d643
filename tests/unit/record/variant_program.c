/* SPDX-License-Identifier: MIT */
/* Prints where in the C library its variants lie that this run has chosen. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	static const char *const names[] = {"memcpy", "memmove", "memset", "memchr", "memcmp",
		"strlen", "strchr", "strcmp", "strncmp", "strcpy", "strrchr", "strnlen"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *function = dlsym(RTLD_DEFAULT, names[i]);
		Dl_info info;
		if (function == NULL || dladdr(function, &info) == 0)
			return 1;
		printf("%s 0x%lx\n", names[i],
			(unsigned long)((char *)function - (char *)info.dli_fbase));
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Appends its open descriptors above standard error to the file FIRST, and what each is, one a
 * line: "7 /tmp/x". The line "end" follows them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char link[64], target[4096];
	DIR *listing = opendir("/proc/self/fd");
	FILE *out = fopen(argc > 1 ? argv[1] : "/dev/null", "a");

	if (listing == NULL || out == NULL)
		return 1;
	for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
		int number = atoi(entry->d_name);
		if (entry->d_name[0] == '.' || number <= STDERR_FILENO ||
			number == dirfd(listing) || number == fileno(out))
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", number);
		ssize_t length = readlink(link, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		fprintf(out, "%d %s\n", number, target);
	}
	fputs("end\n", out);
	return fclose(out);
}

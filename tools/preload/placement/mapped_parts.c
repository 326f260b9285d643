/* SPDX-License-Identifier: MIT */
#include "mapped_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 512 };

/* Digits of base 16; gives what follows them. */
static const char *take_address(const char *at, uint64_t *out_address)
{
	uint64_t value = 0;

	for (;; at++) {
		if (*at >= '0' && *at <= '9')
			value = value * 16 + (uint64_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			value = value * 16 + (uint64_t)(*at - 'a' + 10);
		else
			break;
	}
	*out_address = value;
	return at;
}

/* 7f00-8f00 rw-p 00000000 fe:00 1234      /path */
static void visit_line(
	const char *line, void (*visit)(const MappedPart *part, void *data), void *data)
{
	MappedPart part;
	const char *at = take_address(line, &part.start);

	if (*at != '-')
		return;
	at = take_address(at + 1, &part.end);
	for (int field = 0; field < 4 && *at == ' '; field++)
		at += 1 + strcspn(at + 1, " ");
	part.name = at + strspn(at, " ");
	visit(&part, data);
}

void mapped_parts_visit(void (*visit)(const MappedPart *part, void *data), void *data)
{
	char bytes[4096], line[LINE];
	size_t length = 0;
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (file >= 0) {
		ssize_t n = read(file, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				if (length < LINE - 1)
					line[length++] = bytes[i];
				continue;
			}
			line[length] = '\0';
			visit_line(line, visit, data);
			length = 0;
		}
	}
	if (file >= 0)
		close(file);
}

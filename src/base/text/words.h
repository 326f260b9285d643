/* SPDX-License-Identifier: MIT */
/* Words that stand for the values of an enum, in the order of the values. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Which of `n` words a text is, the value that it stands for; −1: none. */
static inline int lode_word_find(const char *const *words, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], text) == 0)
			return (int)i;
	return -1;
}

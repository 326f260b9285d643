/* SPDX-License-Identifier: MIT */
#include "caches/sets/lru_cache.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_WAYS = 1 << 16, MAX_LINE_BYTES = 4096, MAX_LINES = 1 << 26 };

static uint32_t shift_of(uint32_t bytes)
{
	uint32_t shift = 0;

	while (bytes >> (shift + 1) != 0)
		shift++;
	return shift;
}

static bool is_power_of_two(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* Only the used part of a large one is ever touched. At least one number. */
static uint64_t *make_numbers(uint64_t n)
{
	void *place = mmap(NULL, (n > 0 ? n : 1) * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return place != MAP_FAILED ? place : NULL;
}

static void free_numbers(uint64_t *numbers, uint64_t n)
{
	if (numbers != NULL)
		munmap(numbers, (n > 0 ? n : 1) * sizeof(uint64_t));
}

bool lode_lru_cache_init(LodeLruCache *self, const LodeLruShape *shape)
{
	*self = (LodeLruCache){0};
	if (!is_power_of_two(shape->n_sets) || !is_power_of_two(shape->line_bytes) ||
		shape->n_ways == 0 || shape->n_ways > MAX_WAYS ||
		shape->line_bytes > MAX_LINE_BYTES || shape->n_sets > MAX_LINES / shape->n_ways)
		return false;
	self->set_mask = shape->n_sets - 1;
	self->n_others = shape->n_ways - 1;
	self->line_shift = shift_of(shape->line_bytes);
	self->recent = make_numbers(shape->n_sets);
	self->lines = make_numbers(shape->n_sets * self->n_others);
	if (self->recent != NULL && self->lines != NULL)
		return true;
	lode_lru_cache_clear(self);
	return false;
}

void lode_lru_cache_clear(LodeLruCache *self)
{
	free_numbers(self->recent, self->set_mask + 1);
	free_numbers(self->lines, (self->set_mask + 1) * self->n_others);
	*self = (LodeLruCache){0};
}

static bool parse_number(const char **text, uint64_t *out_number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*out_number = strtoull(*text, &end, 10);
	*text = end;
	return true;
}

static bool skip(const char **text, char expected)
{
	if (**text != expected)
		return false;
	(*text)++;
	return true;
}

bool lode_lru_shape_parse(const char **text, LodeLruShape *out_shape)
{
	uint64_t sets, ways, line;

	if (!parse_number(text, &sets) || !skip(text, ':') || !parse_number(text, &ways) ||
		!skip(text, ':') || !parse_number(text, &line) ||
		(!skip(text, '+') && **text != '\0'))
		return false;
	if (sets > MAX_LINES || ways > MAX_WAYS || line > MAX_LINE_BYTES)
		return false;
	*out_shape = (LodeLruShape){sets, (uint32_t)ways, (uint32_t)line};
	return true;
}

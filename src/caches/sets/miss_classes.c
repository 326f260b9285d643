/* SPDX-License-Identifier: MIT */
/* One table gives each line ever seen its place in the list of the fully associative LRU
 * cache: number + 1 of its node, or 0. */
#include "caches/sets/miss_classes.h"

enum { NO_NODE = UINT32_MAX, FIRST_NODES = 256 };

typedef struct {
	uint64_t line;
	uint32_t newer, older;
} Node;

struct LodeMissClasses {
	LodeLineMap seen;
	LodeLineMap lost; /* line → bytes that other cores wrote since */
	Node *nodes;
	uint32_t n_nodes, room;
	uint32_t capacity;
	uint32_t newest, oldest;
	LodeCacheBudget *budget;
};

LodeMissClasses *lode_miss_classes_new(uint64_t n_lines, LodeCacheBudget *budget)
{
	LodeMissClasses *self = g_new0(LodeMissClasses, 1);

	self->capacity = (uint32_t)n_lines;
	self->newest = self->oldest = NO_NODE;
	self->budget = budget;
	if (!lode_line_map_init(&self->seen, 0, budget) ||
		!lode_line_map_init(&self->lost, 0, budget)) {
		lode_miss_classes_free(self);
		return NULL;
	}
	return self;
}

void lode_miss_classes_free(LodeMissClasses *self)
{
	if (self == NULL)
		return;
	lode_line_map_clear(&self->seen);
	lode_line_map_clear(&self->lost);
	lode_cache_budget_give_back(self->budget, self->room * sizeof(Node));
	g_free(self->nodes);
	g_free(self);
}

static void take_out(LodeMissClasses *self, uint32_t at)
{
	const Node *node = &self->nodes[at];

	if (node->newer == NO_NODE)
		self->newest = node->older;
	else
		self->nodes[node->newer].older = node->older;
	if (node->older == NO_NODE)
		self->oldest = node->newer;
	else
		self->nodes[node->older].newer = node->newer;
}

static void put_first(LodeMissClasses *self, uint32_t at)
{
	self->nodes[at].newer = NO_NODE;
	self->nodes[at].older = self->newest;
	if (self->newest == NO_NODE)
		self->oldest = at;
	else
		self->nodes[self->newest].newer = at;
	self->newest = at;
}

static bool make_room(LodeMissClasses *self)
{
	size_t room = MIN((size_t)self->capacity, MAX((size_t)self->room * 2, FIRST_NODES));
	Node *nodes;

	if (self->n_nodes < self->room)
		return true;
	if (!lode_cache_budget_take(self->budget, (room - self->room) * sizeof(Node)))
		return false;
	nodes = g_try_renew(Node, self->nodes, room);
	if (nodes == NULL) {
		lode_cache_budget_refuse(self->budget, (room - self->room) * sizeof(Node));
		return false;
	}
	self->nodes = nodes;
	self->room = (uint32_t)room;
	return true;
}

/* A node for another line: a new one, or that of the oldest line, which goes. */
static uint32_t take_node(LodeMissClasses *self)
{
	uint32_t at = self->oldest;

	if (self->n_nodes < self->capacity)
		return make_room(self) ? self->n_nodes++ : NO_NODE;
	take_out(self, at);
	*lode_line_map_find(&self->seen, self->nodes[at].line) = 0;
	return at;
}

/* Whether the fully associative cache held it. */
static bool use_line(LodeMissClasses *self, uint64_t line, uint64_t *place, bool brings_in)
{
	uint32_t at = *place != 0 ? (uint32_t)*place - 1 : NO_NODE;
	bool was_held = at != NO_NODE;

	if (was_held && at == self->newest)
		return true;
	if (!was_held && !brings_in)
		return false;
	if (was_held)
		take_out(self, at);
	else
		at = take_node(self);
	if (at == NO_NODE)
		return false;
	self->nodes[at].line = line;
	put_first(self, at);
	*place = at + 1;
	return was_held;
}

LodeMissClass lode_miss_classes_access(
	LodeMissClasses *self, uint64_t line, uint64_t bytes, bool brings_in)
{
	size_t n_seen = self->seen.n;
	uint64_t *place = lode_line_map_find_or_add(&self->seen, line);
	const uint64_t *written = self->lost.n > 0 ? lode_line_map_find(&self->lost, line) : NULL;
	bool was_held;

	if (place == NULL)
		return LODE_MISS_COMPULSORY;
	was_held = use_line(self, line, place, brings_in);
	if (self->seen.n > n_seen)
		return LODE_MISS_COMPULSORY;
	if (written != NULL)
		return *written & bytes ? LODE_MISS_TRUE_SHARING : LODE_MISS_FALSE_SHARING;
	return was_held ? LODE_MISS_CONFLICT : LODE_MISS_CAPACITY;
}

void lode_miss_classes_lose(LodeMissClasses *self, uint64_t line, uint64_t bytes, bool was_held)
{
	uint64_t *written = was_held ? lode_line_map_find_or_add(&self->lost, line)
	                             : lode_line_map_find(&self->lost, line);

	if (written != NULL)
		*written |= bytes;
}

void lode_miss_classes_regain(LodeMissClasses *self, uint64_t line)
{
	if (self->lost.n > 0)
		lode_line_map_remove(&self->lost, line);
}

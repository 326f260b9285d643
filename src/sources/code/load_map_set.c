/* SPDX-License-Identifier: MIT */
#include "sources/code/load_map_set.h"

#include <string.h>

static void free_map(void *data)
{
	lode_load_map_free(data);
}

LodeLoadMapSet *lode_load_map_set_new(void)
{
	LodeLoadMapSet *self = g_new0(LodeLoadMapSet, 1);

	self->maps = g_ptr_array_new_with_free_func(free_map);
	return self;
}

void lode_load_map_set_free(LodeLoadMapSet *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->maps);
	g_free(self);
}

bool lode_load_map_set_read(LodeLoadMapSet *self, const char *path, GError **error)
{
	g_autoptr(LodeLoadMap) map = lode_load_map_new();

	if (!lode_load_map_read(map, path, error))
		return false;
	g_ptr_array_add(self->maps, g_steal_pointer(&map));
	return true;
}

/* The map whose own process this is, else one whose log has lines of it. */
static const LodeLoadMap *map_of(const LodeLoadMapSet *self, uint32_t pid)
{
	const LodeLoadMap *found = NULL;

	for (guint i = 0; i < self->maps->len; i++) {
		const LodeLoadMap *map = g_ptr_array_index(self->maps, i);
		if (pid != 0 && lode_load_map_pid(map) == pid)
			return map;
		if (found == NULL && pid != 0 && lode_load_map_has_pid(map, pid))
			found = map;
	}
	return found;
}

/* Length of the first word, where a backslash stands before a blank that is part of it. */
static size_t program_length(const char *command)
{
	size_t n = 0;

	while (command[n] != '\0' && command[n] != ' ')
		n += command[n] == '\\' && command[n + 1] != '\0' ? 2 : 1;
	return n;
}

static bool is_same_program(const LodeLoadMap *a, const LodeLoadMap *b)
{
	if (a->command == NULL || b->command == NULL)
		return false;
	size_t length = program_length(a->command);
	return length == program_length(b->command) && memcmp(a->command, b->command, length) == 0;
}

/* Valgrind loads a program at the same addresses each time. */
static const LodeLoadMap *map_of_same_program(const LodeLoadMapSet *self, const LodeLoadMap *like)
{
	for (guint i = 0; i < self->maps->len; i++) {
		const LodeLoadMap *map = g_ptr_array_index(self->maps, i);
		if (map->has_start && is_same_program(map, like))
			return map;
	}
	return NULL;
}

/* A parent's log with another command was begun anew by an exec: what the parent had loaded when it
 * forked is not in it any more. */
static const LodeLoadMap *parent_of(const LodeLoadMapSet *self, const LodeLoadMap *child)
{
	const LodeLoadMap *parent = map_of(self, child->parent_pid);

	if (parent != NULL && g_strcmp0(parent->command, child->command) == 0)
		return parent;
	return map_of_same_program(self, child);
}

static const LodeLoadMapEntry *find_without_pid(const LodeLoadMapSet *self, uint64_t address)
{
	const LodeLoadMapEntry *entry = NULL;

	for (guint i = 0; i < self->maps->len && entry == NULL; i++) {
		const LodeLoadMap *map = g_ptr_array_index(self->maps, i);
		if (lode_load_map_pid(map) == 0 || self->maps->len == 1)
			entry = lode_load_map_find(map, address);
	}
	return entry;
}

const LodeLoadMapEntry *lode_load_map_set_find(
	const LodeLoadMapSet *self, uint32_t pid, uint64_t address)
{
	const LodeLoadMap *map = map_of(self, pid);

	if (map == NULL)
		return find_without_pid(self, address);
	/* A PID that was used again could make the parents a circle. */
	for (guint steps = 0; map != NULL && steps <= self->maps->len; steps++) {
		const LodeLoadMapEntry *entry = lode_load_map_find(map, address);
		if (entry != NULL || map->has_start)
			return entry;
		map = parent_of(self, map);
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "live_mappings.h"

#include "model/address_rule.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void mapping_clear(void *data)
{
	g_free(((LiveMapping *)data)->path);
}

bool live_mappings_open(LiveMappings *self, pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/mem", pid);

	*self = (LiveMappings){.pid = pid, .is_stale = true};
	self->mappings = g_array_new(FALSE, FALSE, sizeof(LiveMapping));
	g_array_set_clear_func(self->mappings, mapping_clear);
	self->memory = open(path, O_RDWR | O_CLOEXEC);
	return self->memory >= 0;
}

void live_mappings_close(LiveMappings *self)
{
	g_clear_pointer(&self->mappings, g_array_unref);
	if (self->memory >= 0)
		close(self->memory);
	self->memory = -1;
}

static void add_line(LiveMappings *self, const char *line)
{
	LiveMapping mapping = {0};
	char permissions[5] = "";
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.start,
		    &mapping.end, permissions, &mapping.offset, &path_at) < 4)
		return;
	mapping.protection = (permissions[0] == 'r' ? PROT_READ : 0) |
	                     (permissions[1] == 'w' ? PROT_WRITE : 0) |
	                     (permissions[2] == 'x' ? PROT_EXEC : 0);
	mapping.path = g_strdup(path_at > 0 ? line + path_at : "");
	g_array_append_val(self->mappings, mapping);
}

static void read_again(LiveMappings *self)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", self->pid);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	self->is_stale = false;
	g_array_set_size(self->mappings, 0);
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++)
		add_line(self, *line);
}

static const LiveMapping *find_in_list(const LiveMappings *self, uint64_t address)
{
	guint low = 0, high = self->mappings->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const LiveMapping *mapping = &g_array_index(self->mappings, LiveMapping, middle);
		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

const LiveMapping *live_mappings_find(LiveMappings *self, uint64_t address)
{
	if (self->is_stale)
		read_again(self);
	return find_in_list(self, address);
}

static bool are_valid_in_list(
	const LiveMappings *self, uint64_t address, uint32_t size, uint8_t access)
{
	const int needed = (access & LODE_ACCESS_LOAD ? PROT_READ : 0) |
	                   (access & LODE_ACCESS_STORE ? PROT_WRITE : 0);
	uint64_t end = address + MAX(size, 1);

	while (address < end) {
		const LiveMapping *mapping = find_in_list(self, address);
		if (mapping == NULL || (mapping->protection & needed) != needed)
			return false;
		address = mapping->end;
	}
	return true;
}

bool live_mappings_are_valid(LiveMappings *self, uint64_t address, uint32_t size, uint8_t access)
{
	bool was_stale = self->is_stale;

	if (was_stale)
		read_again(self);
	if (are_valid_in_list(self, address, size, access))
		return true;
	if (was_stale)
		return false;
	read_again(self);
	return are_valid_in_list(self, address, size, access);
}

size_t live_mappings_read(const LiveMappings *self, uint64_t address, void *buffer, size_t size)
{
	ssize_t n = pread(self->memory, buffer, size, (off_t)address);

	return n > 0 ? (size_t)n : 0;
}

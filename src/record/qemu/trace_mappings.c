/* SPDX-License-Identifier: MIT */
#include "record/qemu/trace_mappings.h"

#include "images/elf/elf_file.h"
#include "sources/allocations/live_ranges.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_MAPPINGS = 1 << 16, PAGE_BYTES = 4096 };

struct LodeTraceMappings {
	LodeTraceDescription *description;
	LodeTraceCodeFunc code;
	void *user_data;
	LodeLiveRanges *live;  /* owner: index into the description's mappings */
	GHashTable *build_ids; /* path → hex or "", both the description's */
	GHashTable *images;    /* paths whose parts are there */
	uint64_t n_lost;
};

LodeTraceMappings *lode_trace_mappings_new(
	LodeTraceDescription *description, LodeTraceCodeFunc code, void *user_data)
{
	LodeTraceMappings *self = g_new0(LodeTraceMappings, 1);

	self->description = description;
	self->code = code;
	self->user_data = user_data;
	self->live = lode_live_ranges_new();
	self->build_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return self;
}

void lode_trace_mappings_free(LodeTraceMappings *self)
{
	if (self == NULL)
		return;
	lode_live_ranges_free(self->live);
	g_hash_table_unref(self->build_ids);
	g_hash_table_unref(self->images);
	g_free(self);
}

uint64_t lode_trace_mappings_n_lost(const LodeTraceMappings *self)
{
	return self->n_lost;
}

/* A device or a pipe is not to be opened, and another machine's program is only read. */
static LodeElfFile *open_image(const char *path)
{
	g_autoptr(LodeElfFile) file = NULL;
	struct stat status;

	if (path[0] != '/' || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return NULL;
	file = lode_elf_file_open(path, NULL);
	return file != NULL && file->undecoded == NULL ? g_steal_pointer(&file) : NULL;
}

static char *build_id_of(LodeTraceMappings *self, const char *path)
{
	char *known = g_hash_table_lookup(self->build_ids, path);

	if (known == NULL) {
		g_autoptr(LodeElfFile) file = open_image(path);
		known = lode_trace_description_intern(self->description,
			file != NULL && file->build_id != NULL ? file->build_id : "");
		g_hash_table_insert(self->build_ids,
			lode_trace_description_intern(self->description, path), known);
	}
	return *known != '\0' ? known : NULL;
}

static const LodeTraceMapping *mapping_at(const LodeTraceMappings *self, uint32_t index)
{
	return &g_array_index(self->description->mappings, LodeTraceMapping, index);
}

static bool is_known(const LodeTraceMappings *self, const LodeTraceMapping *mapping)
{
	const LodeLiveRange *there = lode_live_ranges_find(self->live, mapping->start);

	if (there == NULL || there->end < mapping->end)
		return false;
	const LodeTraceMapping *known = mapping_at(self, there->owner);
	return known->protection == mapping->protection &&
	       strcmp(known->path, mapping->path) == 0 &&
	       (mapping->path[0] != '/' ||
		       known->offset - known->start == mapping->offset - mapping->start);
}

/* Its strings are copied, its build-id is looked up. What is known already is not added again. */
static void add_mapping(LodeTraceMappings *self, const LodeTraceMapping *mapping)
{
	GArray *mappings = self->description->mappings;
	LodeTraceMapping copy = *mapping;
	const LodeLiveRange range = {
		.start = mapping->start,
		.end = mapping->end,
		.origin = mapping->start,
		.owner = mappings->len,
	};

	if (mapping->start >= mapping->end || is_known(self, mapping))
		return;
	if (mappings->len == MAX_MAPPINGS) {
		self->n_lost++;
		return;
	}
	copy.path = lode_trace_description_intern(self->description, mapping->path);
	copy.build_id = build_id_of(self, copy.path);
	g_array_append_val(mappings, copy);
	lode_live_ranges_put(self->live, &range, NULL);
	if (self->code != NULL && (copy.protection & PROT_EXEC) != 0 && copy.path[0] == '/')
		self->code(&copy, self->user_data);
}

/* Whoever wants to know of code knows of the parent's. */
void lode_trace_mappings_inherit(LodeTraceMappings *self, const LodeTraceMappings *parent)
{
	LodeTraceCodeFunc code = self->code;

	self->code = NULL;
	for (guint i = 0; i < parent->description->mappings->len; i++) {
		LodeTraceMapping mapping = *mapping_at(parent, i);
		mapping.first_reference = 0;
		add_mapping(self, &mapping);
	}
	self->code = code;
}

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGE_BYTES - 1);
}

static uint32_t protection_of(const Elf64_Phdr *segment)
{
	return ((segment->p_flags & PF_R) != 0 ? PROT_READ : 0u) |
	       ((segment->p_flags & PF_W) != 0 ? PROT_WRITE : 0u) |
	       ((segment->p_flags & PF_X) != 0 ? PROT_EXEC : 0u);
}

static bool is_loaded(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_filesz > 0;
}

static bool add_parts(
	LodeTraceMappings *self, const LodeElfFile *file, uint64_t bias, uint64_t first_reference)
{
	bool has_any = false;

	for (size_t i = 0; i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		if (!is_loaded(segment))
			continue;
		const LodeTraceMapping mapping = {
			.start = bias + page_of(segment->p_vaddr),
			/* whole pages, as the loader maps them; the rest of p_memsz is anonymous */
			.end = bias +
		               page_of(segment->p_vaddr + segment->p_filesz + PAGE_BYTES - 1),
			.offset = page_of(segment->p_offset),
			.first_reference = first_reference,
			.protection = protection_of(segment),
			.path = file->path,
		};
		add_mapping(self, &mapping);
		has_any = true;
	}
	return has_any;
}

bool lode_trace_mappings_add_image(
	LodeTraceMappings *self, const char *path, uint64_t bias, uint64_t first_reference)
{
	g_autoptr(LodeElfFile) file = open_image(path);

	return file != NULL && add_parts(self, file, bias, first_reference);
}

/* From where the file's first byte lies. */
static bool add_parts_at(LodeTraceMappings *self, const LodeTraceMapping *first)
{
	g_autoptr(LodeElfFile) file = first->offset == 0 ? open_image(first->path) : NULL;

	for (size_t i = 0; file != NULL && i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		if (is_loaded(segment))
			return add_parts(self, file,
				first->start + page_of(segment->p_offset) -
					page_of(segment->p_vaddr),
				first->first_reference);
	}
	return false;
}

/* The emulator has an image mapped for reading, and in other pieces than the program's. */
static void note_image(LodeTraceMappings *self, const LodeTraceMapping *mapping)
{
	if (g_hash_table_contains(self->images, mapping->path))
		return;
	if (add_parts_at(self, mapping))
		g_hash_table_add(self->images, g_strdup(mapping->path));
	else
		add_mapping(self, mapping);
}

static void protect(LodeTraceMappings *self, const LodeTraceMapping *wanted)
{
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));

	/* from a list: add_mapping() changes the live ranges, and skips empty parts */
	lode_live_ranges_list(self->live, ranges);
	for (guint i = 0; i < ranges->len; i++) {
		const LodeLiveRange *range = &g_array_index(ranges, LodeLiveRange, i);
		LodeTraceMapping part = *mapping_at(self, range->owner);
		uint64_t origin = part.start;
		part.start = MAX(range->start, wanted->start);
		part.end = MIN(range->end, wanted->end);
		part.offset += part.path[0] == '/' ? part.start - origin : 0;
		part.protection = wanted->protection;
		part.first_reference = wanted->first_reference;
		add_mapping(self, &part);
	}
}

/* By mremap(2): `offset` is the address where it lay before. */
static void move(LodeTraceMappings *self, const LodeTraceMapping *mapping)
{
	const LodeLiveRange *range = lode_live_ranges_find(self->live, mapping->offset);
	LodeTraceMapping moved = *mapping;

	if (range == NULL)
		return;
	const LodeTraceMapping *old = mapping_at(self, range->owner);
	moved.path = old->path;
	moved.protection = old->protection;
	moved.offset = old->path[0] == '/' ? old->offset + (mapping->offset - old->start) : 0;
	add_mapping(self, &moved);
}

static char *path_of(const TraceEvent *event)
{
	static const char *const names[] = {
		[TRACE_MAPPING_ANONYMOUS] = "[anon]",
		[TRACE_MAPPING_HEAP] = "[heap]",
		[TRACE_MAPPING_STACK] = "[stack]",
	};

	if (event->kind < G_N_ELEMENTS(names) && names[event->kind] != NULL)
		return (char *)names[event->kind];
	return event->path[0] != '\0' ? (char *)event->path : (char *)"[anon]";
}

void lode_trace_mappings_note(LodeTraceMappings *self, TraceEventKind kind, const TraceEvent *event,
	uint64_t first_reference)
{
	const LodeTraceMapping mapping = {
		.start = event->start,
		.end = event->start + MIN(event->size, UINT64_MAX - event->start),
		.offset = event->offset,
		.first_reference = first_reference,
		.protection = event->protection,
		.path = path_of(event),
	};

	if (kind == TRACE_EVENT_IMAGE)
		note_image(self, &mapping);
	else if (kind == TRACE_EVENT_PROTECT)
		protect(self, &mapping);
	else if (kind == TRACE_EVENT_MAP && event->kind == TRACE_MAPPING_MOVED)
		move(self, &mapping);
	else if (kind == TRACE_EVENT_MAP)
		add_mapping(self, &mapping);
}

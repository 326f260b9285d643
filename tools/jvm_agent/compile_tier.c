/* SPDX-License-Identifier: MIT */
/*
 *   header of the method ─▶ ┌ CodeBlob::_name         "nmethod"
 *                           │ CodeBlob::_code_begin   the code's address, by which it is found; or
 *                           │ CodeBlob::_code_offset  of the code from here (JDK 23 and later)
 *                           │ nmethod::_comp_level, _entry_bci
 *                           ├ relocations, of any length
 *   code ─────────────────▶ └
 */
#include "compile_tier.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_WINDOW = 16384, MIN_WINDOW = 512, MAX_OFFSET = 4096, MAX_ENTRIES = 100000 };

typedef struct {
	int64_t name, code_begin, code_offset, level, entry_bci; /* below 0: unknown */
} Layout;

static uint64_t value_of(void *library, const char *name)
{
	const uint64_t *value = dlsym(library, name);

	return value != NULL ? *value : 0;
}

static void take_field(Layout *self, const char *type, const char *field, uint64_t offset)
{
	bool is_blob = strcmp(type, "CodeBlob") == 0, is_method = strcmp(type, "nmethod") == 0;

	if (offset > MAX_OFFSET)
		return;
	if (is_blob && strcmp(field, "_name") == 0)
		self->name = (int64_t)offset;
	if (is_blob && strcmp(field, "_code_begin") == 0)
		self->code_begin = (int64_t)offset;
	if (is_blob && strcmp(field, "_code_offset") == 0)
		self->code_offset = (int64_t)offset;
	if (is_method && strcmp(field, "_comp_level") == 0)
		self->level = (int64_t)offset;
	if (is_method && strcmp(field, "_entry_bci") == 0)
		self->entry_bci = (int64_t)offset;
}

static Layout read_layout(void)
{
	Layout layout = {-1, -1, -1, -1, -1};
	void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);

	if (library == NULL)
		return layout;
	const char *entry = (const char *)(uintptr_t)value_of(library, "gHotSpotVMStructs");
	uint64_t type = value_of(library, "gHotSpotVMStructEntryTypeNameOffset");
	uint64_t field = value_of(library, "gHotSpotVMStructEntryFieldNameOffset");
	uint64_t offset = value_of(library, "gHotSpotVMStructEntryOffsetOffset");
	uint64_t stride = value_of(library, "gHotSpotVMStructEntryArrayStride");
	for (int i = 0; entry != NULL && stride > 0 && i < MAX_ENTRIES; i++, entry += stride) {
		const char *type_name = *(const char *const *)(entry + type);
		const char *field_name = *(const char *const *)(entry + field);
		if (type_name == NULL || field_name == NULL)
			break;
		take_field(&layout, type_name, field_name, *(const uint64_t *)(entry + offset));
	}
	dlclose(library);
	return layout;
}

static bool read_memory(uint64_t address, void *out, size_t size)
{
	struct iovec local = {out, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Whether it is a method's header. */
static bool take_header(CompileTier *self, const Layout *layout, uint64_t header)
{
	uint64_t name;
	int32_t entry_bci;
	char text[8], level;

	if (!read_memory(header + (uint64_t)layout->name, &name, sizeof name) ||
		!read_memory(name, text, sizeof text) ||
		memcmp(text, "nmethod", sizeof text) != 0 ||
		!read_memory(header + (uint64_t)layout->level, &level, sizeof level) ||
		!read_memory(header + (uint64_t)layout->entry_bci, &entry_bci, sizeof entry_bci))
		return false;
	self->tier = level;
	self->is_osr = entry_bci >= 0;
	return level >= 1 && level <= 4;
}

/* Whether a header that begins here says that its code does at that distance. */
static bool is_code_at(const Layout *layout, const char *header, uint64_t distance)
{
	int32_t offset;

	if ((uint64_t)layout->code_offset + sizeof offset > distance)
		return false;
	memcpy(&offset, header + layout->code_offset, sizeof offset);
	return offset > 0 && (uint64_t)offset == distance;
}

bool compile_tier_read(CompileTier *self, const void *code)
{
	static __thread bool is_known;
	static __thread Layout layout;
	uint64_t window[MAX_WINDOW / sizeof(uint64_t)], begin = (uint64_t)(uintptr_t)code;
	size_t size = MAX_WINDOW;

	if (!is_known)
		layout = read_layout();
	is_known = true;
	bool has_begin = layout.code_begin >= 0;
	if (layout.name < 0 || layout.level < 0 || layout.entry_bci < 0 ||
		(!has_begin && layout.code_offset < 0) || begin % sizeof(uint64_t) != 0 ||
		begin < MAX_WINDOW + MAX_OFFSET)
		return false;
	while (!read_memory(begin - size, window, size))
		if ((size /= 2) < MIN_WINDOW)
			return false;
	/* The header is the nearest before the code that says so. */
	for (size_t i = size / sizeof(uint64_t); i-- > 0;) {
		uint64_t at = begin - size + i * sizeof(uint64_t);
		uint64_t header = at - (has_begin ? (uint64_t)layout.code_begin : 0);
		if (has_begin ? window[i] != begin
			      : !is_code_at(&layout, (const char *)&window[i], begin - at))
			continue;
		if (take_header(self, &layout, header))
			return true;
	}
	return false;
}

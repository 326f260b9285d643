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

#include "vm_structs.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAX_WINDOW = 16384, MIN_WINDOW = 512, MAX_OFFSET = 4096 };

typedef struct {
	int64_t name, code_begin, code_offset, level, entry_bci; /* below 0: unknown */
} Layout;

static Layout read_layout(void)
{
	return (Layout){
		.name = vm_struct_offset("CodeBlob", "_name"),
		.code_begin = vm_struct_offset("CodeBlob", "_code_begin"),
		.code_offset = vm_struct_offset("CodeBlob", "_code_offset"),
		.level = vm_struct_offset("nmethod", "_comp_level"),
		.entry_bci = vm_struct_offset("nmethod", "_entry_bci"),
	};
}

/* Whether it is a method's header. */
static bool take_header(CompileTier *self, const Layout *layout, uint64_t header)
{
	uint64_t name;
	int32_t entry_bci;
	char text[8], level;

	if (!vm_struct_read(header + (uint64_t)layout->name, &name, sizeof name) ||
		!vm_struct_read(name, text, sizeof text) ||
		memcmp(text, "nmethod", sizeof text) != 0 ||
		!vm_struct_read(header + (uint64_t)layout->level, &level, sizeof level) ||
		!vm_struct_read(header + (uint64_t)layout->entry_bci, &entry_bci, sizeof entry_bci))
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
	while (!vm_struct_read(begin - size, window, size))
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

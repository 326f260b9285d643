/* SPDX-License-Identifier: MIT */
/*
 * The file of gcc -fauto-profile, words of 32 bits in this machine's byte order:
 *
 *   magic, version, 0
 *   names      tag, length, number, then each: bytes with the NUL, and these
 *   functions  tag, length, number, then each: entries (64 bits), function
 *   modules    tag, length, 0
 *
 *   function   name, number of lines, of inlined functions
 *     line       place, number of calls, executions (64 bits); each call: kind, name (64), calls
 * (64) inlined    place, function
 *
 * A place is offset << 16 | discriminator. GCC does not take the first name for any.
 */
#include "base/arrays/name_table.h"
#include "base/byte_append.h"
#include "views/export/compiler_profile.h"
#include "views/form/format.h"

#include <string.h>

enum {
	MAGIC = 0x67636461,
	VERSION = 2,
	KIND_OF_CALL = 7, /* HIST_TYPE_INDIR_CALL_TOPN; not used */
};

static const uint32_t NAMES = 0xaa000000, FUNCTIONS = 0xac000000, MODULES = 0xae000000;

typedef struct {
	GByteArray *bytes;
	LodeNameTable names;
} AutoProfile;

static void collect_names(AutoProfile *self, const LodeCompilerFunction *function)
{
	lode_name_table_add(&self->names, function->name);
	for (guint i = 0; i < function->lines->len; i++) {
		const GArray *targets = g_array_index(function->lines, LodeCompilerLine, i).targets;
		for (guint k = 0; targets != NULL && k < targets->len; k++)
			lode_name_table_add(&self->names,
				g_array_index(targets, LodeCompilerTarget, k).function);
	}
	for (guint i = 0; i < function->inlined->len; i++)
		collect_names(self, function->inlined->pdata[i]);
}

/* The length is that of what follows, in bytes; it is set by end_section(). */
static guint begin_section(AutoProfile *self, uint32_t tag, uint32_t n)
{
	lode_append_u32(self->bytes, tag);
	guint at = self->bytes->len;
	lode_append_u32(self->bytes, 0);
	lode_append_u32(self->bytes, n);
	return at;
}

static void end_section(AutoProfile *self, guint at)
{
	uint32_t length = self->bytes->len - at - (uint32_t)sizeof(length);

	memcpy(self->bytes->data + at, &length, sizeof(length));
}

static void add_names(AutoProfile *self)
{
	const GPtrArray *names = self->names.names;
	guint section = begin_section(self, NAMES, names->len);

	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		uint32_t length = (uint32_t)strlen(name) + 1;
		lode_append_u32(self->bytes, length);
		g_byte_array_append(self->bytes, (const guint8 *)name, length);
	}
	end_section(self, section);
}

static uint32_t place(uint32_t offset, uint32_t discriminator)
{
	return offset << 16 | discriminator;
}

static void add_function(AutoProfile *self, const LodeCompilerFunction *function)
{
	lode_append_u32(self->bytes, lode_name_table_add(&self->names, function->name));
	lode_append_u32(self->bytes, function->lines->len);
	lode_append_u32(self->bytes, function->inlined->len);
	for (guint i = 0; i < function->lines->len; i++) {
		const LodeCompilerLine *line = &g_array_index(function->lines, LodeCompilerLine, i);
		guint n = line->targets != NULL ? line->targets->len : 0;
		lode_append_u32(self->bytes, place(line->offset, line->discriminator));
		lode_append_u32(self->bytes, n);
		lode_append_u64(self->bytes, line->count);
		for (guint k = 0; k < n; k++) {
			const LodeCompilerTarget *target = &g_array_index(
				line->targets, LodeCompilerTarget, k);
			lode_append_u32(self->bytes, KIND_OF_CALL);
			lode_append_u64(
				self->bytes, lode_name_table_add(&self->names, target->function));
			lode_append_u64(self->bytes, target->count);
		}
	}
	for (guint i = 0; i < function->inlined->len; i++) {
		const LodeCompilerFunction *inlined = function->inlined->pdata[i];
		lode_append_u32(self->bytes, place(inlined->offset, inlined->discriminator));
		add_function(self, inlined);
	}
}

bool lode_auto_profile_write(const LodeCompilerProfile *profile, FILE *out, GError **error)
{
	AutoProfile self = {.bytes = g_byte_array_new()};

	lode_name_table_init(&self.names);
	lode_name_table_add(&self.names, "");
	for (guint i = 0; i < profile->functions->len; i++)
		collect_names(&self, profile->functions->pdata[i]);
	lode_append_u32(self.bytes, MAGIC);
	lode_append_u32(self.bytes, VERSION);
	lode_append_u32(self.bytes, 0);
	add_names(&self);
	guint section = begin_section(&self, FUNCTIONS, profile->functions->len);
	for (guint i = 0; i < profile->functions->len; i++) {
		const LodeCompilerFunction *function = profile->functions->pdata[i];
		lode_append_u64(self.bytes, function->head);
		add_function(&self, function);
	}
	end_section(&self, section);
	end_section(&self, begin_section(&self, MODULES, 0));
	fwrite(self.bytes->data, 1, self.bytes->len, out);
	g_byte_array_unref(self.bytes);
	lode_name_table_clear(&self.names);
	return lode_view_flush(out, error);
}

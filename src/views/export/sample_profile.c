/* SPDX-License-Identifier: MIT */
/* LLVM's sample profile as text: a blank for each function that a line's is inlined into. */
#include "views/export/compiler_profile.h"
#include "views/form/format.h"

static void write_place(FILE *out, unsigned depth, uint32_t offset, uint32_t discriminator)
{
	fprintf(out, "%*s%u", (int)depth, "", offset);
	if (discriminator != 0)
		fprintf(out, ".%u", discriminator);
	fputs(": ", out);
}

static void write_body(FILE *out, const LodeCompilerFunction *function, unsigned depth)
{
	for (guint i = 0; i < function->lines->len; i++) {
		const LodeCompilerLine *line = &g_array_index(function->lines, LodeCompilerLine, i);
		write_place(out, depth, line->offset, line->discriminator);
		fprintf(out, "%" G_GUINT64_FORMAT, line->count);
		for (guint k = 0; line->targets != NULL && k < line->targets->len; k++) {
			const LodeCompilerTarget *target = &g_array_index(
				line->targets, LodeCompilerTarget, k);
			fprintf(out, " %s:%" G_GUINT64_FORMAT, target->function, target->count);
		}
		putc('\n', out);
	}
	for (guint i = 0; i < function->inlined->len; i++) {
		const LodeCompilerFunction *inlined = function->inlined->pdata[i];
		write_place(out, depth, inlined->offset, inlined->discriminator);
		fprintf(out, "%s:%" G_GUINT64_FORMAT "\n", inlined->name, inlined->total);
		write_body(out, inlined, depth + 1);
	}
}

bool lode_sample_profile_write(const LodeCompilerProfile *self, FILE *out, GError **error)
{
	for (guint i = 0; i < self->functions->len; i++) {
		const LodeCompilerFunction *function = self->functions->pdata[i];
		fprintf(out, "%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT "\n", function->name,
			function->total, function->head);
		write_body(out, function, 1);
	}
	return lode_view_flush(out, error);
}

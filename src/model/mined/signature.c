/* SPDX-License-Identifier: MIT */
#include "model/mined/signature.h"

#include "base/arrays/sort_order.h"

#include <string.h>

static const char *const kind_words[LODE_N_SEQUENCE_KINDS] = {"opcodes", "attributes"};

LodeSignature *lode_signature_new(const char *name, const char *attributes)
{
	LodeSignature *self = g_new0(LodeSignature, 1);

	self->strings = g_string_chunk_new(4096);
	self->name = g_string_chunk_insert(self->strings, name);
	self->attributes = g_string_chunk_insert(self->strings, attributes);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
			self->sequences[kind][i] = g_array_new(
				FALSE, FALSE, sizeof(LodeSignatureSequence));
	self->files = g_array_new(FALSE, FALSE, sizeof(LodeSignatureFile));
	return self;
}

void lode_signature_free(LodeSignature *self)
{
	if (self == NULL)
		return;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
			g_array_unref(self->sequences[kind][i]);
	g_array_unref(self->files);
	g_string_chunk_free(self->strings);
	g_free(self);
}

double lode_signature_round(double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	return g_ascii_strtod(g_ascii_formatd(text, sizeof(text), "%.6g", value), NULL);
}

void lode_signature_add(LodeSignature *self, LodeSequenceKind kind, unsigned length,
	const char *text, double support, double deviation)
{
	LodeSignatureSequence one = {
		.text = g_string_chunk_insert(self->strings, text),
		.support = lode_signature_round(support),
		.deviation = lode_signature_round(deviation),
	};

	g_array_append_val(self->sequences[kind][length - 1], one);
}

void lode_signature_add_file(LodeSignature *self, const char *text, double share)
{
	LodeSignatureFile one = {
		.text = g_string_chunk_insert(self->strings, text),
		.share = lode_signature_round(share),
	};

	g_array_append_val(self->files, one);
}

/* In a file, blanks separate elements and plus signs attributes. */
void lode_signature_append_escaped(GString *text, const char *name)
{
	for (const uint8_t *at = (const uint8_t *)name; *at != '\0'; at++)
		if (*at <= ' ' || *at == '+' || *at == '%' || *at >= 0x7f)
			g_string_append_printf(text, "%%%02X", *at);
		else
			g_string_append_c(text, (char)*at);
}

char *lode_signature_file_text(const char *path, const char *build_id)
{
	g_autofree char *name = g_path_get_basename(path);
	GString *text = g_string_new(build_id != NULL ? build_id : "-");

	g_string_append_c(text, ' ');
	lode_signature_append_escaped(text, name);
	return g_string_free(text, FALSE);
}

int lode_signature_file_compare(const void *a, const void *b)
{
	const LodeSignatureFile *left = a, *right = b;

	return LODE_FIRST_DIFFERENCE(LODE_DESCENDING(share), strcmp(left->text, right->text));
}

int lode_signature_sequence_compare(const void *a, const void *b)
{
	const LodeSignatureSequence *left = a, *right = b;

	return LODE_FIRST_DIFFERENCE(LODE_DESCENDING(support), strcmp(left->text, right->text));
}

const char *lode_sequence_kind_to_text(LodeSequenceKind kind)
{
	return kind_words[kind];
}

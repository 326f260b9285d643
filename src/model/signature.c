/* SPDX-License-Identifier: MIT */
#include "model/signature.h"

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
	return self;
}

void lode_signature_free(LodeSignature *self)
{
	if (self == NULL)
		return;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
			g_array_unref(self->sequences[kind][i]);
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

int lode_signature_sequence_compare(const void *a, const void *b)
{
	const LodeSignatureSequence *left = a, *right = b;

	if (left->support != right->support)
		return left->support > right->support ? -1 : 1;
	return strcmp(left->text, right->text);
}

void lode_signature_sort(LodeSignature *self)
{
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
			g_array_sort(self->sequences[kind][i], lode_signature_sequence_compare);
}

const char *lode_sequence_kind_to_text(LodeSequenceKind kind)
{
	return kind_words[kind];
}

int lode_sequence_kind_from_text(const char *text)
{
	for (int i = 0; i < LODE_N_SEQUENCE_KINDS; i++)
		if (strcmp(kind_words[i], text) == 0)
			return i;
	return -1;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a signature; what is read is in bounds, and is read again from what is written of
 * it. */
#include "fuzz_target.h"
#include "model/index.h"
#include "sources/signature_file.h"

#include <math.h>

static void check(const LodeSignature *signature)
{
	if (signature->n_profiles == 0 || !(signature->min_support > 0) ||
		!isfinite(signature->executions))
		g_error("a head out of bounds");
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++) {
			const GArray *sequences = signature->sequences[kind][i];
			for (guint s = 0; s < sequences->len; s++) {
				const LodeSignatureSequence *one = &LODE_AT(
					sequences, LodeSignatureSequence, s);
				if (!(one->support > 0 && one->support <= 1) ||
					!(one->deviation >= 0 && one->deviation <= 1))
					g_error("a sequence out of bounds");
			}
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeSignature)
		signature = lode_signature_file_read(fuzz_file(data, size), &error);

	if ((signature == NULL) != (error != NULL))
		g_error("a result and an error");
	if (signature == NULL)
		return 0;
	check(signature);
	g_autoptr(GString) text = g_string_new(NULL), again = g_string_new(NULL);
	lode_signature_file_append(signature, text);
	g_autoptr(LodeSignature) second = lode_signature_file_read(
		fuzz_file((const uint8_t *)text->str, text->len), &error);
	if (second == NULL)
		g_error("what was written is not read: %s", error->message);
	lode_signature_file_append(second, again);
	if (!g_string_equal(text, again))
		g_error("what was written reads as something else");
	return 0;
}

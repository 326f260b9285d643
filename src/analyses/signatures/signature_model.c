/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/signature_model.h"

#include "base/error.h"
#include "model/index.h"

/* The support of a symbol that the signature lacks. */
static const double unheard = 1e-9;

bool lode_signature_model_init(LodeSignatureModel *self, const LodeSignature *signature,
	LodeSymbols *symbols, GError **error)
{
	*self = (LodeSignatureModel){.signature = signature};
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++) {
			const GArray *sequences = signature->sequences[kind][length];
			for (guint i = 0; i < sequences->len; i++) {
				const LodeSignatureSequence *one = &LODE_AT(
					sequences, LodeSignatureSequence, i);
				uint64_t key = lode_symbols_key(symbols, one->text);
				if (key == 0) {
					g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
						"the signatures have more than 65,535 different "
						"elements of sequences");
					return false;
				}
				*lode_sequence_table_at(&self->supports[kind], key) = one->support;
				*lode_sequence_table_at(
					&self->deviations[kind], key) = one->deviation;
				self->listed[kind][length] += one->support;
			}
		}
	return true;
}

void lode_signature_model_clear(LodeSignatureModel *self)
{
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		lode_sequence_table_clear(&self->supports[kind]);
		lode_sequence_table_clear(&self->deviations[kind]);
	}
}

double lode_signature_model_support(
	const LodeSignatureModel *self, LodeSequenceKind kind, uint64_t key)
{
	double listed = lode_sequence_table_get(&self->supports[kind], key, -1);
	unsigned length = lode_sequence_length(key);

	if (listed >= 0)
		return listed;
	if (length == 1)
		return MIN(unheard, self->signature->min_support);
	uint64_t front = key & ~(UINT64_C(0xffff) << 16 * (length - 1)), back = key >> 16;
	double estimate = lode_signature_model_support(self, kind, front) *
	                  lode_signature_model_support(self, kind, back);
	if (length > 2) {
		double middle = lode_signature_model_support(self, kind, front >> 16);
		estimate = middle > 0 ? estimate / middle : 0;
	}
	return MIN(estimate, self->signature->min_support);
}

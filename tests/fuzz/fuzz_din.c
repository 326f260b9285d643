/* SPDX-License-Identifier: MIT */
/* Any bytes as one of the text forms of Dinero. */
#include "reference_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_extended = size > 0 && g_ascii_isalpha(data[0]);

	fuzz_round_trip(
		data, size, is_extended ? LODE_REFERENCE_FORM_XDIN : LODE_REFERENCE_FORM_DIN);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as references in comma-separated values. */
#include "reference_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_round_trip(data, size, LODE_REFERENCE_FORM_CSV);
	return 0;
}

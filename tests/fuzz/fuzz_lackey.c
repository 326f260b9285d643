/* SPDX-License-Identifier: MIT */
/* Any bytes as lackey's text, compressed or not, and as a trace whose form is not told. */
#include "reference_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_round_trip(data, size, LODE_REFERENCE_FORM_LACKEY);
	g_array_unref(fuzz_read_references(data, size, -1));
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "traces/reference.h"

const char *const lode_reference_kind_names[LODE_N_REFERENCE_KINDS] = {
	[LODE_REFERENCE_FETCH] = "fetch",
	[LODE_REFERENCE_LOAD] = "load",
	[LODE_REFERENCE_STORE] = "store",
	[LODE_REFERENCE_MODIFY] = "modify",
};

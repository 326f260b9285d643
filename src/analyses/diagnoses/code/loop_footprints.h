/* SPDX-License-Identifier: MIT */
/*
 * How much memory loops go over, by the sampled addresses. Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"

/*
 * Takes LODE_CODE_LIMIT_READING and LODE_CODE_LIMIT_WRITING from the instructions of loops whose
 * sampled loads and stores, forty or more, lie in less than 2 MiB, counted in blocks of 64 KiB; or
 * of all loops, where those of all together do: a second-level cache holds that, however many bytes
 * a loop moves in a nanosecond.
 */
void lode_loop_footprints_apply(LodeCostedCode *self);

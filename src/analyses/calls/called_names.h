/* SPDX-License-Identifier: MIT */
/*
 * Names of functions of stripped libraries: glibc has a variant of strlen for each processor, which
 * only its debug information names. The stub of its caller says by which name it is called:
 *
 *   often ── call strlen@plt ─▶ fn_167ac0       "strlen"
 *
 * Private to analyses/calls/.
 */
#pragma once

#include "analyses/calls/function_costs.h"

/* Sets `called` of functions that have no name: by the instructions that called them on stacks, or
 * by counted calls. */
void lode_called_names_find(LodeFunctionCosts *self);

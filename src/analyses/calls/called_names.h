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

/* The stub that the code around one of the profile's stacks called, "strlen@plt", or what else its
 * instruction calls; NULL: not known. Only with stacks. */
const char *lode_called_names_stub(const LodeFunctionCosts *self, uint32_t stack);

/* Sets `called` of functions that have no name: by the instructions that called them on stacks, or
 * by counted calls. */
void lode_called_names_find(LodeFunctionCosts *self);

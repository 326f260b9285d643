/* SPDX-License-Identifier: MIT */
/*
 * The shares of the signatures beside the places, and their errors (docs/use/classify.md §4).
 * Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/classifying.h"

/* Sets the shares of all matches [signatures], and those of the rest, the distance and the limit of
 * the result. Signatures whose shares are doubtful are left out one after the other. */
void lode_mixture_shares_find(LodeClassifying *self, LodeSignatureMatch *matches);

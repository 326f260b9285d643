/* SPDX-License-Identifier: MIT */
/* Numbers of a placement file, which may be arithmetic: ( $MP_SET_NUMTHREADS + 1 ) / 2 */
#pragma once

#include "sources/placement_tokens.h"

/*
 * The value of the expression that starts at the token we are at; goes to the token after it.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/" | "%") factor }
 *   factor  = NUMBER | $VARIABLE | "(" sum ")" | ("+" | "-") factor
 *
 * Whole numbers; a division drops its remainder. Variables are of the environment. `what` names the
 * number in messages. Errors name file, line and column: _CORRUPT for a value outside min … max.
 */
bool lode_placement_number_parse(LodePlacementTokens *tokens, const char *what, uint64_t min,
	uint64_t max, uint64_t *out_value, GError **error);

/* Likewise for a step: any number but 0, of at most 2^31. */
bool lode_placement_number_parse_step(
	LodePlacementTokens *tokens, int64_t *out_value, GError **error);

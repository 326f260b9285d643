/* SPDX-License-Identifier: MIT */
/* What the attributes of an instruction say of its data addresses (docs/attributes.md), in words.
 */
#pragma once

#include "base/text/json_stream.h"
#include "model/profile.h"

/* Appends those of an instruction, with ", " before each but the first of the text: "early
 * address". What windows say besides is with their facts. */
void lode_address_words_append(const LodeProfile *profile, uint32_t instruction, GString *out);

/* Writes the member "address_facts" of an open object: the attributes themselves. */
void lode_address_words_json(
	const LodeProfile *profile, uint32_t instruction, LodeJsonStream *json);

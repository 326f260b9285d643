/* SPDX-License-Identifier: MIT */
#include "model/address_rule.h"

#include "base/text/words.h"

static const char *const rules[LODE_N_RULES] = {
	[LODE_RULE_NONE] = "none",
	[LODE_RULE_HARDWARE] = "hardware",
	[LODE_RULE_AT_PC] = "at-pc",
	[LODE_RULE_FORWARD] = "forward",
	[LODE_RULE_BACKWARD] = "backward",
	[LODE_RULE_RECOMPUTED] = "recomputed",
	[LODE_RULE_NEXT_ROUND] = "next-round",
	[LODE_RULE_TRACED] = "traced",
	[LODE_RULE_WINDOW] = "window",
};

static const char *const reasons[LODE_N_REASONS] = {
	[LODE_REASON_NONE] = "none",
	[LODE_REASON_NO_REGISTERS] = "no-registers",
	[LODE_REASON_NOT_USER_CODE] = "not-user-code",
	[LODE_REASON_NO_DECODE] = "no-decode",
	[LODE_REASON_BLOCKED] = "blocked",
	[LODE_REASON_BRANCH_TARGET] = "branch-target",
	[LODE_REASON_CLOBBERED] = "clobbered",
	[LODE_REASON_TLS] = "tls",
	[LODE_REASON_VECTOR_INDEX] = "vector-index",
	[LODE_REASON_NO_ACCESS_IN_RANGE] = "no-access-in-range",
	[LODE_REASON_INVALID_ADDRESS] = "invalid-address",
	[LODE_REASON_RECORDER] = "recorder",
	[LODE_REASON_NOT_MEMORY] = "not-memory",
	[LODE_REASON_AMBIGUOUS] = "ambiguous",
	[LODE_REASON_NOT_YET_READ] = "not-yet-read",
};

const char *lode_address_rule_to_text(LodeAddressRule value)
{
	return rules[value];
}

int lode_address_rule_from_text(const char *text)
{
	return lode_word_find(rules, LODE_N_RULES, text);
}

const char *lode_address_reason_to_text(LodeAddressReason value)
{
	return reasons[value];
}

int lode_address_reason_from_text(const char *text)
{
	return lode_word_find(reasons, LODE_N_REASONS, text);
}

/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the records of a running program. Whatever comes in, each sample has an address or a
 * reason, and is of a thread that there is. The corpus names /bin/true, so that real code is looked
 * at.
 */
#include "fuzz_target.h"
#include "ingest/live/live_addresses.h"
#include "model/address_rule.h"

#include <stdlib.h>

static LodeLiveAddresses *addresses;

static void take(const LodeLiveSample *sample, void *user_data)
{
	bool has_address = sample->rule != LODE_RULE_NONE;

	(void)user_data;
	/* Not g_error(): libFuzzer does not catch its SIGTRAP and would not keep the input. */
	if (has_address != (sample->reason == LODE_REASON_NONE) ||
		sample->thread >= lode_live_addresses_threads(addresses)->len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const LodeLiveAddressesOptions options = {.take = take};
	static const uint64_t ids[] = {1};
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_DATA_SRC,
		.sample_regs_user = 0xff0fff,
		.sample_id_all = 1,
	};
	const LodePerfObservedEvent event = {
		.name = "cpu-clock:u",
		.attr = &attr,
		.ids = ids,
		.n_ids = G_N_ELEMENTS(ids),
	};

	addresses = lode_live_addresses_new(&options);
	lode_live_addresses_add_event(addresses, &event);
	lode_live_addresses_add(addresses, data, size);
	lode_live_addresses_free(addresses);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file, whose code and data are searched for what is jumped to. */
#include "fuzz_target.h"
#include "images/targets/branch_targets.h"

static void check_order(const LodeBranchTargets *targets)
{
	for (guint i = 1; i < targets->targets->len; i++) {
		const LodeBranchTarget *b = &g_array_index(targets->targets, LodeBranchTarget, i);
		const LodeBranchTarget *a = b - 1;

		if (a->target > b->target || (a->target == b->target && a->source >= b->source))
			g_error("targets out of order");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_auto(LodeBranchTargets) targets = {0};
	g_autoptr(GError) error = NULL;

	lode_branch_targets_init(&targets);
	if (!lode_branch_targets_read(&targets, fuzz_file(data, size), &error)) {
		if (error == NULL || targets.targets->len > 0 || targets.has_tables)
			g_error("a failure that is none");
		return 0;
	}
	check_order(&targets);
	/* each comes from an instruction's byte, or from four bytes of data */
	if (targets.targets->len > size + size / 4)
		g_error("more targets than the file has room for");
	return 0;
}

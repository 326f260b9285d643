/* SPDX-License-Identifier: MIT */
#include "views/kernel_share.h"

#include "base/number_format.h"

double lode_kernel_share(const LodeProfile *profile)
{
	double total = profile->user_seconds + profile->system_seconds;

	return total > 0 ? profile->system_seconds / total : -1;
}

char *lode_kernel_share_text(const LodeProfile *profile)
{
	double share = lode_kernel_share(profile);
	double total = profile->user_seconds + profile->system_seconds;
	char text[LODE_NUMBER_SIZE];

	if (share < 0)
		return NULL;
	return g_strdup_printf("%s of %.*f s of processor time were in the kernel, which was %s.",
		lode_number_format_share(share, text), total < 100 ? 2 : 0, total,
		profile->is_kernel_sampled ? "sampled too"
					   : "not sampled; --kernel samples it too");
}

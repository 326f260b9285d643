/* SPDX-License-Identifier: MIT */
#include "views/profile/kernel_share.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"

enum { N_NAMED = 3 }; /* functions of the kernel */

double lode_kernel_share(const LodeProfile *profile)
{
	double total = profile->run.user_seconds + profile->run.system_seconds;

	return total > 0 ? profile->run.system_seconds / total : -1;
}

static double weight_of(const LodeProfile *profile, const LodeFunction *function)
{
	double weight = 0;

	for (uint32_t i = 0; i < function->n_instructions; i++)
		weight += lode_profile_event_value(
			profile, profile->code.weight_event, function->first_instruction + i);
	return weight;
}

typedef struct {
	const LodeFunction *function;
	double weight;
} Heavy;

/* The heaviest functions of the kernel, heaviest first; fewer where there are fewer. */
static size_t heaviest(const LodeProfile *profile, Heavy out_heavy[N_NAMED])
{
	size_t n = 0;

	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (lode_profile_image(profile, function->image)->kind != LODE_IMAGE_KERNEL)
			continue;
		const Heavy heavy = {function, weight_of(profile, function)};
		size_t at = n;
		for (; at > 0 && out_heavy[at - 1].weight < heavy.weight; at--)
			if (at < N_NAMED)
				out_heavy[at] = out_heavy[at - 1];
		if (at < N_NAMED)
			out_heavy[at] = heavy;
		n = MIN(n + 1, N_NAMED);
	}
	return n;
}

static void name_functions(const LodeProfile *profile, GString *text)
{
	double total = lode_profile_event_total(profile, profile->code.weight_event);
	Heavy heavy[N_NAMED];
	size_t n = heaviest(profile, heavy);

	/* By another event, such as page faults, they may have nothing. */
	for (size_t i = 0; i < n && heavy[i].weight > 0; i++)
		g_string_append_printf(text, "%s%s (%s)", i > 0 ? ", " : ": most in ",
			heavy[i].function->name,
			LODE_SHARE_TEXT(lode_share_of(heavy[i].weight, total)));
}

char *lode_kernel_share_text(const LodeProfile *profile)
{
	double share = lode_kernel_share(profile);
	double total = profile->run.user_seconds + profile->run.system_seconds;
	GString *text = g_string_new(NULL);

	if (share < 0)
		return g_string_free(text, TRUE);
	g_string_append_printf(text, "%s of %.*f s of processor time were in the kernel, %s",
		LODE_SHARE_TEXT(share),
		total < 0.1   ? 4
		: total < 100 ? 2
			      : 0,
		total,
		profile->run.is_kernel_sampled ? "sampled too"
					       : "not sampled; --kernel samples it too");
	if (profile->run.is_kernel_sampled)
		name_functions(profile, text);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

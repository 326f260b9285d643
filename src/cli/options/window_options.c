/* SPDX-License-Identifier: MIT */
#include "cli/options/window_options.h"

#include <string.h>

#define USUAL_SHARE 0.03
#define MOST 0.5

/* False: neither a share nor "off". */
static bool read_share(const char *text, double *out_share)
{
	*out_share = 0;
	return strcmp(text, "off") == 0 ||
	       (lode_share_from_text(text, out_share) && *out_share <= MOST);
}

bool lode_window_options_read(
	const char *text, pid_t pid, LodeWindowOptions *out_options, GError **error)
{
	const char *value = text != NULL ? text : "off";
	LodeWindowOptions options = {0};

	if (strcmp(value, "paths") == 0)
		options = (LodeWindowOptions){.share = USUAL_SHARE, .has_only_paths = true};
	else if (!read_share(value, &options.share))
		return lode_parameter_refuse(error,
			"--windows: '%s' is not a share from 0 to 50%%, such as 3%% or 0.03, nor "
			"off or paths",
			value);
	if (options.share > 0 && pid != 0)
		return lode_parameter_refuse(error,
			"--windows cannot be used with --pid: the library that executes windows "
			"is loaded when a program starts");
	*out_options = options;
	return true;
}

bool lode_probe_options_read(
	const char *text, const char *standard, LodeProbeOptions *out_options, GError **error)
{
	const char *value = text != NULL ? text : standard;
	LodeProbeOptions options = {0};

	if (!read_share(value, &options.share))
		return lode_parameter_refuse(error,
			"--probes: '%s' is not a share from 0 to 50%%, such as 1%% or 0.01, nor "
			"off",
			value);
	*out_options = options;
	return true;
}

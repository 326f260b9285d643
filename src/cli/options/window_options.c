/* SPDX-License-Identifier: MIT */
#include "cli/options/window_options.h"

#include <string.h>

#define USUAL_SHARE 0.03
#define MOST 0.5

bool lode_window_options_read(const char *text, const char *standard, pid_t pid,
	LodeWindowOptions *out_options, GError **error)
{
	const char *value = text != NULL ? text : pid != 0 ? "off" : standard;
	LodeWindowOptions options = {0};

	if (strcmp(value, "paths") == 0)
		options = (LodeWindowOptions){.share = USUAL_SHARE, .has_only_paths = true};
	else if (strcmp(value, "off") != 0 &&
		 (!lode_share_from_text(value, &options.share) || options.share > MOST))
		return lode_parameter_refuse(error,
			"--windows: '%s' is not a share from 0 to 50%%, such as 3%% or 0.03, nor "
			"off or paths",
			value);
	if (options.share > 0 && pid != 0)
		return lode_parameter_refuse(error,
			"--windows cannot be used with --pid: the library that executes windows "
			"is loaded when a program starts");
	options.is_standard = text == NULL;
	*out_options = options;
	return true;
}

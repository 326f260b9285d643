/* SPDX-License-Identifier: MIT */
/*
 * A profile as one HTML file: the page of lode serve with the answers that it would get, as far as
 * they fit, inside. It opens from disk, and needs no server and no network.
 */
#pragma once

#include "base/progress.h"
#include "store/profile_store.h"

#include <stdio.h>

/*
 * Writes the profile at `path` to `out`; `run` NULL: the run made last. What did not fit is said in
 * the file. Errors: _UNSUPPORTED (lode was built without the page), those of reading, _IO.
 */
bool lode_html_report_write(
	const char *path, const char *run, const LodeProgress *progress, FILE *out, GError **error);

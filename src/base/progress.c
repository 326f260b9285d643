/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <gio/gio.h>

bool lode_progress_is_cancelled(const LodeProgress *progress)
{
	return progress != NULL && progress->cancellable != NULL &&
	       g_cancellable_is_cancelled(progress->cancellable);
}

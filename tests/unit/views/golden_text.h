/* SPDX-License-Identifier: MIT */
/* What a view writes, against a file of tests/unit/views/golden. */
#pragma once

/* Fails the test unless `text` is that of the golden file; with LODE_UPDATE_GOLDEN set in the
 * environment the file is written instead. */
void golden_assert(const char *name, const char *text);

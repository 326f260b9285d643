/* SPDX-License-Identifier: MIT */
/* Text on a terminal, shown page by page by the user's pager. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Shows text by the command of $LODE_PAGER, else of $PAGER, else by less where it is installed, and
 * waits for its end. As git does, it takes an empty command or "cat" for none, and gives less
 * LESS=FRX unless LESS is set, so that it ends by itself where the text fits the screen. False:
 * nothing was shown, and the caller prints.
 */
bool lode_pager_show(const char *text, size_t size);

/* SPDX-License-Identifier: MIT */
/* Which characters may reach a terminal. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether a terminal shows the character, and nothing else happens: no control code, no mark of
 * text direction, no break of lines or paragraphs, which GLib takes for printable. */
static inline bool lode_is_printable(gunichar character)
{
	return g_unichar_isprint(character) && character != 0x2028 && character != 0x2029;
}

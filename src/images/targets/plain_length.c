/* SPDX-License-Identifier: MIT */
/*
 * The maps of opcodes (AMD64 Architecture Programmer's Manual, volume 3, appendix A), with a letter
 * for the form of each:
 *
 *   1 nothing after the opcode    M ModRM                       t T ModRM, and an immediate of
 *   b an immediate of 1 byte      m ModRM, immediate of 1           1, 4 for /0 and /1
 *   d of 4                        W ModRM, of 4                 i j the same for /0; others are not
 *   v of 4, of 8 with REX.W       L ModRM: lea                      plain
 *   . not plain                   e ModRM: inc, dec             f e, call of a register or memory,
 * push
 *
 * Forms with 4 bytes have 2 after the prefix 66; these are not plain.
 */
#include "images/targets/plain_length.h"

#include <stdbool.h>

static const char one_byte_map[] = "MMMMbd..MMMMbd.."
				   "MMMMbd..MMMMbd.."
				   "MMMMbd..MMMMbd.."
				   "MMMMbd..MMMMbd.."
				   "................"
				   "1111111111111111"
				   "...M....dWbm...."
				   "................"
				   "mW.mMMMMMMMM.L.."
				   "1111111111......"
				   "........bd......"
				   "bbbbbbbbvvvvvvvv"
				   "mm.1..ij.1..1..."
				   "MMMM............"
				   "................"
				   "......tT......ef";

/* After 0F: with no prefix, 66, F2, F3. */
static const char two_byte_maps[4][257] = {"................"
					   "MM.............M"
					   "........MM....MM"
					   "................"
					   "MMMMMMMMMMMMMMMM"
					   ".MMMMMMMMMMMMMMM"
					   "................"
					   "................"
					   "................"
					   "MMMMMMMMMMMMMMMM"
					   "...MmM.....MmM.M"
					   "MM.M..MM...MMMMM"
					   "MM....m.11111111"
					   "................"
					   "................"
					   "................",
	"................"
	"MM.............M"
	"........MM....MM"
	"................"
	"MMMMMMMMMMMMMMMM"
	".M..MMMMMMMMMMMM"
	"MMMMMMMMMMMMMMMM"
	"m...MMM.......MM"
	"................"
	"................"
	"...............M"
	"......MM......MM"
	"......m........."
	"....M.M....M...M"
	"...........M...M"
	"........MMMMMMM.",
	"................"
	"MM.............."
	"..........M.MM.."
	"................"
	"................"
	".M......MMM.MMMM"
	"................"
	"m..............."
	"................"
	"................"
	"................"
	"................"
	"................"
	"................"
	"................"
	"................",
	"................"
	"MM.............."
	"..........M.MM.."
	"................"
	"................"
	".M......MMMMMMMM"
	"...............M"
	"m.............MM"
	"................"
	"................"
	"................"
	"........M...MM.."
	"................"
	"................"
	"................"
	"................"};

/* ModRM, SIB and displacement. */
static unsigned memory_length(const uint8_t *modrm)
{
	const unsigned mode = *modrm >> 6, rm = *modrm & 7;
	const bool has_sib = mode != 3 && rm == 4;
	const unsigned base = has_sib ? modrm[1] & 7 : rm;
	const unsigned displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;

	return 1 + has_sib + displacement;
}

/* The bytes after the opcode; −1: not plain. */
static int length_of_form(char form, const uint8_t *modrm, bool is_wide)
{
	const unsigned mode = *modrm >> 6, group = *modrm >> 3 & 7;
	const int memory = (int)memory_length(modrm);

	switch (form) {
	case '1':
		return 0;
	case 'b':
		return 1;
	case 'd':
		return 4;
	case 'v':
		return is_wide ? 8 : 4;
	case 'M':
		return memory;
	case 'm':
		return memory + 1;
	case 'W':
		return memory + 4;
	case 'L':
		return mode == 3 || (mode == 0 && (*modrm & 7) == 5) ? -1 : memory;
	case 't':
	case 'T':
		return memory + (group > 1 ? 0 : form == 't' ? 1 : 4);
	case 'i':
	case 'j':
		return group != 0 ? -1 : memory + (form == 'i' ? 1 : 4);
	case 'e':
		return group > 1 ? -1 : memory;
	case 'f':
		return group <= 2 || group == 6 ? memory : -1;
	default:
		return -1;
	}
}

static bool has_four_bytes(char form)
{
	return form == 'd' || form == 'v' || form == 'W' || form == 'T' || form == 'j';
}

unsigned lode_plain_length(const uint8_t *code)
{
	const uint8_t *at = code;
	const unsigned prefix = *at == 0x66 ? 1 : *at == 0xf2 ? 2 : *at == 0xf3 ? 3 : 0;
	bool is_wide = false;
	char form;

	at += prefix != 0;
	if ((*at & 0xf0) == 0x40)
		is_wide = (*at++ & 8) != 0;
	if (*at == 0x0f)
		form = two_byte_maps[prefix][*++at];
	else
		form = prefix > 1 ? '.' : one_byte_map[*at];
	at++;
	if (form == '.' || (prefix != 0 && has_four_bytes(form)))
		return 0;
	const int rest = length_of_form(form, at, is_wide);
	return rest < 0 ? 0 : (unsigned)(at - code) + (unsigned)rest;
}

/* SPDX-License-Identifier: MIT */
/* Which processor this machine has, from /proc/cpuinfo. The caller frees the texts. */
#pragma once

#include <stdbool.h>

/* As perf writes it: "GenuineIntel,6,143,8", vendor, family, model and stepping of CPUID; NULL:
 * unknown. Tests put another one into LODE_PROCESSOR, whose figures are taken then. */
char *lode_processor_id(void);
bool lode_processor_is_given(void); /* there */

/* Its maker's name for it, likewise. */
char *lode_processor_name(void);

/* The value after "model name\t: " in the text of /proc/cpuinfo or the like; NULL: none. */
char *lode_proc_value(const char *text, const char *key);

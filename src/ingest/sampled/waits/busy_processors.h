/* SPDX-License-Identifier: MIT */
/*
 * How many processors a program could use, and who had them while its threads waited for one. It
 * is known by the program's own threads:
 *
 *   a  ━━━━━━━━╌╌╌╌╌╌━━━━     ━ runs   ╌ waits for a processor
 *   b  ━━━━━━━━━━━━━━━━━━
 *   c  ╌╌╌╌╌╌╌╌━━╌╌━━━━━╌
 *      two run    ╰╯ one runs: another program has the other processor
 *
 * Private to ingest/sampled/.
 */
#pragma once

#include "ingest/sampled/waits/sampled_waits.h"

/* Those of the machine; where threads waited for one, as many as ran at once for a part of the time
 * that there were any. At least 1. */
uint32_t lode_busy_processors_count(const LodeWaitTimes *times, uint32_t recording);

/* Divides the rows of waits for a processor: the part in which fewer of the program's threads ran
 * than could is added as rows whose object is LODE_WAIT_OTHERS. The numbers of rows stay. */
void lode_busy_processors_split(LodeProfile *profile, LodeWaits *waits, const LodeWaitTimes *times,
	const LodeThreads *threads);

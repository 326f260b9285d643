/* SPDX-License-Identifier: MIT */
/* A run's parameters as they would be typed after lode mine. */
#pragma once

typedef struct LodeMiningParameters LodeMiningParameters;

/* "--min-support 0.5% --gap 1": what differs from the defaults; empty when nothing does. The caller
 * frees it. */
char *lode_run_options(const LodeMiningParameters *parameters);

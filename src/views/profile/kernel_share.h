/* SPDX-License-Identifier: MIT */
/* The share of a recorded program's processor time that was in the kernel. */
#pragma once

typedef struct LodeProfile LodeProfile;

/* 0 … 1; −1: it was not measured. */
double lode_kernel_share(const LodeProfile *profile);

/*
 * A sentence on that share, and whether the profile has it: "61.2 % of 2.31 s of processor time
 * were in the kernel, not sampled; --kernel samples it too." Where it was sampled, the
 * heaviest of its functions are named, with their shares of the weight. NULL: it was not measured.
 * The caller frees it.
 */
char *lode_kernel_share_text(const LodeProfile *profile);

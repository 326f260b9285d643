/* SPDX-License-Identifier: MIT */
/* What the program finds mapped at its start, and what it maps by system calls, told to lode. */
#pragma once

#include "recorder.h"

/* Before the program's first instruction; `base` is where QEMU has put its address 0. */
void guest_mappings_start(Recorder *recorder, uint64_t base);

/* Before and after a system call of the calling thread, whose arguments are in `recorder`. */
void guest_mappings_before_call(Recorder *recorder, int64_t number);
void guest_mappings_after_call(Recorder *recorder, int64_t number, int64_t result);

/* SPDX-License-Identifier: MIT */
/* Private to images/: where the indirect jumps of an ELF file may go. */
#pragma once

#include "images/branch_targets.h"
#include "images/elf_file.h"

/* Appends to self->targets, with source 0, what data points to in code; self->named is sorted. At
 * most a target for each four bytes of the file. */
void lode_jump_tables_add(LodeBranchTargets *self, const LodeElfFile *file);

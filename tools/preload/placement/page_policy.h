/* SPDX-License-Identifier: MIT */
/* The policy of pages, given as soon as they are mapped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the policy of all that is mapped already, objects included. */
void page_policy_begin(void);

/* Memory of any size that an allocator gave out: part of what is mapped, perhaps long since. */
void page_policy_note_block(const void *block, size_t size);

/* Memory that was mapped just now. */
void page_policy_note_mapped(const void *place, size_t size);

/* SPDX-License-Identifier: MIT */
/* Private to images/: a type of the debug information as C or C++ writes it. */
#pragma once

#include "images/type_table.h"

/* "struct node *", "int [4]", "const char *", "int (*)(void *)", "ns::list<int>"; `die` NULL:
 * "void". Free with g_free(). Never NULL, valid UTF-8, bounded. */
char *lode_type_text(LodeTypeTable *types, Dwarf_Die *die);

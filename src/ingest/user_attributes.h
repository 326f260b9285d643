/* SPDX-License-Identifier: MIT */
/* Gives instructions the attributes that a user's files say; see sources/attribute_file.h. */
#pragma once

#include "base/progress.h"

typedef struct LodeAttributeFile LodeAttributeFile;
typedef struct LodeProfile LodeProfile;

/* Rows that are about no executed instruction are counted as unresolved. */
void lode_user_attributes_apply(
	LodeProfile *profile, const LodeAttributeFile *file, const char *path);

/* SPDX-License-Identifier: MIT */
#include "base/error.h"

G_DEFINE_QUARK(lode - error - quark, lode_error)

/* SPDX-License-Identifier: MIT */
#include "base/error.h"

G_DEFINE_QUARK(lode_error, lode_error)

/* SPDX-License-Identifier: MIT */
/*
 * `lode annotate --format json`: nested by place. For the page of `lode serve` also the stretches
 * of source files that the shown code comes from. CSV: a row for each line of code, with its place.
 *
 * Private to views/.
 */
#pragma once

#include "views/code/annotation.h"

/* Write errors are left to the stream. */
void lode_annotation_write_json(LodeAnnotation *self, FILE *out);
void lode_annotation_write_csv(LodeAnnotation *self, FILE *out);

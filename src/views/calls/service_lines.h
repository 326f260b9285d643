/* SPDX-License-Identifier: MIT */
/* Services and who calls them, as text and JSON. Private to views/. */
#pragma once

#include "analyses/calls/services.h"
#include "base/text/json_stream.h"
#include "views/form/format.h"

typedef struct {
	const LodeFunctionCosts *costs;
	const LodeFamilies *families;
	const LodeServices *services;
	double total; /* of the event */
} LodeServiceLines;

/* "strlen", "allocator (family)". */
void lode_service_lines_name(const LodeServiceLines *self, const LodeService *service,
	const LodeTerminal *terminal, GString *out);

/* A table of those that have at least a hundredth, after a blank line; nothing without any. */
void lode_service_lines_write(
	const LodeServiceLines *self, const LodeTerminal *terminal, FILE *out);

/* The members "services_from" and "services" of an object. */
void lode_service_lines_json(const LodeServiceLines *self, LodeJsonStream *json);

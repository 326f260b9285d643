/* SPDX-License-Identifier: MIT */
#include "sources/references/reference_form.h"

static const LodeReferenceFormRow *const forms[LODE_N_REFERENCE_FORMS] = {
	[LODE_REFERENCE_FORM_LACKEY] = &lode_lackey_text,
	[LODE_REFERENCE_FORM_DIN] = &lode_din_text,
	[LODE_REFERENCE_FORM_XDIN] = &lode_xdin_text,
	[LODE_REFERENCE_FORM_CHAMPSIM] = &lode_champsim_records,
	[LODE_REFERENCE_FORM_CSV] = &lode_reference_csv,
};

const LodeReferenceFormRow *lode_reference_form_row(LodeReferenceForm form)
{
	return forms[form];
}

const char *lode_reference_form_to_text(LodeReferenceForm value)
{
	return forms[value]->name;
}

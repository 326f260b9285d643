/* SPDX-License-Identifier: MIT */
#include "record/notes.h"

static void send_note(
	const LodeNotes *self, LodeAdvice advice, const char *format, va_list arguments)
{
	g_autofree char *text = g_strdup_vprintf(format, arguments);

	if (self->take != NULL)
		self->take(text, advice, self->user_data);
}

void lode_notes_add(const LodeNotes *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_note(self, LODE_ADVICE_NONE, format, arguments);
	va_end(arguments);
}

void lode_notes_advise(const LodeNotes *self, LodeAdvice advice, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_note(self, advice, format, arguments);
	va_end(arguments);
}

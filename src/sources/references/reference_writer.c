/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "sources/references/reference_form.h"

#include <errno.h>

enum { BUFFER_SIZE = 1 << 17 };

LodeReferenceWriter *lode_reference_writer_new(LodeReferenceForm form, FILE *out)
{
	LodeReferenceWriter *self = g_new0(LodeReferenceWriter, 1);

	self->form = lode_reference_form_row(form);
	self->out = out;
	self->buffer = g_malloc(BUFFER_SIZE);
	return self;
}

void lode_reference_writer_set_instructions(
	LodeReferenceWriter *self, LodeReferenceInstructionFunc func, void *user_data)
{
	self->find_details = func;
	self->details_data = user_data;
}

void lode_reference_writer_free(LodeReferenceWriter *self)
{
	if (self == NULL)
		return;
	g_free(self->buffer);
	g_free(self);
}

static bool fail(GError **error)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_IO, "cannot write the trace: %s", g_strerror(errno));
	return false;
}

static bool flush(LodeReferenceWriter *self, GError **error)
{
	if (fwrite(self->buffer, 1, self->used, self->out) != self->used)
		return fail(error);
	self->used = 0;
	return true;
}

char *lode_reference_writer_room(LodeReferenceWriter *self, GError **error)
{
	if (BUFFER_SIZE - self->used < LODE_REFERENCE_MAX_LINE && !flush(self, error))
		return NULL;
	return self->buffer + self->used;
}

bool lode_reference_writer_add(
	LodeReferenceWriter *self, const LodeReference *references, size_t n, GError **error)
{
	for (size_t i = 0; i < n; i++) {
		self->n_modifies += references[i].kind == LODE_REFERENCE_MODIFY;
		self->n_of_other_threads += references[i].thread != 0;
		if (!self->form->write(self, &references[i], error))
			return false;
	}
	return true;
}

bool lode_reference_writer_finish(LodeReferenceWriter *self, GError **error)
{
	if (self->form->finish != NULL && !self->form->finish(self, error))
		return false;
	if (!flush(self, error))
		return false;
	return fflush(self->out) == 0 || fail(error);
}

static void add_loss(GString *text, const char *loss)
{
	if (text->len > 0)
		g_string_append(text, ", ");
	g_string_append(text, loss);
}

static void add_count(GString *text, uint64_t n, const char *loss)
{
	g_autofree char *counted = g_strdup_printf("%s (%" G_GUINT64_FORMAT ")", loss, n);

	if (n > 0)
		add_loss(text, counted);
}

char *lode_reference_writer_losses(const LodeReferenceWriter *self)
{
	GString *text = g_string_new(NULL);

	if (self->form->lacks_sizes)
		add_loss(text, "sizes are left out");
	if (self->form->lacks_threads && self->n_of_other_threads > 0)
		add_loss(text, "threads are left out");
	if (self->form->splits_modifies)
		add_count(text, self->n_modifies, "modifies became a load and a store each");
	add_count(text, self->n_repeated,
		"records repeat an instruction whose accesses one record cannot hold");
	add_count(text, self->n_unknown,
		"instructions without branches and registers, as no file of their code is known");
	return g_string_free(text, text->len == 0);
}

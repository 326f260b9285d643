/* SPDX-License-Identifier: MIT */
/* Chooses the kind of image by the file, and asks it. */
#include "images/elf/binary_image.h"

#include "base/arrays/partition_point.h"
#include "base/files/regular_file.h"
#include "images/elf/image_variant.h"

#include <unistd.h>

/* A perf map has no mark of its own, so that it is tried last. */
static const LodeImageVariant *const variants[] = {
	&lode_image_elf,
	&lode_image_jitdump,
	&lode_image_perf_map,
};

static const LodeImageVariant *variant_of(const char *path)
{
	int descriptor = lode_regular_file_open(path, 0, NULL);
	bool is_open = descriptor >= 0;
	char head[16];
	ssize_t n_read = is_open ? read(descriptor, head, sizeof(head)) : 0;
	size_t n = (size_t)MAX(n_read, 0);

	if (is_open)
		close(descriptor);
	for (size_t i = 0; is_open && i < G_N_ELEMENTS(variants); i++)
		if (variants[i]->is_file(path, head, n))
			return variants[i];
	/* its open() reports the fault: the file is of a different kind, or does not exist */
	return variants[0];
}

LodeBinaryImage *lode_binary_image_open(
	const char *path, const LodeBinaryImageOptions *options, GError **error)
{
	const LodeImageVariant *variant = variant_of(path);
	LodeBinaryImage *self = variant->open(path, options, error);

	if (self != NULL)
		self->variant = variant;
	return self;
}

void lode_binary_image_close(LodeBinaryImage *self)
{
	if (self == NULL)
		return;
	self->variant->close(self);
	g_array_unref(self->functions);
	g_free(self->warning);
	g_free(self);
}

const char *lode_binary_image_build_id(const LodeBinaryImage *self)
{
	return self->build_id;
}

const char *lode_binary_image_warning(const LodeBinaryImage *self)
{
	return self->warning;
}

const char *lode_binary_image_undecoded(const LodeBinaryImage *self)
{
	return self->undecoded;
}

bool lode_binary_image_is_go(const LodeBinaryImage *self)
{
	return self != NULL && self->is_go;
}

bool lode_binary_image_has_lines(const LodeBinaryImage *self)
{
	return self->variant->has_lines(self);
}

const LodeBinaryFunction *lode_binary_image_functions(const LodeBinaryImage *self, size_t *out_n)
{
	*out_n = self->functions->len;
	return (const LodeBinaryFunction *)(const void *)self->functions->data;
}

const LodeBinaryFunction *lode_binary_image_find(const LodeBinaryImage *self, uint64_t address)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(self, &n);
	size_t low = LODE_PARTITION_POINT(n, i, functions[i].address <= address);

	if (low == 0 || address - functions[low - 1].address >= functions[low - 1].size)
		return NULL;
	return &functions[low - 1];
}

const uint8_t *lode_binary_image_bytes(const LodeBinaryImage *self, uint64_t address, size_t *out_n)
{
	return self->variant->bytes(self, address, out_n);
}

void lode_binary_image_locate(LodeBinaryImage *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations)
{
	self->variant->locate(self, addresses, n, out_locations, NULL);
}

void lode_binary_image_locate_calls(LodeBinaryImage *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *out_calls)
{
	self->variant->locate(self, addresses, n, out_locations, out_calls);
}

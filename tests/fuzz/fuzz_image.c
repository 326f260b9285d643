/* SPDX-License-Identifier: MIT */
/*
 * Feeds a hostile ELF file to everything that reads images: opening, functions, bytes, control
 * flow of the first functions, source lines. The file is a memfd, so that nothing touches a disk.
 */
#include "images/code/control_flow.h"
#include "images/elf/binary_image.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MAX_IMAGE_SIZE = 1 << 20,
	MAX_FUNCTIONS = 32,
	MAX_CODE = 4096,
	ADDRESSES_PER_FUNCTION = 8,
};

static bool write_all(int fd, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* Function bounds must be sorted, disjoint and inside the executable contents. */
static void check_functions(const LodeBinaryImage *image)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);

	for (size_t i = 0; i < n; i++) {
		size_t n_bytes = 0;
		const uint8_t *bytes = lode_binary_image_bytes(
			image, functions[i].address, &n_bytes);

		g_assert((bytes == NULL) == (lode_binary_image_undecoded(image) != NULL));
		g_assert(functions[i].size > 0 && (bytes == NULL || functions[i].size <= n_bytes));
		g_assert(i == 0 ||
			 functions[i - 1].address + functions[i - 1].size <= functions[i].address);
		g_assert(g_utf8_validate(functions[i].name, -1, NULL));
	}
}

/* Hints and leaders at arbitrary places of the function, taken from its own bytes. */
static void build_flow(LodeControlFlow *flow, const uint8_t *bytes, size_t size, uint64_t address)
{
	LodeFlowHint hint = {address + bytes[0] % size, address + bytes[size / 2] % size};
	uint64_t leader = address + bytes[size - 1] % size;
	uint64_t undecoded = 0;

	lode_control_flow_build(flow, bytes, size, address, NULL);
	undecoded = flow->undecoded_bytes;
	g_assert(undecoded <= size);
	lode_control_flow_build(flow, bytes, size, address, &(LodeSeenFlow){&hint, 1, &leader, 1});
	for (guint i = 0; i < flow->blocks->len; i++)
		g_assert(g_array_index(flow->blocks, LodeStaticBlock, i).n > 0);
}

static void walk_functions(LodeBinaryImage *image)
{
	uint64_t addresses[MAX_FUNCTIONS * ADDRESSES_PER_FUNCTION];
	LodeBinaryLocation locations[G_N_ELEMENTS(addresses)];
	g_autoptr(GArray) scopes = g_array_new(FALSE, FALSE, sizeof(LodeSourceScope));
	size_t n, n_addresses = 0;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		size_t n_bytes = 0, size = (size_t)MIN(functions[i].size, MAX_CODE);
		const uint8_t *bytes = lode_binary_image_bytes(
			image, functions[i].address, &n_bytes);

		if (bytes != NULL)
			build_flow(&flow, bytes, size, functions[i].address);
		for (size_t k = 0; k < ADDRESSES_PER_FUNCTION; k++)
			addresses[n_addresses++] = functions[i].address +
			                           k * size / ADDRESSES_PER_FUNCTION;
	}
	lode_binary_image_locate(image, addresses, n_addresses, locations);
	for (size_t i = 0; i < n_addresses; i++)
		g_assert(locations[i].file == NULL || g_utf8_validate(locations[i].file, -1, NULL));
	lode_binary_image_scopes(image, addresses, n_addresses, scopes);
	for (guint i = 0; i < scopes->len; i++) {
		const LodeSourceScope *scope = &g_array_index(scopes, LodeSourceScope, i);
		g_assert(scope->index < n_addresses && scope->first_line > 0);
		g_assert(strlen(scope->symbol) < MAX_IMAGE_SIZE);
		g_assert(i == 0 || scope[-1].index <= scope->index);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LodeBinaryImageOptions options = {.debug_directory = "/nonexistent"};
	g_autoptr(LodeBinaryImage) image = NULL;
	g_autofree char *path = NULL;
	int fd;

	if (size > MAX_IMAGE_SIZE)
		return 0;
	fd = memfd_create("image", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	path = g_strdup_printf("/proc/self/fd/%d", fd);
	if (write_all(fd, data, size))
		image = lode_binary_image_open(path, &options, NULL);
	if (image != NULL) {
		check_functions(image);
		walk_functions(image);
	}
	close(fd);
	return 0;
}

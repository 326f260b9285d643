/* SPDX-License-Identifier: MIT */
/*
 * A range is given its policy when it is mapped: at the start, when the program maps it, or when an
 * allocator gives out a part of it. Allocators map memory without anyone to see it, and most blocks
 * lie in what has its policy already, so that each piece keeps what is known to have it:
 *
 *   piece    │ has its policy      │ not mapped yet, or not seen      │
 *          start                 done                               end
 *
 * Pages that were touched before are moved.
 */
#include "page_policy.h"

#include "mapped_parts.h"
#include "orders.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

/* Blocks of this size have mappings of their own, which come and go without our knowing. */
#define LARGE_BLOCK (UINT64_C(128) << 10)

/* Objects that grow: [heap]. */
enum { MAX_GROWING = 8 };

static uint64_t lowest = UINT64_MAX, highest; /* of all pieces */
static uint64_t *done;                        /* of each piece: it has its policy up to here */
static PlacementPiece growing[MAX_GROWING];
static uint64_t growing_done[MAX_GROWING];
static uint32_t n_growing;

static uint64_t round_up(uint64_t address)
{
	return (address + PAGE - 1) & ~(PAGE - 1);
}

static int set_policy(uint64_t start, uint64_t end, int64_t node)
{
	PlacementOrders *orders = placement_orders();
	PlacementMask mask = {{0}};
	int mode = MPOL_INTERLEAVE;

	if (orders == NULL)
		return 0;
	if (node == PLACEMENT_ORDERS_INTERLEAVED) {
		mask = orders->nodes;
	} else {
		mask.words[node / 64] = UINT64_C(1) << (node % 64);
		mode = orders->is_strict ? MPOL_BIND : MPOL_PREFERRED;
	}
	/* The kernel takes one off the number of nodes. */
	if (syscall(SYS_mbind, start, end - start, mode, &mask, PLACEMENT_ORDERS_MAX_NODES + 1,
		    MPOL_MF_MOVE) == 0) {
		__atomic_fetch_add(&orders->n_policies, 1, __ATOMIC_RELAXED);
		return 0;
	}
	return errno;
}

/* Sets the policy of memory that is certainly mapped, so that an error is a refusal. */
static void set_policy_of_mapped(uint64_t start, uint64_t end, int64_t node)
{
	PlacementOrders *orders = placement_orders();
	int code = start < end ? set_policy(start, end, node) : 0;

	if (orders == NULL || code == 0)
		return;
	orders->policy_error = (uint32_t)code;
	__atomic_fetch_add(&orders->n_failed_policies, 1, __ATOMIC_RELAXED);
}

/* The first piece that ends after the address. */
static uint32_t find_piece(const PlacementPiece *pieces, uint32_t n, uint64_t address)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (pieces[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Gives it all of [from, to), when that is mapped as a whole. */
static bool reach(const PlacementPiece *piece, uint64_t *up_to, uint64_t from, uint64_t to)
{
	if (from >= to || set_policy(from, to, piece->node) != 0)
		return false;
	__atomic_store_n(up_to, to, __ATOMIC_RELAXED);
	return true;
}

/*
 * A small block says that the piece is mapped up to there: the policy goes as far as it can, to the
 * piece's end, or to that of the program's heap.
 */
static void note_in_piece(
	const PlacementPiece *piece, uint64_t *up_to, uint64_t start, uint64_t end)
{
	uint64_t known = __atomic_load_n(up_to, __ATOMIC_RELAXED);
	uint64_t edge = known > piece->start ? known : piece->start;
	uint64_t from = start > piece->start ? start : piece->start;
	uint64_t to = end < piece->end ? end : piece->end;
	uint64_t heap_end = (uint64_t)sbrk(0) & ~(PAGE - 1);

	if (end - start < LARGE_BLOCK && (to <= known || reach(piece, up_to, edge, piece->end) ||
						 (heap_end >= to && heap_end <= piece->end &&
							 reach(piece, up_to, edge, heap_end)) ||
						 reach(piece, up_to, edge, to)))
		return;
	set_policy_of_mapped(from, to, piece->node);
}

void page_policy_note_block(const void *block, size_t size)
{
	uint64_t start = (uint64_t)block & ~(PAGE - 1), end;
	PlacementOrders *orders = placement_orders();
	int code = errno;

	if (__builtin_add_overflow((uint64_t)block, size, &end) || start >= highest ||
		end <= lowest || orders == NULL || done == NULL)
		return;
	end = round_up(end);
	const PlacementPiece *pieces = placement_orders_at(orders, orders->pieces);
	for (uint32_t i = find_piece(pieces, orders->n_pieces, start);
		i < orders->n_pieces && pieces[i].start < end; i++)
		note_in_piece(&pieces[i], &done[i], start, end);
	for (uint32_t i = 0; i < n_growing; i++)
		if (start < growing[i].end && end > growing[i].start)
			note_in_piece(&growing[i], &growing_done[i], start, end);
	errno = code;
}

void page_policy_note_mapped(const void *place, size_t size)
{
	uint64_t start = (uint64_t)place & ~(PAGE - 1);
	uint64_t end = round_up((uint64_t)place + size);
	PlacementOrders *orders = placement_orders();
	int code = errno;

	if (start >= highest || end <= lowest || end < start || orders == NULL)
		return;
	const PlacementPiece *pieces = placement_orders_at(orders, orders->pieces);
	for (uint32_t i = find_piece(pieces, orders->n_pieces, start);
		i < orders->n_pieces && pieces[i].start < end; i++)
		set_policy_of_mapped(pieces[i].start > start ? pieces[i].start : start,
			pieces[i].end < end ? pieces[i].end : end, pieces[i].node);
	for (uint32_t i = 0; i < n_growing; i++)
		if (start < growing[i].end && end > growing[i].start)
			set_policy_of_mapped(growing[i].start > start ? growing[i].start : start,
				growing[i].end < end ? growing[i].end : end, growing[i].node);
	errno = code;
}

/* --- objects --- */

static void place_object(PlacementObject *object, uint64_t start, uint64_t size)
{
	object->is_found = 1;
	if (size > 0)
		set_policy_of_mapped(start & ~(PAGE - 1), round_up(start + size), object->node);
}

static int place_in_program(struct dl_phdr_info *image, size_t size, void *data)
{
	PlacementObject *object = data;

	(void)size;
	place_object(object, image->dlpi_addr + object->start, object->size);
	return 1; /* the program's own image is the first */
}

static void place_symbol(PlacementObject *object, const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol = NULL;
	Dl_info found;

	if (address == NULL || dladdr1(address, &found, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
		symbol == NULL)
		return;
	place_object(object, (uint64_t)address, symbol->st_size);
}

typedef struct {
	PlacementObject *object;
	const char *name;
} MappingSearch;

static void place_if_named(const MappedPart *part, void *data)
{
	MappingSearch *search = data;
	const char *slash = strrchr(part->name, '/');

	if (strcmp(part->name, search->name) == 0 ||
		(slash != NULL && strcmp(slash + 1, search->name) == 0))
		place_object(search->object, part->start, part->end - part->start);
}

/* The heap begins where the program's data end, and has no end yet. */
static void place_heap(PlacementObject *object)
{
	uint64_t start = round_up((uint64_t)sbrk(0)) - PAGE;

	if (n_growing == MAX_GROWING)
		return;
	object->is_found = 1;
	growing[n_growing] = (PlacementPiece){
		.start = start, .end = start + (UINT64_C(1) << 40), .node = object->node};
	lowest = start < lowest ? start : lowest;
	highest = growing[n_growing].end > highest ? growing[n_growing].end : highest;
	n_growing++;
}

static void place_mapping(PlacementObject *object, const char *name)
{
	MappingSearch search = {.object = object, .name = name};

	if (strcmp(name, "[heap]") == 0)
		place_heap(object);
	mapped_parts_visit(place_if_named, &search);
}

static void place_objects(PlacementOrders *orders)
{
	PlacementObject *objects = placement_orders_at(orders, orders->objects);

	for (uint32_t i = 0; i < orders->n_objects; i++) {
		const char *name = placement_orders_at(orders, objects[i].name);
		if (objects[i].kind == PLACEMENT_OBJECT_PROGRAM)
			dl_iterate_phdr(place_in_program, &objects[i]);
		else if (objects[i].kind == PLACEMENT_OBJECT_SYMBOL)
			place_symbol(&objects[i], name);
		else
			place_mapping(&objects[i], name);
	}
}

static void place_part(const MappedPart *part, void *data)
{
	(void)data;
	page_policy_note_mapped((const void *)part->start, part->end - part->start);
}

void page_policy_begin(void)
{
	PlacementOrders *orders = placement_orders();
	const PlacementPiece *pieces = placement_orders_at(orders, orders->pieces);
	size_t size = (size_t)orders->n_pieces * sizeof(*done) + 1;

	place_objects(orders);
	/* Beside the orders, where the program maps nothing. */
	void *place = (void *)syscall(SYS_mmap, (char *)orders + orders->size_bytes + (1 << 20),
		size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		return;
	if (orders->n_pieces > 0) {
		lowest = pieces[0].start < lowest ? pieces[0].start : lowest;
		highest = pieces[orders->n_pieces - 1].end > highest
		                  ? pieces[orders->n_pieces - 1].end
		                  : highest;
	}
	__atomic_store_n(&done, place, __ATOMIC_RELEASE);
	if (lowest < highest)
		mapped_parts_visit(place_part, NULL);
}

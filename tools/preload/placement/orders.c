/* SPDX-License-Identifier: MIT */
/*
 * The file is mapped far from where the kernel would put it, so that it takes no place that the
 * program's own mappings had when it was recorded.
 */
#include "orders.h"

#include "../left_environment.h"
#include "page_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACE ((void *)0x300100000000)

/* Lode writes it for a child that it starts at once; a longer file is not lode's. */
enum { MAX_SIZE = 1 << 28 };

static PlacementOrders *orders;
static PlacementMask original; /* the first of the masks: of lode itself */
static bool has_original;
static bool is_begun;

PlacementOrders *placement_orders(void)
{
	return __atomic_load_n(&orders, __ATOMIC_ACQUIRE);
}

int placement_orders_bind(const PlacementMask *mask)
{
	return syscall(SYS_sched_setaffinity, 0, sizeof(*mask), mask) >= 0 ? 0 : errno;
}

void placement_orders_unbind(void)
{
	if (has_original)
		placement_orders_bind(&original);
}

/* When lode has ended, another user may have a file of that name. */
static bool is_own_file(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
	       (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Our calls of mmap go to the kernel, past our own mmap(). */
static PlacementOrders *map_file(const char *path)
{
	struct stat status;
	int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	void *place = MAP_FAILED;

	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && is_own_file(&status) &&
		status.st_size >= (off_t)sizeof(PlacementOrders) && status.st_size <= MAX_SIZE)
		place = (void *)syscall(SYS_mmap, PLACE, (size_t)status.st_size,
			PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (place == MAP_FAILED)
		return NULL;
	PlacementOrders *read = place;
	if (read->magic == PLACEMENT_ORDERS_MAGIC && read->size_bytes == (uint64_t)status.st_size)
		return read;
	munmap(place, (size_t)status.st_size);
	return NULL;
}

/* Orders are for the process that lode started: nothing is placed in what it forks. */
static void end_in_child(void)
{
	if (placement_orders() != NULL)
		placement_orders_unbind();
	__atomic_store_n(&orders, NULL, __ATOMIC_RELEASE);
}

static void bind_first_thread(PlacementOrders *self)
{
	const uint32_t *threads = placement_orders_at(self, self->threads);
	const PlacementMask *masks = placement_orders_at(self, self->masks);
	int code;

	self->n_created = 1;
	if (self->n_threads == 0 || threads[0] == UINT32_MAX)
		return;
	code = placement_orders_bind(&masks[threads[0]]);
	self->n_bound += code == 0;
	self->n_unbound += code != 0;
	self->bind_error = (uint32_t)code;
}

/* A program that lode's child executes in its own place is the program; the counts begin anew. */
__attribute__((constructor)) void placement_orders_begin(void)
{
	if (__atomic_exchange_n(&is_begun, true, __ATOMIC_ACQ_REL))
		return;
	const char *path = getenv(PLACEMENT_ORDERS_VARIABLE);
	int code = errno;
	PlacementOrders *read = path != NULL ? map_file(path) : NULL;

	if (read == NULL) {
		/* lode has ended: another user may have a file of that name */
		if (path != NULL)
			remove_from_environment("liblode-placement.so", PLACEMENT_ORDERS_VARIABLE);
		errno = code;
		return;
	}
	original = *(const PlacementMask *)placement_orders_at(read, read->masks);
	has_original = true;
	if (getppid() != read->lode_pid) {
		placement_orders_unbind();
		munmap(read, read->size_bytes);
		errno = code;
		return;
	}
	read->bind_error = read->policy_error = 0;
	read->n_bound = read->n_unbound = read->n_policies = read->n_failed_policies = 0;
	read->pid = (uint32_t)getpid();
	__atomic_store_n(&orders, read, __ATOMIC_RELEASE);
	bind_first_thread(read);
	pthread_atfork(NULL, NULL, end_in_child);
	page_policy_begin();
	errno = code;
}

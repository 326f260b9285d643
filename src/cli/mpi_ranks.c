/* SPDX-License-Identifier: MIT */
#include "cli/mpi_ranks.h"

#include "base/error.h"
#include "machine/late_library.h"

#ifdef LODE_HAVE_MPI
#include <dlfcn.h>
#include <mpi.h>
#endif

/* The number in a variable of the environment; 0: it is not set. */
static unsigned number_of(const char *variable)
{
	const char *value = variable != NULL ? g_getenv(variable) : NULL;

	return value != NULL ? (unsigned)MIN(g_ascii_strtoull(value, NULL, 10), G_MAXINT) : 0;
}

/* The variables of Open MPI's launcher, and of Slurm's launchers: PMI, and PMIx, where Slurm's own
 * variable has the number of ranks. */
LodeMpiPlace lode_mpi_place(void)
{
	static const struct {
		const char *rank, *size;
	} variables[] = {
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
		{"PMI_RANK", "PMI_SIZE"},
		{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
		if (g_getenv(variables[i].rank) != NULL)
			return (LodeMpiPlace){
				number_of(variables[i].rank), number_of(variables[i].size)};
	return (LodeMpiPlace){0, 1};
}

#ifdef LODE_HAVE_MPI
bool lode_mpi_is_built(void)
{
	return true;
}

typedef struct {
	__typeof__(&MPI_Init_thread) init_thread;
	__typeof__(&MPI_Comm_rank) comm_rank;
	__typeof__(&MPI_Comm_size) comm_size;
	__typeof__(&MPI_Allreduce) allreduce;
	__typeof__(&MPI_Ibarrier) ibarrier;
	__typeof__(&MPI_Test) test;
	__typeof__(&MPI_Win_allocate) win_allocate;
	__typeof__(&MPI_Win_lock_all) win_lock_all;
	__typeof__(&MPI_Fetch_and_op) fetch_and_op;
	__typeof__(&MPI_Win_flush) win_flush;
	__typeof__(&MPI_Win_unlock_all) win_unlock_all;
	__typeof__(&MPI_Win_free) win_free;
	__typeof__(&MPI_Finalize) finalize;
	MPI_Comm world;
	MPI_Info no_info;
	MPI_Datatype real, whole;
	MPI_Op sum;
	MPI_Win counter; /* one number, of the first rank */
} Mpi;

static bool open_library(Mpi *out, GError **error)
{
	const LodeLateSymbol symbols[] = {
		{"MPI_Init_thread", &out->init_thread},
		{"MPI_Comm_rank", &out->comm_rank},
		{"MPI_Comm_size", &out->comm_size},
		{"MPI_Allreduce", &out->allreduce},
		{"MPI_Ibarrier", &out->ibarrier},
		{"MPI_Test", &out->test},
		{"MPI_Win_allocate", &out->win_allocate},
		{"MPI_Win_lock_all", &out->win_lock_all},
		{"MPI_Fetch_and_op", &out->fetch_and_op},
		{"MPI_Win_flush", &out->win_flush},
		{"MPI_Win_unlock_all", &out->win_unlock_all},
		{"MPI_Win_free", &out->win_free},
		{"MPI_Finalize", &out->finalize},
		/* The objects whose addresses are MPI_COMM_WORLD, MPI_INFO_NULL, MPI_DOUBLE,
	         * MPI_UINT64_T and MPI_SUM. */
		{"ompi_mpi_comm_world", &out->world},
		{"ompi_mpi_info_null", &out->no_info},
		{"ompi_mpi_double", &out->real},
		{"ompi_mpi_uint64_t", &out->whole},
		{"ompi_mpi_op_sum", &out->sum},
	};

	/* RTLD_GLOBAL, since the library's own plugins use its symbols. */
	return lode_late_library_open(
		"libmpi.so.40", RTLD_NOW | RTLD_GLOBAL, symbols, G_N_ELEMENTS(symbols), error);
}

/* Open MPI ends the whole job when a reduction fails or a rank has died. */
static void add_up(LodeRanks *self, double *values, size_t n)
{
	enum { AT_A_TIME = 1 << 26 };
	const Mpi *mpi = self->user_data;

	for (size_t first = 0; first < n; first += AT_A_TIME)
		mpi->allreduce(MPI_IN_PLACE, values + first, (int)MIN(n - first, AT_A_TIME),
			mpi->real, mpi->sum, mpi->world);
}

static uint64_t count(LodeRanks *self, uint64_t more)
{
	const Mpi *mpi = self->user_data;
	uint64_t before = 0;

	mpi->fetch_and_op(&more, &before, mpi->whole, 0, 0, mpi->sum, mpi->counter);
	mpi->win_flush(0, mpi->counter);
	return before;
}

/* All ranks call it; the counter is 0. */
static void open_counter(Mpi *mpi, int rank)
{
	uint64_t *counter;

	mpi->win_allocate(rank == 0 ? sizeof(*counter) : 0, sizeof(*counter), mpi->no_info,
		mpi->world, &counter, &mpi->counter);
	if (rank == 0)
		*counter = 0;
	mpi->win_lock_all(0, mpi->counter);
	/* No rank increments the counter before it is 0. */
	double nothing = 0;
	mpi->allreduce(MPI_IN_PLACE, &nothing, 1, mpi->real, mpi->sum, mpi->world);
}

LodeRanks *lode_mpi_open(GError **error)
{
	g_autofree Mpi *mpi = g_new0(Mpi, 1);
	int level, rank, size;

	if (!open_library(mpi, error)) {
		g_prefix_error(error, "cannot use Open MPI: ");
		return NULL;
	}
	mpi->init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
	mpi->comm_rank(mpi->world, &rank);
	mpi->comm_size(mpi->world, &size);
	open_counter(mpi, rank);
	LodeRanks *self = g_new0(LodeRanks, 1);
	self->rank = (unsigned)rank;
	self->size = self->n_threads = (unsigned)size;
	self->sum = add_up;
	self->count = count;
	self->user_data = g_steal_pointer(&mpi);
	return self;
}

void lode_mpi_close(LodeRanks *self)
{
	const gulong step_us = 2000;
	MPI_Request request;
	int is_done = 0;

	if (self == NULL)
		return;
	Mpi *mpi = self->user_data;
	mpi->ibarrier(mpi->world, &request);
	for (;;) {
		mpi->test(&request, &is_done, MPI_STATUS_IGNORE);
		if (is_done)
			break;
		g_usleep(step_us);
	}
	mpi->win_unlock_all(mpi->counter);
	mpi->win_free(&mpi->counter);
	mpi->finalize();
	g_free(mpi);
	g_free(self);
}
#else
bool lode_mpi_is_built(void)
{
	return false;
}

LodeRanks *lode_mpi_open(GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"this build of lode has no MPI, so its processes cannot share the work: start one, "
		"or build lode where Open MPI is installed");
	return NULL;
}

void lode_mpi_close(LodeRanks *self)
{
	(void)self;
}
#endif

bool lode_mpi_agree(LodeRanks *self, bool is_ok, uint32_t fingerprint, GError **error)
{
	size_t n = self->size, n_failed = 0, first_failed = n;
	g_autofree double *values = g_new0(double, 2 * n);

	values[self->rank] = is_ok ? 0 : 1;
	values[n + self->rank] = fingerprint;
	self->sum(self, values, 2 * n);
	for (size_t i = n; i-- > 0;)
		if (values[i] > 0) {
			n_failed++;
			first_failed = i;
		}
	if (n_failed > 0) {
		if (self->rank != first_failed)
			g_clear_error(error);
		else if (n_failed < n)
			g_prefix_error(error, "rank %u of %u: ", self->rank, self->size);
		return false;
	}
	for (size_t i = 1; i < n; i++)
		if (values[n + i] != values[n]) {
			if (self->rank == 0)
				g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
					"rank %zu of %u reads a different profile than rank 0", i,
					self->size);
			return false;
		}
	return true;
}

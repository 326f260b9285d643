/* SPDX-License-Identifier: MIT */
#include "record/events/perf_kernel.h"

#include "base/error.h"
#include "machine/descriptor_limit.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, void *user_data)
{
	(void)user_data;
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

const LodePerfKernel lode_perf_kernel = {
	.open = open_event,
	.settings = "/proc/sys/kernel",
	.devices = "/sys/bus/event_source/devices",
	.tracing = "/sys/kernel/tracing",
};

int64_t lode_perf_kernel_setting(const LodePerfKernel *self, const char *name, int64_t otherwise)
{
	g_autofree char *path = g_build_filename(self->settings, name, NULL);
	g_autofree char *text = NULL;
	char *end;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return otherwise;
	int64_t value = g_ascii_strtoll(text, &end, 10);
	return end != text ? value : otherwise;
}

/* The remedy to sample the kernel's own code; the capability is of Linux 5.8. */
#define KERNEL_ALLOWED_BY                                                                          \
	"'sudo sysctl kernel.perf_event_paranoid=1' allows it, and so does the capability "        \
	"CAP_PERFMON"

/* Above this, users without privileges may not sample; values above 2 are patches of Debian and
 * Android. */
enum { PARANOID_USER_CODE = 2 };

char *lode_perf_kernel_refusal(const LodePerfKernel *self)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER0,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int descriptor = self->open(&attr, 0, -1, self->user_data);
	int code = errno;

	if (descriptor >= 0)
		close(descriptor);
	if (descriptor >= 0 || (code != EACCES && code != EPERM && code != ENOSYS))
		return NULL;
	int64_t paranoid = lode_perf_kernel_setting(self, "perf_event_paranoid", 0);
	if (paranoid > PARANOID_USER_CODE)
		return g_strdup_printf("kernel.perf_event_paranoid is %" G_GINT64_FORMAT
				       "; 'sudo sysctl kernel.perf_event_paranoid=2' allows them",
			paranoid);
	return g_strdup_printf("%s, by a container's seccomp filter; docker: --cap-add PERFMON or "
			       "--security-opt seccomp=unconfined allows them",
		g_strerror(code));
}

static void refuse_permission(
	const LodePerfKernel *self, const LodePerfRefusal *refusal, GError **error)
{
	int64_t paranoid = lode_perf_kernel_setting(self, "perf_event_paranoid", 0);

	if (refusal->is_by_kernel && paranoid >= PARANOID_USER_CODE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"--kernel: the kernel forbids sampling its own code: "
			"kernel.perf_event_paranoid is %" G_GINT64_FORMAT "; " KERNEL_ALLOWED_BY
			"; without --kernel the program's code is sampled",
			paranoid);
	else if (paranoid > PARANOID_USER_CODE && !refusal->attr->exclude_kernel)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"'%s': the kernel forbids sampling: kernel.perf_event_paranoid is "
			"%" G_GINT64_FORMAT "; " KERNEL_ALLOWED_BY,
			refusal->event, paranoid);
	else if (paranoid > PARANOID_USER_CODE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"the kernel forbids sampling: kernel.perf_event_paranoid is "
			"%" G_GINT64_FORMAT
			"; 'sudo sysctl kernel.perf_event_paranoid=2' allows it for programs of "
			"one's own",
			paranoid);
	else if (paranoid == PARANOID_USER_CODE && !refusal->attr->exclude_kernel)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"'%s': the kernel forbids sampling its own code: "
			"kernel.perf_event_paranoid is %" G_GINT64_FORMAT "; " KERNEL_ALLOWED_BY
			"; user code can be sampled, with ':u'",
			refusal->event, paranoid);
	else if (refusal->pid != 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"process %d cannot be sampled: %s; it belongs to another user, or is "
			"protected: as root it can be",
			(int)refusal->pid, g_strerror(refusal->code));
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"'%s': perf_event_open: %s, although kernel.perf_event_paranoid "
			"(%" G_GINT64_FORMAT
			") allows it; a container's seccomp filter forbids it (docker: "
			"--security-opt seccomp=unconfined or --cap-add PERFMON)",
			refusal->event, g_strerror(refusal->code), paranoid);
}

static void refuse_descriptors(const LodePerfRefusal *refusal, GError **error)
{
	struct rlimit limit = {0, 0};

	/* Descriptors opened before the number of CPUs and threads is known. */
	if (refusal->n_wanted == 0) {
		lode_descriptor_limit_refuse(error);
		return;
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"%" G_GSIZE_FORMAT
		" descriptors are needed (one for each event, thread and CPU), and RLIMIT_NOFILE "
		"allows %" G_GUINT64_FORMAT "; 'ulimit -n %" G_GSIZE_FORMAT "' as root raises it",
		refusal->n_wanted, (guint64)limit.rlim_max, refusal->n_wanted + 64);
}

/* The hardware, or its kernel driver, does not support a feature of this event. */
static void refuse_feature(const LodePerfRefusal *refusal, GError **error)
{
	const struct perf_event_attr *attr = refusal->attr;

	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"'%s': this machine records no branch stacks with it: %s; that takes "
			"a PMU with branch records, such as Intel's LBR, and most virtual machines "
			"have none",
			refusal->event, g_strerror(refusal->code));
	else if (attr->precise_ip > 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"'%s': this machine has no precise level %u for it: %s; ':P' takes the "
			"highest there is",
			refusal->event, (unsigned)attr->precise_ip, g_strerror(refusal->code));
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"'%s': the kernel refuses to sample it: %s", refusal->event,
			g_strerror(refusal->code));
}

static void refuse_event(const LodePerfRefusal *refusal, GError **error)
{
	const char *branches = refusal->attr->sample_type & PERF_SAMPLE_BRANCH_STACK
	                               ? ", and branch stacks need one"
	                               : "";

	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"'%s': this machine does not have this event: it is of another processor, or there "
		"is no PMU, as in most virtual machines%s; 'cpu-clock:u' is sampled "
		"everywhere",
		refusal->event, branches);
}

void lode_perf_kernel_refuse(
	const LodePerfKernel *self, const LodePerfRefusal *refusal, GError **error)
{
	switch (refusal->code) {
	case EACCES:
	case EPERM:
		refuse_permission(self, refusal, error);
		break;
	case EMFILE:
		refuse_descriptors(refusal, error);
		break;
	case ENOENT:
	case ENXIO:
		refuse_event(refusal, error);
		break;
	case EOPNOTSUPP:
	case EINVAL:
		refuse_feature(refusal, error);
		break;
	case ENOSYS:
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"this kernel has no perf_event_open");
		break;
	case ESRCH:
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "process %d does not exist",
			(int)refusal->pid);
		break;
	case EBUSY:
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"'%s': the PMU is in use by another program: %s", refusal->event,
			g_strerror(refusal->code));
		break;
	default:
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "'%s': perf_event_open: %s",
			refusal->event, g_strerror(refusal->code));
	}
}

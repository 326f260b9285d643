/* SPDX-License-Identifier: MIT */
/*
 * Makes GMutex visible to ThreadSanitizer. GLib's own code is not instrumented and its mutexes are
 * bare futexes, so the sanitizer would take what they guard for unguarded. Preloaded into the
 * threaded tests of a TSan build; only there is the sanitizer's part found.
 */
#include <dlfcn.h>
#include <glib.h>

/* Of the sanitizer's run-time library: what happened before a release on an address is seen by who
 * acquires it. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void acquire(void *address)
{
	if (__tsan_acquire != NULL)
		__tsan_acquire(address);
}

static void release(void *address)
{
	if (__tsan_release != NULL)
		__tsan_release(address);
}

void g_mutex_lock(GMutex *mutex)
{
	void (*real)(GMutex *) = (void (*)(GMutex *))dlsym(RTLD_NEXT, "g_mutex_lock");

	real(mutex);
	acquire(mutex);
}

gboolean g_mutex_trylock(GMutex *mutex)
{
	gboolean (*real)(GMutex *) = (gboolean(*)(GMutex *))dlsym(RTLD_NEXT, "g_mutex_trylock");

	if (!real(mutex))
		return FALSE;
	acquire(mutex);
	return TRUE;
}

void g_mutex_unlock(GMutex *mutex)
{
	void (*real)(GMutex *) = (void (*)(GMutex *))dlsym(RTLD_NEXT, "g_mutex_unlock");

	release(mutex);
	real(mutex);
}

/* Gives the mutex up while it waits. */
void g_cond_wait(GCond *cond, GMutex *mutex)
{
	void (*real)(GCond *, GMutex *) = (void (*)(GCond *, GMutex *))dlsym(
		RTLD_NEXT, "g_cond_wait");

	release(mutex);
	real(cond, mutex);
	acquire(mutex);
}

gboolean g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time)
{
	gboolean (*real)(GCond *, GMutex *, gint64) = (gboolean(*)(GCond *, GMutex *, gint64))dlsym(
		RTLD_NEXT, "g_cond_wait_until");

	release(mutex);
	gboolean is_signalled = real(cond, mutex, end_time);
	acquire(mutex);
	return is_signalled;
}

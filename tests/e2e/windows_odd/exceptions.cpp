// SPDX-License-Identifier: MIT
// Exceptions through frames of all kinds, for windows_odd.sh.
//
//   exceptions KIND [PERCENT] | --list
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static long percent = 100;

static long rounds(long n)
{
	return n * percent / 100 < 1 ? 1 : n * percent / 100;
}

struct Counted {
	static thread_local long n;
	Counted() { n++; }
	~Counted() { n--; }
};
thread_local long Counted::n;

__attribute__((noinline)) static void thrower(int depth)
{
	Counted counted;
	if (depth == 0)
		throw std::runtime_error("deep");
	thrower(depth - 1);
}

static int through_frames()
{
	long n = 0;
	for (long i = 0; i < rounds(8000); i++) {
		try {
			thrower(10);
		} catch (const std::exception &error) {
			n += std::strlen(error.what());
		}
	}
	std::printf("%ld, %ld left\n", n, Counted::n);
	return 0;
}

static int through_c()
{
	long n = 0;
	int numbers[64];
	for (long i = 0; i < rounds(20000); i++) {
		for (int j = 0; j < 64; j++)
			numbers[j] = 64 - j;
		try {
			std::qsort(numbers, 64, sizeof *numbers, [](const void *a, const void *) -> int {
				throw *static_cast<const int *>(a);
			});
		} catch (int number) {
			n += number > 0;
		}
	}
	std::printf("%ld\n", n);
	return 0;
}

static int in_threads()
{
	long n = 0;
	for (long i = 0; i < rounds(1000); i++) {
		auto one = std::async(std::launch::async, [] { thrower(5); });
		auto other = std::async(std::launch::async, [] { thrower(7); });
		for (auto *future : {&one, &other}) {
			try {
				future->get();
			} catch (const std::exception &) {
				n++;
			}
		}
	}
	std::printf("%ld\n", n);
	return 0;
}

static int rethrown()
{
	long n = 0;
	for (long i = 0; i < rounds(15000); i++) {
		std::exception_ptr kept;
		try {
			try {
				thrower(3);
			} catch (...) {
				kept = std::current_exception();
				throw;
			}
		} catch (...) {
			n++;
		}
		try {
			std::rethrow_exception(kept);
		} catch (const std::runtime_error &) {
			n++;
		}
	}
	std::printf("%ld\n", n);
	return 0;
}

static void throw_fault(int)
{
	throw std::string("fault");
}

// With -fnon-call-exceptions: a fault is an exception.
static int of_faults()
{
	struct sigaction action = {};
	action.sa_handler = throw_fault;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &action, nullptr);
	volatile int *volatile nothing = nullptr;
	long n = 0;
	for (long i = 0; i < rounds(15000); i++) {
		try {
			*nothing = 1;
		} catch (const std::string &text) {
			n += text == "fault";
		}
	}
	std::printf("%ld\n", n);
	return 0;
}

static void *cancelled_thread(void *)
{
	Counted counted;
	for (;;)
		pthread_testcancel();
}

static int cancelled()
{
	for (long i = 0; i < rounds(1500); i++) {
		pthread_t thread;
		void *result;
		pthread_create(&thread, nullptr, cancelled_thread, nullptr);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != PTHREAD_CANCELED)
			std::printf("not cancelled\n");
	}
	std::printf("cancelled\n");
	return 0;
}

static int uncaught()
{
	through_frames();
	throw std::runtime_error("nobody catches this");
}

static void no_throw() noexcept
{
	thrower(2);
}

static int forbidden()
{
	through_frames();
	no_throw();
	return 0;
}

static const struct {
	const char *name;
	int (*run)();
} kinds[] = {
	{"exception-frames", through_frames},
	{"exception-qsort", through_c},
	{"exception-threads", in_threads},
	{"exception-rethrown", rethrown},
	{"exception-fault", of_faults},
	{"exception-cancel", cancelled},
	{"exception-uncaught", uncaught},
	{"exception-noexcept", forbidden},
};

int main(int argc, char **argv)
{
	bool is_list = argc == 2 && std::strcmp(argv[1], "--list") == 0;
	std::setvbuf(stdout, nullptr, _IONBF, 0);
	if (argc > 2)
		percent = std::atol(argv[2]);
	for (const auto &kind : kinds) {
		if (is_list)
			std::printf("%s some\n", kind.name);
		else if (argc > 1 && std::strcmp(kind.name, argv[1]) == 0)
			return kind.run();
	}
	return is_list ? 0 : 2;
}

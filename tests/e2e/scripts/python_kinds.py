#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Two functions, in a program of the kind that KIND names. Writes how much of their time the first
# has, by its own clock, into the folder TRUTH. The second takes KNOWN_SECONDS.
import os
import sys
import time

KIND = os.environ["KIND"]
# A process of its own is looked at for the first time when it is some tenths of a second old.
LIGHT = float(os.environ["KNOWN_SECONDS"]) * (3 if KIND in ("processes", "forks") else 1)
HEAVY = 2 * LIGHT
WORDS = ["w%d" % i for i in range(4000)]


def call(x):
    return x


def heavy():
    if KIND == "calls":
        for i in range(2000):
            call(i)
        return False
    return "w3999" in WORDS


def light():
    n = 3
    for i in range(300):
        n = (n * 7919 + i) % 1000003
    return n


def spend(seconds, work, clock=time.process_time):
    begin = clock()
    while clock() - begin < seconds:
        for _ in range(10):
            work()
    return clock() - begin


def tell(heavy_time, light_time):
    with open(os.path.join(os.environ["TRUTH"], KIND), "w") as out:
        print(heavy_time / (heavy_time + light_time), file=out)


def both():
    tell(spend(HEAVY, heavy), spend(LIGHT, light))


def coroutines():
    import asyncio

    async def run(seconds, work):
        spent = 0
        while spent < seconds:
            spent += spend(0.001, work)
            await asyncio.sleep(0)
        return spent

    async def gather():
        tell(*await asyncio.gather(run(HEAVY, heavy), run(LIGHT, light)))

    asyncio.run(gather())


def generators():
    def parts(seconds, work):
        spent = 0
        while spent < seconds:
            spent += spend(0.001, work)
            yield 0
        yield spent

    tell(sum(parts(HEAVY, heavy)), sum(parts(LIGHT, light)))


def threads():
    import threading

    spent = {}

    def run(seconds, work):
        spent[work] = spend(seconds, work, time.thread_time)

    all_of_them = [threading.Thread(target=run, args=a) for a in ((HEAVY, heavy), (LIGHT, light))]
    for one in all_of_them:
        one.start()
    for one in all_of_them:
        one.join()
    tell(spent[heavy], spent[light])


def processes():
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = [pool.apply_async(spend, a) for a in ((HEAVY, heavy), (LIGHT, light))]
        tell(*[one.get() for one in results])


def forks():
    child = os.fork()
    if child == 0:
        spend(HEAVY, heavy)
        os._exit(7)
    tell(HEAVY, spend(LIGHT, light))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def deep():
    def down(n):
        return down(n - 1) if n > 0 else both()

    sys.setrecursionlimit(3000)
    down(1000)


def signals():
    import signal

    caught = []
    signal.signal(signal.SIGPROF, lambda *_: caught.append(1))
    signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    both()
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(len(caught) > 2)


def faults():
    import faulthandler

    faulthandler.enable()
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(0.05, repeat=True, file=nowhere)
        both()
        faulthandler.cancel_dump_traceback_later()
    print(faulthandler.is_enabled())


OF_THEIR_OWN = (coroutines, generators, threads, processes, forks, deep, signals, faults)
{f.__name__: f for f in OF_THEIR_OWN}.get(KIND, both)()
print(KIND)

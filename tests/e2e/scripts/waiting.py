# SPDX-License-Identifier: MIT
"""A program that waits in one place, whose line has the kind's name, and measures it.

    waiting.py KIND FILE      appends to the file as known_waits.c does
"""
import os
import queue
import socket
import subprocess
import sys
import threading
import time

ROUNDS = 40


class Ledger:
    """Whose entries another thread makes, under a lock."""

    def __init__(self):
        self.lock = threading.Lock()

    def post(self):
        with self.lock:
            time.sleep(0.02)  # holds

    def check(self):
        with self.lock:  # latch
            return True


def nap():
    """Looks now and then whether there is a file."""
    for _ in range(ROUNDS):
        if os.path.exists("/nowhere/done"):
            break
        time.sleep(0.02)  # sleep


def await_children():
    """A process for each of many small jobs."""
    for _ in range(ROUNDS):
        subprocess.run(["sleep", "0.02"], check=True)  # child


def answer():
    """A slow peer."""
    own, its = socket.socketpair()
    if os.fork() == 0:
        own.close()
        while its.recv(16):
            time.sleep(0.02)
            its.send(b"answer")
        os._exit(0)
    its.close()
    for _ in range(ROUNDS):
        own.send(b"question")
        own.recv(16)  # answer
    own.close()


def work():
    """A thread that is slow to fill a queue, in library code that waits for it."""
    jobs = queue.Queue()

    def fill():
        for i in range(ROUNDS):
            time.sleep(0.02)
            jobs.put(i)

    filler = threading.Thread(target=fill, name="filler")
    filler.start()
    for _ in range(ROUNDS):
        jobs.get()  # queue
    filler.join()


def latch():
    """A lock that is held while its holder sleeps."""
    ledger = Ledger()
    is_over = False

    def post():
        while not is_over:
            ledger.post()

    poster = threading.Thread(target=post, name="poster")
    poster.start()
    for _ in range(ROUNDS // 2):
        time.sleep(0.001)
        ledger.check()
    is_over = True
    poster.join()


KINDS = {"sleep": nap, "child": await_children, "answer": answer, "queue": work, "latch": latch}


def main():
    begin = time.monotonic()
    KINDS[sys.argv[1]]()
    clock = time.monotonic() - begin
    with open(sys.argv[2], "a", encoding="utf-8") as file:
        # Next to nothing else takes time.
        file.write(f"clock {clock:.6f} 1 {clock:.6f}\n")


main()

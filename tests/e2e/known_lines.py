# SPDX-License-Identifier: MIT
# Two ways of looking words up, of which each measures its own processor time; in the file of the
# first argument: function, line of its call, share of all. The second takes KNOWN_SECONDS.
# Versions before 3.11 know no class.
import os
import sys
import time


class Table:
    def __init__(self, words):
        self.words = words
        self.known = set(words)

    def find(self, word):
        return word in self.words

    def count(self, text):
        n = 0
        for letter in text:
            n += ord(letter) * 7 & 3
        return n


def spend(seconds, work):
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        for _ in range(20):
            work()
    return time.process_time() - begin


seconds = float(os.environ.get("KNOWN_SECONDS", "0.6"))
table = Table(["w%d" % i for i in range(4000)])
text = "abcdefghij" * 400
begin = time.process_time()
find = spend(2 * seconds, lambda: table.find("w3999"))
count = spend(seconds, lambda: table.count(text))
whole = time.process_time() - begin
with open(sys.argv[1], "w") as out:
    prefix = "Table." if sys.version_info >= (3, 11) else ""
    print(prefix + "find", 16, find / whole, file=out)
    print(prefix + "count", 21, count / whole, file=out)

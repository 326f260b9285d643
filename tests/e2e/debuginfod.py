#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a debuginfod server sends is used, and what is too much is neither used nor kept. Prints TAP.

  tests/e2e/debuginfod.py LODE
"""

import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

LODE = os.path.abspath(sys.argv[1])
SOURCE = """
__attribute__((noinline)) static unsigned hot(unsigned s) { for (unsigned i = 0; i < 100000; i++) s = s * 31 + i; return s; }
int main(void) { volatile unsigned s = hot(3); return s == 1; }
"""
LIMIT = 1_000_000
number = 0


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    way, answer, sent = "whole", b"", 0

    def do_GET(self):
        Server.sent = 0
        self.send_response(200)
        if Server.way == "endless":
            self.send_header("Transfer-Encoding", "chunked")
        elif Server.way == "claims":
            self.send_header("Content-Length", str(3 << 30))
        else:
            self.send_header("Content-Length", str(len(Server.answer)))
        self.end_headers()
        try:
            self.send(Server.answer)
            # Up to what would be a failure, should nobody end it.
            while Server.way != "whole" and Server.sent < 200 * LIMIT:
                self.send(bytes(1 << 16))
        except OSError:
            pass
        self.close_connection = True

    def send(self, part):
        if Server.way == "endless":
            part = b"%x\r\n%s\r\n" % (len(part), part)
        self.wfile.write(part)
        Server.sent += len(part)

    def log_message(self, *words):
        pass


def record(way, **environment):
    """Records the stripped program: its profile's functions, and the bytes in the cache."""
    Server.way = way
    shutil.rmtree("cache", ignore_errors=True)
    done = subprocess.run(
        [LODE, "run", "--exact", "--fast", "--debuginfod", "-o", "x.lode", "--", "./program"],
        capture_output=True, timeout=200, stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C.UTF-8", "DEBUGINFOD_CACHE_PATH": os.path.abspath("cache"),
             **environment},
    )
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr!r}", 0
    listed = subprocess.run([LODE, "annotate", "x.lode", "function", "hot"], capture_output=True)
    bytes_kept = sum(one.stat().st_size for one in pathlib.Path("cache").rglob("*") if one.is_file())
    return listed.returncode == 0, bytes_kept


def check(name, result, is_known):
    global number
    number += 1
    known, kept = result
    faults = [f"the function is known: {known}"] if known != is_known else []
    if not is_known and kept > LIMIT:
        faults.append(f"{kept} bytes are kept")
    if not is_known and Server.sent > 100 * LIMIT:
        faults.append(f"{Server.sent} bytes were read")
    print(f"{'not ' if faults else ''}ok {number} - {name}")
    for one in faults:
        print(f"# {one}")


def main():
    for tool in "cc", "objcopy", "strip", "qemu-x86_64":
        if shutil.which(tool) is None:
            skip(f"there is no {tool}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        pathlib.Path("program.c").write_text(SOURCE)
        subprocess.run(["cc", "-O1", "-g", "-Wl,--build-id", "-o", "program", "program.c"], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", "program", "debug"], check=True)
        subprocess.run(["strip", "program"], check=True)
        Server.answer = pathlib.Path("debug").read_bytes()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["DEBUGINFOD_URLS"] = f"http://127.0.0.1:{server.server_port}"
        check("an answer is used", record("whole"), True)
        check("one that says that it has 3 GiB is not", record("claims"), False)
        limit = {"DEBUGINFOD_MAXSIZE": str(LIMIT)}
        check("one without an end is not", record("endless", **limit), False)
        check("one within the user's limit is", record("whole", **limit), True)
        few = {"DEBUGINFOD_MAXSIZE": str(len(Server.answer) - 1)}
        check("one a byte beyond it is not", record("whole", **few), False)
        print(f"1..{number}")
        os.chdir("/")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lode serve answers its own page and nobody else, whatever is sent to it. Prints TAP.

  tests/e2e/serve.py LODE FLOW      FLOW is a flow file to make profiles of
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata
import urllib.parse

LODE, FLOW = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WAIT = 60  # seconds, for what a busy machine may take long for
number = 0


def check(name, *faults):
    """A case, and what is wrong with it; None and "" are nothing."""
    global number
    number += 1
    faults = [one for one in faults if one]
    print(f"{'not ' if faults else ''}ok {number} - {name}")
    for one in faults:
        print(f"# {one}")
    sys.stdout.flush()


def lode(*words):
    subprocess.run([LODE, *words], check=True, capture_output=True, timeout=WAIT)


class Server:
    def __init__(self, *words, env=None):
        self.errors = open("server.err", "w+b")
        self.process = subprocess.Popen(
            [LODE, "serve", *words], stdout=subprocess.PIPE, stderr=self.errors,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        )
        self.link = self.process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.link)
        if not found:
            sys.exit(f"Bail out! lode serve printed '{self.link}'")
        self.port, self.token = int(found[1]), found[2]
        self.host = f"127.0.0.1:{self.port}"
        status, headers, _ = self.get(f"/?token={self.token}", cookie=None)
        self.page_headers = headers
        self.cookie = headers.get("Set-Cookie", "").split(";")[0]

    def get(self, path, method="GET", cookie="", host=None, body=None, **fields):
        """Status, header and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or self.host)
        if cookie is not None:
            connection.putheader("Cookie", cookie or self.cookie)
        for name, value in fields.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, answer.headers, text

    def raw(self, data, wait=WAIT):
        """What is sent back for these bytes, up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            received = b""
            try:
                connection.sendall(data)
                while part := connection.recv(65536):
                    received += part
            except OSError:
                pass
            return received

    def status(self, path, **how):
        return self.get(path, **how)[0]

    def serves(self):
        status, _, body = self.get("/api/report")
        if status == 200 and "findings" in json.loads(body):
            return None
        return f"it no longer serves: status {status}"

    def said(self):
        self.errors.flush()
        return pathlib.Path("server.err").read_bytes()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(WAIT)
        return None if status == 0 else f"status {status} after Ctrl-C"


def expect(what, found, *wanted):
    return None if found in wanted else f"{what}: {found}, not {' or '.join(map(str, wanted))}"


work = tempfile.mkdtemp()
os.chdir(work)
lode("import", FLOW, "-o", "x.lode")
lode("mine", "x.lode", "--min-support", "0.001", "--min-functions", "1")
shutil.copy("x.lode", "other.lode")
server = Server("x.lode", "other.lode")

headers = server.page_headers
check(
    "the page sets a cookie and forbids what is not its own",
    expect("cookie", bool(re.search(r"; HttpOnly; SameSite=Strict$", headers.get("Set-Cookie", ""))), True),
    expect("CSP", "default-src 'none'" in headers.get("Content-Security-Policy", ""), True),
    expect("CSP with inline scripts", "unsafe" in headers.get("Content-Security-Policy", ""), False),
    expect("nosniff", headers.get("X-Content-Type-Options"), "nosniff"),
    expect("referrer", headers.get("Referrer-Policy"), "no-referrer"),
)

shown = {}
faults = []
for query, member in (
    ("profiles", "profiles"), ("info", "runs"), ("report", "findings"), ("report?sequences=1&limit=2", "sequences"),
    ("functions?limit=1", "functions"), ("annotate?function-number=0", "places"), ("graph?function-number=0", "blocks"),
    ("functions?limit=1", "inclusive_from"), ("calls?function=0", "callers"), ("calls?function=copy", "callees"),
    ("annotate?sequence=1", "places"),
):
    status, headers, body = server.get(f"/api/{query}")
    shown[query] = json.loads(body)
    faults.append(expect(query, status, 200))
    faults.append(expect(f"{member} of {query}", member in shown[query], True))
check("its queries are answered", *faults)

whole = json.loads(subprocess.run(
    [LODE, "report", "x.lode", "--all", "--sort", "places", "--format", "json"], capture_output=True, check=True,
).stdout)["sequences"]
step = len(whole) // 7 + 1
pages = [json.loads(server.get(f"/api/report?all=1&sort=places&limit={step}&offset={at}")[2]) for at in range(0, len(whole), step)]
paged = [row for page in pages for row in page["sequences"]]
status, headers, csv = server.get("/api/report?all=1&sort=places&format=csv")
table = subprocess.run(
    [LODE, "report", "x.lode", "--all", "--sort", "places", "--format", "csv"], capture_output=True, check=True,
).stdout
check(
    "pages of sequences are those of lode report",
    expect("sequences", len(pages) > 5, True),
    expect("rows", paged == whole, True),
    expect("passed", pages[0]["passed"], len(whole)),
    expect("CSV", csv == table, True),
    expect("attachment", headers.get("Content-Disposition", "").startswith("attachment"), True),
)

check(
    "without the right token or cookie there is nothing",
    *(expect(f"{path} {cookie}", server.status(path, cookie=cookie), 403)
      for path in ("/", "/?token=", f"/?token={'0' * 32}", "/api/report", f"/api/report?token={server.token}", "/api/profiles")
      for cookie in (None, server.cookie.split("=")[0] + "=" + "0" * 32, "lode-1=" + server.cookie.split("=")[1])),
)

evil = ("evil.example", f"evil.example:{server.port}", f"127.0.0.1:{server.port + 1}", "127.0.0.1", "10.0.0.1:" + str(server.port),
        f"127.0.0.1.evil.example:{server.port}", f"localhost.:{server.port}", f"127.0.0.1:{server.port}@evil", ":", "[::1", f"0x7f.1:{server.port}")
request = f"GET /api/report HTTP/1.1\r\nCookie: {server.cookie}\r\n"
check(
    "another Host is refused (DNS rebinding)",
    *(expect(host, server.status("/api/report", host=host), 403, 400) for host in evil),
    *(expect(host, server.status("/app.js", host=host), 403, 400) for host in evil[:3]),
    *(expect(host, server.status("/api/report", host=host), 200) for host in (server.host, f"localhost:{server.port}", f"[::1]:{server.port}")),
    expect("no Host", b" 200 " in server.raw(request.encode() + b"Connection: close\r\n\r\n")[:20], False),
    expect("two", b" 200 " in server.raw((request + f"Host: {server.host}\r\nHost: {server.host}\r\nConnection: close\r\n\r\n").encode())[:20], False),
)

own = f"http://{server.host}"
check(
    "another page's requests are refused",
    *(expect(origin, server.status("/api/report", Origin=origin), 403)
      for origin in ("http://evil.example", "null", f"https://{server.host}", f"http://localhost:{server.port}", own + ".evil.example", "")),
    *(expect(site, server.status("/api/report", Sec_Fetch_Site=site), 403) for site in ("cross-site", "same-site")),
    expect("its own", server.status("/api/report", Origin=own, Sec_Fetch_Site="same-origin"), 200),
    expect("a link from elsewhere", server.status(f"/?token={server.token}", cookie=None, Sec_Fetch_Site="cross-site"), 200),
    expect("POST without Origin", server.status("/api/reload", method="POST"), 403),
    expect("POST of another", server.status("/api/reload", method="POST", Origin="http://evil.example"), 403),
    expect("POST", server.status("/api/reload", method="POST", Origin=own), 200),
)

faults = []
for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "//etc/passwd", "/api/../../etc/passwd", "/api//etc/passwd",
             "/api/x.lode", "/x.lode", "/app.js/..", "/api/report/", "/api/", "/index.html", "/lode/app.js"):
    status, _, body = server.get(path)
    faults += [expect(path, status, 404), b"root:" in body and f"{path} gives a file"]
for path in ("info?profile=../../etc/passwd", "info?profile=2", "info?profile=-1", "info?profile=99999999999999999999", "annotate?function=/etc/passwd",
             "annotate?line=/etc/passwd:1", "annotate", "annotate?finding=1&sequence=1", "report?limit=x", "report?with=" + "&with=".join("*" * 70),
             "report?sort=%00", "functions?sort=evil", "calls", "calls?function=/etc/passwd", "calls?function=9999999", "info?format=text", "annotate?sequence=99999999", "heat?granularity=0", "flame?weight=evil", "flame?limit=0", "memory?by=(",
             "place?topology=/etc/passwd", "trace-simulate?cache=/etc/passwd", "trace-simulate?trace=0&by=line&cache=/etc/passwd", "diff?base=7",
             "diff?by=evil", "report?html=/tmp/x", "report?evil=1", "memory?output=/tmp/x", "live", "sample", "heat?first=0x1", "report?text=" + "a+" * 70):
    status, _, body = server.get("/api/" + path)
    faults += [expect(path, status, 400, 404), "error" not in json.loads(body) and f"{path}: no error"]
check("no address leads to a file, and wrong parameters are errors", *faults)

check(
    "other methods are refused",
    *(expect(method, server.status("/api/report", method=method), 405) for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "TRACE", "X" * 60)),
    expect("POST", server.status("/api/report", method="POST", Origin=own), 405),
    expect("GET", server.status("/api/reload"), 405),
    expect("HEAD", server.get("/api/report", method="HEAD")[0::2], (200, b"")),
)

faults = []
ok = f"Host: {server.host}\r\nCookie: {server.cookie}\r\nConnection: close\r\n\r\n".encode()
for name, data in {
    "a header of 1 MB": b"GET / HTTP/1.1\r\nX: " + b"a" * (1 << 20) + b"\r\n" + ok,
    "10,000 header fields": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10000 + ok,
    "an address of 1 MB": b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n" + ok,
    "1,000 parameters": b"GET /api/info?" + b"a=b&" * 1000 + b" HTTP/1.1\r\n" + ok,
    "a body of 1 GB": f"POST /api/reload HTTP/1.1\r\nOrigin: {own}\r\nContent-Length: 1000000000\r\n".encode() + ok + b"x" * 65536,
    "a body without end": f"POST /api/reload HTTP/1.1\r\nOrigin: {own}\r\nTransfer-Encoding: chunked\r\n".encode() + ok + b"fff\r\n" + b"x" * 4095,
    "a negative body": f"POST /api/reload HTTP/1.1\r\nOrigin: {own}\r\nContent-Length: -1\r\n".encode() + ok,
    "no words": b"\r\n\r\n",
    "half a line": b"GET",
    "zeros": bytes(4096),
    "noise": bytes(i * 193 % 251 for i in range(5000)),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "HTTP/9": b"GET / HTTP/9.9\r\n" + ok,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a field without a colon": b"GET / HTTP/1.1\r\nfield\r\n" + ok,
    "a line break in a value": b"GET / HTTP/1.1\r\nX: a\r\n b\r\n\tc\r\n" + ok,
}.items():
    # Those that are not whole requests are waited for: the client ends them.
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as connection:
        received = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                received += part
        except OSError:
            pass
    if received.startswith(b"HTTP/1.1 200") and b"findings" in received:
        faults.append(f"{name}: it was answered")
faults.append(server.serves())
check("requests of every wrong kind leave it serving", *faults)

time.sleep(1.1)  # so many lines a second are written
server.status("/app.js", host="evil.example")
server.status("/app.js", Origin="http://evil.example")
server.status("/api/info", cookie=None)
server.status("/%1b%5b31m%07%c2%9b%e2%80%ae%0alode:%20forged")
said = server.said().decode("utf-8", "replace")
check(
    "standard error tells of refused requests, and of nothing that acts on a terminal",
    expect("a Host", "the Host is not this server's" in said, True),
    expect("an Origin", "another origin" in said, True),
    expect("a token", "no token and no cookie" in said, True),
    *(f"control character {ord(one):#x}" for one in set(said) if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp")),
    expect("a forged line", re.search(r"(?m)^lode: forged", said), None),
    expect("the token or the cookie in it", server.token in said or server.cookie.split("=")[1] in said, False),
)


def many_bad(_):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    n = 0
    for i in range(100):
        connection.request("GET", f"/api/report?{i}", headers={"Host": "evil.example"})
        answer = connection.getresponse()
        answer.read()
        n += answer.status == 403
    connection.close()
    return n


with concurrent.futures.ThreadPoolExecutor(10) as pool:
    refused = sum(pool.map(many_bad, range(10)))
lines = len(server.said().splitlines())
check(
    "1,000 bad requests leave it serving, and the log readable",
    expect("refused", refused, 1000), expect("more than 800 lines of log", lines > 800, False), server.serves(),
)

with concurrent.futures.ThreadPoolExecutor(200) as pool:
    statuses = list(pool.map(lambda _: server.status("/api/functions"), range(200)))
check("200 clients at once are answered", *{expect("status", one, 200) for one in statuses}, server.serves())

slow = []
for i in range(300):
    try:
        one = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        one.sendall(b"GET /api/report HTTP/1.1\r\nHost: ")
        slow.append(one)
    except OSError:
        break
begun = time.monotonic()
fault = server.serves()
for one in slow:
    one.close()
check("300 requests that never end (slow loris) leave it serving", fault, expect("slow clients", len(slow) > 150, True))

# Answers that nobody reads, and clients that go in the middle.
for i in range(20):
    one = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT)
    one.sendall(f"GET /api/report?all=1&reverse={i % 2} HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\n\r\n".encode())
    one.close()
check("clients that go in the middle leave it serving", server.serves())

before = len(json.loads(server.get("/api/profiles")[2])["profiles"][0]["runs"])
lode("mine", "x.lode", "--name", "more", "--min-support", "0.5")
after = json.loads(server.get("/api/profiles")[2])["profiles"][0]["runs"]
shutil.copy("other.lode", "new.lode")
os.rename("new.lode", "x.lode")
replaced = server.get("/api/report")
listed = json.loads(server.get("/api/profiles")[2])["profiles"]
reloaded = server.status("/api/reload", method="POST", Origin=own)
back = server.serves()
os.remove("x.lode")
removed = server.get("/api/report")
pathlib.Path("x.lode").write_text("not a profile")
garbled = server.get("/api/reload", method="POST", Origin=own)
os.remove("x.lode")
check(
    "a profile that changes is read again; one that is replaced or removed is an error",
    expect("runs after lode mine", (before, after), (1, ["main", "more"])),
    expect("replaced", (replaced[0], json.loads(replaced[2])["error"]["code"]), (409, "replaced")),
    expect("its fault", "replaced" in (listed[0]["fault"] or ""), True),
    expect("the other", listed[1]["fault"], None),
    expect("reload", reloaded, 200), back,
    expect("removed", (removed[0], json.loads(removed[2])["error"]["code"]), (410, "removed")),
    expect("what is no profile", garbled[0], 500),
    expect("the other profile", server.status("/api/report?profile=1"), 200),
)

check("Ctrl-C ends it", server.end())

# What nothing weighs can be opened, and not compared: the other one lacks its event.
pathlib.Path("nothing.flow").write_text("lode-flow 1\ngraph g\nv a 0 1 op:add\n")
lode("import", "nothing.flow", "-o", "nothing.lode")
lode("import", FLOW, "-o", "x.lode")
server = Server("x.lode", "nothing.lode")
status, _, answer = server.get("/api/diff?base=1")
check(
    "a comparison with a profile without weight says why it is refused",
    expect("status", status, 404),
    expect("code", json.loads(answer)["error"]["code"], "not-found"),
    expect("reason", "no event 'weight'" in json.loads(answer)["error"]["message"], True),
    server.end(),
)

# The same question, asked in the terminal and by an address: the same options, and of wrong ones the same words.
FOR_TERMINAL = {
    "report": {"html", "source", "findings", "fail-on", "mute", "functions", "callers", "callees", "image", "programs", "by", "full-names", "lines", "waits"}, "annotate": {"source", "all", "no-pager", "full-names"}, "diff": {"full-names"},
    "memory": {"full-names", "output", "plot", "plot-colour"}, "place": {"output"}, "info": set(),
    "trace info": {"verify"},
    "trace simulate": {"threads", "output", "jit", "plot-objects", "plot-curve", "plot-reuse", "plot-times", "no-follow", "only", "allocations"},
}
SUBJECTS = {"sequence": lambda value: [value], "finding": lambda value: ["F" + value], "function": lambda value: ["function", value],
            "line": lambda value: ["line", value]}
WRONG = {
    "report": ["limit=x", "limit=-1", "min-weight=2", "size=0-1", "size=x", "sort=evil", "baseline=x", "baseline=999999", "percent-limit=x", "min-weigh=1%",
               "explain=1&all=1", "min-functions=1.5", "origin=evil", "time=2..1", "thread=a&origin=b", "pid=x"],
    "annotate": ["sequence=99999999", "finding=99999", "finding=1&context=x", "finding=1&limit=-1", "function=no such", "line=x", "line=x.c:0",
                 "finding=1&contxt=3", "finding=1&run=evil", "finding=1&where=evil ==", "finding=1&origin=a&command=b"],
    "memory": ["top=x", "sort=evil", "granularity=0", "sharing=1&granularity=8", "by=object&sharing=1", "by2=object", "by=(", "by=object&sort=evil",
               "first-touch=1&by=line", "layout=x&coverage=1", "layout=evil", "weight=evil", "weight=latency", "callers=1000", "by-thread=1&together=1",
               "by-thread=1&coverage=1", "where=evil ==", "alocations=1", "allocations=1", "define=x", "thread=evil"],
    "place": ["policy=evil", "threads-per-memory=x", "pid=-1", "polcy=majority", "event=evil"],
    "info": ["formt=json", "format=xml"],
    "diff": ["by=evil", "limit=x", "fail-above=x", "min-support=0", "min-support=2", "weight=evil", "normalise=evil"],
    "trace info": ["format=xml", "quick=1&from=5", "count=x", "function=nowhere", "quik=1"],
    "trace simulate": ["cache=evil", "cache=d1=1K:2:63", "curve=evil", "line=63", "quantum=0", "over-time=0", "over-time=5&every=10&length=5", "every=10",
                       "every=10&length=20", "warm-up=5", "sharing=1&by=line", "branches=evil", "branches=tage&sharing=1", "event=x", "top=5", "by=evil",
                       "by=object&event=evil", "sharing=1", "from=x", "classfy=1", "curve=data&by=line"],
}
pathlib.Path("t.csv").write_text("kind,address,size\n" + "".join(f"fetch,{0x1000 + 4 * (i % 8)},4\nload,{0x8000 + 8 * i},8\n" for i in range(2000)))
lode("trace", "pack", "t.csv", "-o", "t.rps")
lode("import", "t.rps", "--simulate", "d1=1K:2:64", "-o", "memory.lode")
lode("import", FLOW, "-o", "x.lode")
lode("mine", "x.lode", "--min-support", "0.001")
server = Server("x.lode", "memory.lode", "t.rps")
faults = []
wordings = []
for verb, of_terminal in FOR_TERMINAL.items():
    help_text = subprocess.run([LODE, *verb.split(), "--help"], capture_output=True, check=True, text=True).stdout
    takes_value = dict(re.findall(r"^  (?:-\w, |    )--([a-z0-9-]+)(=?)", help_text, re.M))
    del takes_value["help"]
    of_page = "profile=1&" if verb in ("memory", "place") else "base=0&profile=1&" if verb == "diff" else ""
    files = {"memory": ["memory.lode"], "place": ["memory.lode"], "diff": ["x.lode", "memory.lode"], "trace info": ["t.rps"], "trace simulate": ["t.rps"]}.get(verb, ["x.lode"])
    address = f"/api/{verb.replace(' ', '-')}?{of_page}"
    for option in takes_value:
        message = json.loads(server.get(f"{address}{option}=")[2]).get("error", {}).get("message", "")
        faults.append(expect(f"{verb} --{option} is of the page: {message}", "unknown option" in message, option in of_terminal))
    for case in WRONG[verb]:
        options, subject = [], []
        for name, value in (one.split("=", 1) for one in case.split("&")):
            if verb == "annotate" and name in SUBJECTS:
                subject = SUBJECTS[name](value)
            else:
                options.append(f"--{name}" if takes_value.get(name, "=") == "" or value == "1" and name not in takes_value else f"--{name}={value}")
        ran = subprocess.run([LODE, *verb.split(), *files, *subject, *options], capture_output=True, text=True)
        said = ran.stderr.removeprefix(f"lode {verb}: ").split("\nTry ")[0].strip()
        query = "&".join(f"{name}={urllib.parse.quote(value)}" for name, value in (one.split("=", 1) for one in case.split("&")))
        status, _, body = server.get(address + query)
        answered = json.loads(body).get("error", {}).get("message", f"no error, but status {status}")
        bare = lambda text: re.sub(r"--(?=[a-z])", "", re.sub(r"\s+", " ", text)).strip()
        wordings.append(expect(f"{verb} {case}", bare(said), bare(answered)))
        wordings.append(expect(f"status of {verb} {case}", ran.returncode in (1, 2) and status in (400, 404, 422), True))
check("the page has every option of the command line, but for files of this machine", *faults)
check("wrong options have the same words in the terminal and in the page", *wordings)
check("Ctrl-C ends that server, too", server.end())

# Sequences of one origin have the name of the run of all, and are kept beside its own.
pathlib.Path("more.flow").write_text(pathlib.Path(FLOW).read_text().replace("op:mov ", "op:lea ").replace("loop:1", "loop:2"))
lode("import", "more.flow", "-o", "more.lode")
lode("import", FLOW, "-o", "x.lode")
lode("merge", "--same-paths", "x.lode", "more.lode", "-o", "all.lode")
lode("mine", "all.lode", "--min-support", "0.2", "--min-functions", "1")
server = Server("all.lode")
faults = []
for query in ("origin=x", "", "origin=more", "text=add", "text=add&origin=more", "text=add%0Aorigin=more"):
    words = [word for name, value in urllib.parse.parse_qsl(query) for word in (f"--{name}", value)]
    ran = subprocess.run([LODE, "report", "all.lode", "--sort", "excess", "--format", "json", *words], capture_output=True, check=True)
    passed = len(json.loads(ran.stdout)["sequences"])
    faults.append(expect(f"sequences of '{query}'", json.loads(server.get(f"/api/report?sequences=1&{query}")[2])["passed"], passed))
check("sequences of an origin are not mixed up with those of all", *faults)
faults = []
for query in ("", "weight=l1d-miss", "origin=x", ""):
    words = [word for name, value in urllib.parse.parse_qsl(query) for word in (f"--{name}", value)]
    ran = subprocess.run([LODE, "annotate", "all.lode", "1", "--format", "json", *words], capture_output=True, check=True)
    places = [json.loads(text)["places"] for text in (ran.stdout, server.get(f"/api/annotate?sequence=1&{query}")[2])]
    of_terminal, of_page = ([(place["function"], place["share"], place["executions"]) for place in list] for list in places)
    faults.append(expect(f"places of the first sequence, '{query}'", of_page, of_terminal))
check("the code of a sequence has the weight that was asked for", *faults, server.end())

# --open: a link that counts once.
os.mkdir("bin")
opener = pathlib.Path("bin/xdg-open")
opener.write_text(f"#!/bin/sh\necho \"$1\" >{work}/opened.part && mv {work}/opened.part {work}/opened\n")
opener.chmod(0o755)
server = Server("other.lode", "--open", env={"PATH": f"{work}/bin:{os.environ['PATH']}"})
deadline = time.monotonic() + WAIT
while not os.path.exists("opened") and time.monotonic() < deadline:
    time.sleep(0.02)
link = pathlib.Path("opened").read_text().strip().removeprefix(own.rsplit(":", 1)[0] + f":{server.port}")
check(
    "--open opens a link that counts once",
    expect("the printed token", server.token in link, False),
    expect("first", server.status(link, cookie=None), 200),
    expect("second", server.status(link, cookie=None), 403),
    expect("the printed one", [server.status(f"/?token={server.token}", cookie=None) for _ in range(2)], [200, 200]),
    server.end(),
)

taken = socket.create_server(("127.0.0.1", 0))
refusals = {
    "a port that is taken": (["other.lode", "--port", str(taken.getsockname()[1])], 1, "cannot listen"),
    "the network without consent": (["other.lode", "--bind", "0.0.0.0"], 2, "--allow-network"),
    "a name as address": (["other.lode", "--bind", "localhost"], 2, "not a numeric address"),
    "no profile": ([], 2, "PROFILE.lode"),
    "what is not there": (["gone.lode"], 1, "gone.lode"),
}
faults = []
for name, (words, status, text) in refusals.items():
    done = subprocess.run([LODE, "serve", *words], capture_output=True, timeout=WAIT)
    faults += [expect(name, done.returncode, status), expect(f"{name}: {done.stderr}", text in done.stderr.decode(), True)]
check("what cannot be served is refused", *faults)

print(f"1..{number}")
shutil.rmtree(work)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lode mcp beside the protocol's published schema, and beside the verbs that it offers.

    tests/e2e/mcp/mcp.py LODE DATA

schema-*.json are what the schema of a revision (github.com/modelcontextprotocol, schema/*/schema.json)
says of the messages that a server of tools writes; descriptions are left out. Prints TAP.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

HERE = pathlib.Path(__file__).resolve().parent
META = "io.modelcontextprotocol/protocolVersion"
# Files that a verb writes are not an agent's.
WRITTEN = {"output", "html", "plot", "plot-curve", "plot-reuse", "plot-times", "plot-objects"}
TOOLS = ["report", "annotate", "diff", "memory", "place", "trace-info", "trace-simulate", "info"]


class Tap:
    def __init__(self, n_cases):
        self.number = 0
        print(f"1..{n_cases}")

    def case(self, name, fault):
        self.number += 1
        print(f"{'not ' if fault else ''}ok {self.number} - {name}")
        if fault:
            print("# " + str(fault)[:2000].replace("\n", "\n# "))


def request(method, params=None, number=1):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


def call(name, number=1, **arguments):
    named = {key.replace("_", "-"): value for key, value in arguments.items()}
    return request("tools/call", {"name": name, "arguments": named}, number)


class Server:
    def __init__(self, lode):
        self.lode = lode

    def said(self, *lines):
        """What a server answers to these lines, and its status."""
        text = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        done = subprocess.run([self.lode, "mcp"], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        return [json.loads(line) for line in done.stdout.decode().splitlines()], done.returncode, done.stderr

    def one(self, line):
        return self.said(line)[0][0]


def fault_of_schema(revision, kind, value):
    if jsonschema is None:
        return None
    schema = json.loads((HERE / f"schema-{revision}.json").read_text(encoding="utf-8"))
    inside = "$defs" if "$defs" in schema else "definitions"
    whole = dict(schema, **{"$ref": f"#/{inside}/{kind}"})
    found = list(jsonschema.Draft202012Validator(whole).iter_errors(value))
    return found[0].message if found else None


def text_of(answer):
    return answer["result"]["content"][0]["text"]


def fault_of_parameters(lode, tool):
    """A tool has each option of its verb but those that name files to write."""
    named = subprocess.run([lode, *tool["name"].split("-"), "--help=all"], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    options = set(re.findall(r"^  (?:-\S, |    )--([a-z0-9-]+)", named, re.M)) - {"help"}
    has = set(tool["inputSchema"]["properties"])
    missing = options - has - WRITTEN
    written = has & WRITTEN
    return f"{tool['name']}: missing {missing}, written {written}" if missing or written else None


def main():
    lode, data = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    tap = Tap(22)
    server = Server(lode)
    os.chdir(tempfile.mkdtemp())
    for verb in (["import", f"{data}/flow/causes.flow", "-o", "x.lode"], ["mine", "x.lode"]):
        subprocess.run([lode, *verb], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    begun = server.one(request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                              "clientInfo": {"name": "test", "version": "1"}}))
    tap.case("a session begins", fault_of_schema("2025-06-18", "InitializeResult", begun["result"]) or
             (begun["result"]["protocolVersion"] != "2025-06-18" and begun))
    newer = server.one(request("initialize", {"protocolVersion": "2031-01-01"}))["result"]
    tap.case("a revision that is not known yet", newer["protocolVersion"] != "2025-11-25" and newer)
    found = server.one(request("server/discover", {"_meta": {META: "2026-07-28"}}))
    tap.case("no session is needed", fault_of_schema("2026-07-28", "DiscoverResult", found["result"]))
    refused = server.one(request("ping", {"_meta": {META: "1900-01-01"}}))
    tap.case("a revision that was never", fault_of_schema(
        "2026-07-28", "UnsupportedProtocolVersionError", refused))

    listed = server.one(request("tools/list"))["result"]
    for revision in ("2025-06-18", "2026-07-28"):
        tap.case(f"tools as {revision} has them", fault_of_schema(revision, "ListToolsResult", listed))
    names = [tool["name"] for tool in listed["tools"]]
    tap.case("the questions are the tools", names != TOOLS and names)
    for tool in listed["tools"]:
        if jsonschema is not None:
            jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    faults = [fault_of_parameters(lode, tool) for tool in listed["tools"]]
    tap.case("parameters are the verbs' options", [fault for fault in faults if fault])

    def printed(*words):
        done = subprocess.run([lode, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        return done.stdout

    answers, status, errors = server.said(
        call("report", 1, profile="x.lode"), call("report", "b", profile="x.lode", explain=True, diagnosis=1),
        call("report", 3, profile="x.lode", format="json", limit=2, findings=True),
        call("diff", 4, profiles=["x.lode", "x.lode"], by="functions"),
        call("annotate", 5, profile="x.lode", all=False, diagnosis=1))
    tap.case("a dialogue", (status != 0 or errors or [one["id"] for one in answers] != [1, "b", 3, 4, 5])
             and (status, errors, answers))
    for revision in ("2025-06-18", "2026-07-28"):
        faults = [fault_of_schema(revision, "CallToolResult", one["result"]) for one in answers]
        tap.case(f"answers as {revision} has them", [fault for fault in faults if fault])
    alike = [("x.lode",), ("x.lode", "--explain", "D1"), ("x.lode", "--format=json", "--limit=2", "--findings")]
    wrong = [words for words, one in zip(alike, answers) if text_of(one) != printed("report", *words)]
    tap.case("answers are those of the verb", wrong)
    tap.case("a comparison", text_of(answers[3]) != printed("diff", "x.lode", "x.lode", "--by=functions")
             and answers[3])

    def refused_by(said, *lines):
        answer = server.one(lines[0])
        is_error = answer.get("result", {}).get("isError")
        return None if is_error and said in text_of(answer) else answer

    tap.case("a file that is missing", refused_by("none.lode", call("report", profile="none.lode")))
    tap.case("no file", refused_by("'profile' is missing", call("report")))
    tap.case("a parameter that is none", refused_by("'topp'", call("report", profile="x.lode", topp=1)))
    tap.case("a value that is none", refused_by("limit", call("report", profile="x.lode", limit="many")))
    tap.case("nothing is written", refused_by("'html'", call("report", profile="x.lode", html="y.html"))
             or (os.listdir(".") != ["x.lode"] and os.listdir(".")))
    tap.case("a tool that is none", fault_of_schema("2026-07-28", "JSONRPCErrorResponse", server.one(call("run"))))

    hostile = [("", None), ("{", -32700), (b"\xff\xfe{}", -32700), (b'{"a\0": 1}', -32700), ("[" * 100000, -32700),
               ('{"a":' * 70 + "1" + "}" * 70, -32700), ('{"x": "' + "a" * 5000000 + '"}', -32700),
               ("[]", -32600), ("7", -32600), ("null", -32600), ('{"id": 1}', -32600),
               ('{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
               ('{"jsonrpc": "2.0", "method": "tools/list"}', None),
               (request("tools/call", {"name": 7}), -32602),
               ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 0),
               ('{"jsonrpc": "2.0", "id": 1e308, "method": "ping", "params": []}', 0),
               (request("resources/list"), -32601)]
    wanted = [code for _, code in hostile if code is not None]
    answers, status, errors = server.said(*(line for line, _ in hostile), request("ping", {}, "last"))
    codes = [one["error"]["code"] if "error" in one else 0 for one in answers[:-1]]
    tap.case("hostile lines", (status != 0 or codes != wanted) and (status, codes, errors))
    tap.case("and the server goes on", answers[-1]["id"] != "last" and answers[-1])
    odd = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "report", "arguments": given}})
           for given in ({"profile": ["x.lode", "x.lode"]}, {"profile": {"a": 1}}, {"profile": None}, [], 7,
                         {"profile": "x.lode", "findings": 3}, {"profile": "-"},
                         {"profile": "x.lode", "text": "\u0000\ud800"})]
    answers, status, errors = server.said(*odd, request("ping", {}, "last"))
    kept = [one for one in answers[:-1] if not (one.get("result", {}).get("isError") or "error" in one)]
    tap.case("odd arguments", (status != 0 or kept or answers[-1]["id"] != "last") and (status, kept, errors))


main()

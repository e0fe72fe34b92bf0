#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""context.py SCENE: records scenes of scenes.c with --context and compares with what the program did.

HODO, SCENES (a directory with the builds), COMPARE are in the environment."""
import os
import random
import re
import shutil
import signal
import subprocess
import time

from hodo_test import LIMIT_S, compare, events, hodo, program, scenes

programs = program("SCENES")
ALL = "comm,pid,ip,callstack,stack=1024"


def read(trace):
    compare(trace)
    return events(trace)


def record(d, program, scene, context, *options, expect=0):
    trace = f"{d}/trace-{program}-{scene}-{len(os.listdir(d))}"
    # Nothing may be lost: every event is compared.
    done = hodo("record", "-q", "-m", "32M", "-o", trace, "--context", context, *options, "--",
               f"{programs}/{program}", *([scene] if scene else []), cwd=d)
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "lost" not in done.stderr, done.stderr
    return read(trace)


def plain(symbols):
    """Functions without their offsets and arguments."""
    return [re.sub(r"\+0x[0-9a-f]+$", "", s) for s in symbols]


def begins(symbols, *names):
    assert plain(symbols)[:len(names)] == list(names), (symbols, names)


def check_chain(d):
    for program in ("O0", "O2_frame", "O2_none"):
        events = record(d, program, "chain", "comm,pid,ip,callstack,stack")
        frames = program != "O2_none"
        assert {e["name"] for e in events} == {"ctx:leaf", "ctx:span.begin", "ctx:span.end", "ctx:mark", "ctx:point",
                                               "ctx:counter"}
        for e in events:
            c, s = e["context"], e["symbols"]
            assert c["comm"] == program and c["pid"] == e["pid"] == e["tid"]
            assert c["ip"] == c["callstack"][0] == c["stack_regs"][0] and len(c["stack_regs"]) == 3
            assert 0 < len(c["stack"]) <= 2 * 8192 and len(s["callstack"]) == len(c["callstack"]) <= 32
            if e["name"] != "ctx:leaf":
                helper = program == "O0" and e["name"] in ("ctx:point", "ctx:span.end")
                assert helper or plain([s["ip"]]) == ["spans"], s
                assert plain(s["stack"])[helper:][:3] == ["spans", "scene_chain", "main"], s["stack"]
                continue
            chain = ["leaf"] + (["recurse"] * 6 if e["fields"]["n"] == 100 else ["middle", "outer"])
            chain += ["scene_chain", "main"]
            assert plain([s["ip"]]) == ["leaf"]
            begins(s["stack"], *chain)
            assert plain(s["stack"])[-1] == "_start", s["stack"]
            if frames:
                begins(s["callstack"], *chain)
    for context, keys in (("comm", ["comm"]), ("pid", ["pid"]), ("ip", ["ip"]), ("callstack", ["callstack"]),
                          ("stack=64", ["stack_regs", "stack"]), ("ip,comm", ["comm", "ip"]),
                          ("callstack=1", ["callstack"]), ("stack=32768", ["stack_regs", "stack"])):
        for e in record(d, "O2_frame", "chain", context):
            assert list(e["context"]) == keys, e
            assert len(e["context"].get("callstack", [])) <= (1 if context == "callstack=1" else 32)
            assert len(e["context"].get("stack", "")) <= (128 if context == "stack=64" else 65536)


def check_text(d):
    trace = f"{d}/trace"
    done = hodo("record", "-q", "-o", trace, "--context", "ip,pid,callstack=3", "--", f"{programs}/O2_frame",
               "chain")
    assert done.returncode == 0, done.stderr
    line = hodo("print", trace).stdout.splitlines()[0]
    assert re.search(r"ctx:leaf n=0 text=\"\" \{pid=\d+ ip=leaf\+0x[0-9a-f]+ callstack=\[leaf\+0x[0-9a-f]+, "
                     r"middle\+0x[0-9a-f]+, outer\+0x[0-9a-f]+\]\}$", line), line
    metadata = open(f"{trace}/{[f for f in os.listdir(trace) if f[0] != '.'][0]}/metadata", encoding="ascii").read()
    assert "/*@context fields=pid:u32,ip:ptr,callstack:ptr[]*/" in metadata
    # Names without the program file.
    shutil.copy(f"{programs}/O2_frame", f"{d}/moved")
    done = hodo("record", "-q", "-o", trace, "--context", "callstack", "--", f"{d}/moved", "chain")
    os.unlink(f"{d}/moved")
    line = hodo("print", trace).stdout.splitlines()[0]
    assert re.search(r"callstack=\[leaf\+0x[0-9a-f]+, middle\+", line), line
    for trace_options in (["stat", trace], ["info", trace], ["list", trace]):
        assert hodo(*trace_options).returncode == 0


def check_deep(d):
    for program in ("O0", "O2_frame", "O2_none"):
        for e in record(d, program, "deep", "callstack=128,stack=32768", "-m", "4M"):
            chain = ["leaf"] + ["recurse"] * (3001 if e["fields"]["n"] == 1 else 21) + ["scene_deep", "main"]
            stack, callstack = plain(e["symbols"]["stack"]), plain(e["symbols"]["callstack"])
            assert len(stack) > min(len(chain), 150) and stack[:len(chain)] == chain[:len(stack)], stack
            if program != "O2_none":
                assert callstack[:len(chain)] == chain[:128], callstack


def check_threads(d):
    events = record(d, "O2_frame", "threads", ALL, "-m", "64M")
    assert len(events) == 320
    for e in events:
        assert e["context"]["comm"] == f"worker-{e['fields']['n'] // 1000}", e
        assert e["context"]["pid"] == e["pid"] and e["tid"] != e["pid"]
        begins(e["symbols"]["callstack"], "leaf", "middle", "outer", "thread")
        begins(e["symbols"]["stack"], "leaf", "middle", "outer", "thread")


def check_rename(d):
    events = record(d, "O2_frame", "rename", "comm")
    assert [e["context"]["comm"] for e in events] == ["name-0", "name-1", "name-2", "", "name-4"], events


def check_signals(d):
    for program in ("O0", "O2_frame", "O2_none"):
        events = record(d, program, "signals", ALL, "-e", "ctx:handler")
        assert [e["fields"]["n"] for e in events] == list(range(len(events))) and len(events) >= 100
        for e in events:
            begins(e["symbols"]["stack"], "in_handler", "handler")
            assert 0 < len(e["context"]["stack"]) // 2 <= 1024
            if program != "O2_none":
                begins(e["symbols"]["callstack"], "in_handler", "handler")
        trace = f"{d}/flight-{program}"
        done = hodo("record", "-q", "--overwrite", "-m", "64K", "-o", trace, "--context", ALL, "--",
                   f"{programs}/{program}", "signals")
        assert done.returncode == 0, (done.returncode, done.stderr)
        for e in read(trace):
            if e["name"] == "ctx:leaf":
                begins(e["symbols"]["stack"], "leaf", "middle", "outer", "scene_signals")


def check_garbage(d):
    for program in ("O0", "O2_none"):
        events = record(d, program, "garbage", ALL, "-m", "64M")
        assert len(events) == 231, len(events)
        for e in events:
            assert all(0 < address < 1 << 56 for address in e["context"]["callstack"]), e["context"]["callstack"]
            assert plain([e["symbols"]["ip"]]) == ["bare_leaf"]
            begins(e["symbols"]["stack"], "bare_leaf", "with_rbp", "scene_garbage", "main")


def check_coroutines(d):
    for program in ("O0", "O2_frame", "O2_none"):
        events = record(d, program, "coroutines", ALL)
        assert len(events) == 120
        for e in events:
            root = "scene_coroutines" if e["fields"]["n"] >= 1000 else "coroutine"
            begins(e["symbols"]["stack"], "leaf", "middle", "outer", root)
            if program != "O2_none":
                begins(e["symbols"]["callstack"], "leaf", "middle", "outer", root)


def check_fork(d):
    events = record(d, "O2_frame", "fork", ALL)
    assert len(events) == 93
    for e in events:
        assert e["context"]["pid"] == e["pid"] == e["tid"]
        begins(e["symbols"]["callstack"], "leaf", "middle", "outer", "scene_fork", "main")
        begins(e["symbols"]["stack"], "leaf", "middle", "outer", "scene_fork", "main")
    assert len({e["pid"] for e in events}) == 5


def check_filters(d):
    events = record(d, "O2_frame", "chain", ALL, "-e", "ctx:leaf", "--filter", "n % 2 == 1 && text == \"odd\"")
    assert [e["fields"]["n"] for e in events] == [1, 3, 5, 7, 9]
    for e in events:
        begins(e["symbols"]["callstack"], "leaf", "middle", "outer")


def check_functions(d):
    events = record(d, "functions", "chain", ALL, "--functions")
    calls = [e for e in events if e["name"].startswith("func:")]
    others = [e for e in events if not e["name"].startswith("func:")]
    assert len(others) == 16 and len(calls) > 40 and not any("context" in e for e in calls)
    for e in others:
        if e["name"] == "ctx:leaf" and e["fields"]["n"] < 100:
            begins(e["symbols"]["stack"], "leaf", "middle", "outer", "scene_chain")


def check_cxx(d):
    for program in sorted(os.listdir(programs)):
        if not program.startswith("cxx_"):
            continue
        # Without optimisation, what the headers inline has separate room in the frame of leaf().
        events = record(d, program, None, ALL.replace("stack=1024", "stack=4096"))
        names = {e["name"] for e in events}
        assert names == {"cxx:leaf", "cxx:text", "cxx:empty", "cxx:mark", "cxx:point", "cxx:span.begin", "cxx:span.end",
                         "cxx:request.begin", "cxx:request.end"}, names
        for e in events:
            stack = [s.split("(")[0] for s in e["symbols"]["stack"]]
            # Without optimisation, a tracepoint is a separate function.
            helper = stack[0] == "trace_cxx_point"
            assert stack[helper:helper + 2] == ["app::leaf", "void app::middle<int>"] and \
                stack[helper + 2].startswith("main+"), (program, e["name"], stack)
            if not program.endswith("none"):
                callstack = [s.split("(")[0] for s in e["symbols"]["callstack"]]
                assert callstack[:3] == stack[:3], (program, e["name"], callstack, stack)


def check_sandbox(d):
    events = record(d, "O2_frame", "sandbox", "callstack=128,ip,stack=4097")
    assert [e["context"]["stack"] for e in events] == ["", ""]  # more than a page: needs the system call
    events = record(d, "O2_frame", "sandbox", "callstack=128,ip,stack=16")
    assert len(events) == 2
    for e in events:
        assert plain([e["symbols"]["ip"]]) == ["leaf"]
        assert plain(e["symbols"]["callstack"])[0] == "leaf" and plain(e["symbols"]["stack"])[0] == "leaf"
        assert len(e["context"]["callstack"]) < 100  # what lies in the page of the stack pointer


def check_attach(d):
    trace = f"{d}/trace"
    environment = dict(os.environ, HODO_LISTEN="1", XDG_RUNTIME_DIR=d, LD_PRELOAD=os.environ["LIBRARY"])
    program = subprocess.Popen([f"{programs}/O2_frame", "wait"], cwd=d, env=environment)
    try:
        until = time.monotonic() + LIMIT_S
        while not os.path.exists(f"{d}/hodo/{program.pid}"):
            assert time.monotonic() < until and program.poll() is None
            time.sleep(0.01)
        for _ in range(3):  # recordings one after another, with and without context
            for context in (ALL, None, "callstack=2"):
                options = ["--context", context] if context else []
                done = hodo("record", "-q", "-p", program.pid, "--duration", "1", "-o", trace, *options,
                           env=dict(os.environ, XDG_RUNTIME_DIR=d))
                assert program.poll() is None, program.returncode
                assert done.returncode in (0, 128 + signal.SIGTERM), (done.returncode, done.stderr)
                events = read(trace)
                assert events
                for e in events:
                    assert ("context" in e) == bool(context), e
                    if context == ALL:
                        begins(e["symbols"]["stack"], "leaf", "middle", "outer", "scene_wait", "main")
                    if context:
                        begins(e["symbols"]["callstack"], "leaf", "middle")
    finally:
        open(f"{d}/stop", "w", encoding="ascii").close()
        program.wait(timeout=LIMIT_S)
    assert program.returncode == 0, program.returncode


def check_damaged(d):
    """A recording may claim anything about its context, and its events hold anything: readers never crash."""
    trace = f"{d}/trace"
    done = hodo("record", "-q", "-o", trace, "--context", ALL, "--", f"{programs}/O2_frame", "chain")
    assert done.returncode == 0, done.stderr
    folder = f"{trace}/{[f for f in os.listdir(trace) if f[0] != '.'][0]}"
    stream = f"{folder}/{[f for f in os.listdir(folder) if f.startswith(('cpu', 'fallback'))][0]}"
    with open(f"{folder}/metadata", "rb") as f:
        metadata = f.read()
    with open(stream, "rb") as f:
        events = f.read()
    line = re.search(rb"/\*@context .*\n", metadata).group()

    def attempt(new_metadata, new_events=events):
        for path, data in ((f"{folder}/metadata", new_metadata), (stream, new_events)):
            with open(path, "wb") as f:
                f.write(data)
        for command in (["print", "--json"], ["print"], ["stat"], ["info"], ["list"]):
            done = hodo(*command, trace, errors="replace")
            assert done.returncode in (0, 1), (command, done.returncode, done.stderr)
        return done

    for bad in (b"", line + line, b"/*@context*/\n", b"/*@context fields=*/\n", b"/*@context fields=a:b*/\n",
                b"/*@context fields=" + b",".join(b"f%d:str" % i for i in range(13)) + b"*/\n",
                b"/*@context fields=" + b",".join(b"f%d:u64[]" % i for i in range(12)) + b"*/\n",
                b"/*@context fields=stack:bytes,stack_regs:u64[],callstack:str,ip:ptr[],comm:f64*/\n",
                line.replace(b"stack_regs:u64[]", b"stack_regs:u8[]"), line.replace(b"bytes", b"str")):
        attempt(metadata.replace(line, bad))
    attempt(metadata.replace(line, b"") + line)
    random.seed(1)
    for i in range(60):
        spoilt, lines = bytearray(events), bytearray(metadata)
        for _ in range(random.randrange(1, 40)):
            spoilt[random.randrange(88, len(spoilt))] = random.choice((0, 1, 255, random.randrange(256)))
        if i % 3 == 0:
            lines[metadata.index(line) + random.randrange(len(line))] = random.randrange(256)
        if i % 5 == 0:
            at = metadata.index(b"/*@object")
            lines[at + random.randrange(200)] = ord(random.choice("0123456789abcdef=/ "))
        attempt(bytes(lines), bytes(spoilt))


def check_options(d):
    def refused(context, text, code=2):
        done = hodo("record", "-o", f"{d}/none", "--context", context, "--", "true", cwd=d)
        assert done.returncode == code and text in done.stderr and done.stderr.startswith("hodo: "), \
            (context, done.returncode, done.stderr)
        assert done.stderr.count("\n") <= 2 and not os.path.exists(f"{d}/none")

    for bad in ("", "com", "comm=1", "pid,", "callstack=0", "callstack=129", "callstack=x", "stack=0", "stack=32769",
                "perf", "perf:", "perf:nothing", "perf:r", "perf:rxyz", "perf:r0"):
        refused(bad, "--context")
    done = hodo("record", "-q", "-o", f"{d}/counted", "--context", "perf:cycles,perf:instructions", "--",
               f"{programs}/O2_frame", "threads", cwd=d)
    if done.returncode == 0:
        last = {}
        for e in read(f"{d}/counted"):
            c = e["context"]
            assert c["perf_cycles"] >= last.get(e["tid"], 0), e
            last[e["tid"]] = c["perf_cycles"]
        return
    assert re.match(r"hodo: (this machine has no hardware counters: |perf:cycles may not be counted here: |"
                    r"perf:\w+ cannot be |perf:\w+ finds no )", done.stderr), done.stderr
    assert done.returncode == 1 and not os.path.exists(f"{d}/counted")
    print(f"no counters are compared here: {done.stderr.strip()}")


scenes(globals())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py --kernel KDIR --out O [--events "sched irq"] [--include DIR]... - makes events of the kernel's tracepoints.

Run by src/kmod/Makefile before kbuild. Finds the kernel's headers of tracepoints, writes a C file for each that has
stages.h expand it, and compiles them with kbuild in O: what compiles is the build's object. Events that do not compile
in a module, or need what the kernel does not export, are left out. All of that is found out anew for each kernel.
In O/events:

  ev_HEADER.c    made of one header
  table.c        struct hodo_tracepoint_table: all events of hodo.ko
  set_HEADER.c   a module hodo_HEADER.ko, of events that need symbols of another module, or of a header of one's own
  events.mk      for Kbuild
  events.skipped what is left out, and why
  events.json    what was found out, for the next run: an unchanged kernel is not asked again"""
import argparse
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SPDX = "/* SPDX-License-Identifier: MIT OR GPL-2.0-only */\n/* Made by generate.py. */\n"
ROUNDS_MAX = 16  # of compiling a header again with fewer events
EVENT_MACRO = re.compile(r"^\s*([A-Z0-9_]*EVENT[A-Z0-9_]*)\s*\(\s*(\w+)\s*(?:,\s*(\w+))?", re.M)
OUR_FUNCTION = re.compile(r"hodo_(measure|probe|describe|check)_(\w+)")


def say(text):
    print("hodo: " + text, file=sys.stderr, flush=True)


class Header:
    """One header of tracepoints, and what of it can be used."""

    def __init__(self, include, path, own=None):
        self.include, self.path = include, path
        self.own = own     # folder; None: it is the kernel's
        self.name = re.sub(r"\W", "_", path.stem)
        self.text = path.read_text(errors="replace")
        self.digest = hashlib.sha256(self.text.encode()).hexdigest()
        self.skipped = {}  # "class NAME", "event NAME" -> why
        self.lost = None   # why there is nothing of it
        self.modules = []  # whose symbols it needs
        self.events = []
        self.error = "does not compile"

    @functools.cached_property
    def blocks(self):
        """(first line, last line, text, what to skip to be without it) of each use of a macro that defines events."""
        found = []
        for m in EVENT_MACRO.finditer(self.text):
            depth = 0
            for p in re.compile("[()]").finditer(self.text, m.end(1)):
                end = p.start()
                depth += 1 if p.group() == "(" else -1
                if depth == 0:
                    break
            macro, one, two = m.groups()
            what = (f"event {two}" if macro.startswith("DEFINE_EVENT") else
                    f"class {one}" if macro.startswith(("DECLARE_EVENT", "TRACE_EVENT")) else None)
            first, last = (self.text.count("\n", 0, at) + 1 for at in (m.start(1), end))
            found.append((first, last, self.text[m.start(1):end], what))
        return found

    def callers(self, function):
        """The classes whose fields are filled in with the function, by their text."""
        use = re.compile(rf"TP_STRUCT__entry(?:(?!TP_printk).)*\b{function}\s*\(", re.S)
        return [what for _, _, text, what in self.blocks if what and use.search(text)]

    def at_line(self, line):
        """What is to be skipped if that line is wrong; None: it is in no event."""
        return next((what for first, last, _, what in reversed(self.blocks) if first <= line <= last), None)

    def source(self):
        structs = sorted(set(re.findall(r"\bstruct\s+(\w+)\s*\*", self.text)))
        lines = [SPDX]
        lines += [f"struct {s};" for s in structs]
        if "CREATE_TRACE_POINTS" in self.text:
            lines += ["#define HODO_HEADER_CREATES"]
        for what in sorted(self.skipped):
            kind, name = what.split()
            lines += [f"#define HODO_SKIP_{kind.upper()}_{name} ~,"]
        lines += [f"#define HODO_HEADER <{self.include}>", '#include "stages/stages.h"', ""]
        return "\n".join(lines)

    STATE = "skipped", "lost", "modules", "events", "digest"

    def state(self):
        return {k: getattr(self, k) for k in self.STATE}

    def set_state(self, state):
        for k in self.STATE:
            setattr(self, k, state[k])


def find_headers(kernel, own):
    """All headers of tracepoints that a module can include, by name. own: folders of further ones."""
    common = source_tree(kernel)
    arch = {"x86_64": "x86", "amd64": "x86"}.get(os.uname().machine, os.uname().machine)
    config = (kernel / ".config").read_text(errors="replace") if (kernel / ".config").exists() else ""
    arch = "x86" if "CONFIG_X86=y" in config else "arm64" if "CONFIG_ARM64=y" in config else arch
    places = [(common / "include", "trace/events"), (common / "include", "ras"),
              (common / f"arch/{arch}/include", "asm")] + [(folder, "trace/events") for folder in own]
    found = {}
    for base, below in places:
        for path in sorted((base / below).rglob("*.h")):
            text = path.read_text(errors="replace")
            if "TRACE_SYSTEM" in text and EVENT_MACRO.search(text):
                header = Header(str(path.relative_to(base)), path, base if base in own else None)
                while header.name in found:
                    header.name += "_"
                found[header.name] = header
    return found


def source_tree(kernel):
    """Where the headers are: beside what was built of them, or where kbuild's Makefile says."""
    if (kernel / "include/trace/events").is_dir():
        return kernel
    for line in (kernel / "Makefile").read_text().splitlines():
        found = re.match(r"include\s+(\S+)/Makefile", line)
        if found:
            return pathlib.Path(found.group(1))
    if (kernel / "source/include/trace/events").is_dir():
        return kernel / "source"
    raise SystemExit(f"hodo: no include/trace/events for {kernel}: install the kernel's headers")


class Build:
    """kbuild in the directory O."""

    def __init__(self, kernel, out, jobs):
        self.kernel, self.out, self.jobs = kernel, out, jobs
        self.dir = out / "events"
        # The variables that our own make was given (O=, KVER=) are none of kbuild's.
        ours = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL")
        self.env = {k: v for k, v in os.environ.items() if k not in ours} | {"LC_ALL": "C"}

    def make(self, targets, *options):
        command = ["make", "-s", "-k", f"-j{self.jobs}", "-Otarget", "-C", str(self.kernel), f"M={self.out}", *options,
                   *(f"events/{t}" for t in targets)]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, errors="replace")

    def write(self, name, text):
        """Only if it changes, so that nothing is compiled again for nothing."""
        path = self.dir / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def kbuild(self, objects, modules):
        """What Kbuild includes. objects: each with a folder of headers, or None. The precompiled header must be the compiler's first, and know no macro that differs."""
        flags = ("$(obj)/events/ev_%.o: NOSTDINC_FLAGS := -include $(obj)/events/prelude.h $(NOSTDINC_FLAGS)\n"
                 "$(obj)/events/ev_%.o: basename_flags := -DKBUILD_BASENAME='\"hodo_events\"'\n"
                 "$(obj)/events/ev_%.o: modname_flags := -DKBUILD_MODNAME='\"hodo\"' -D__KBUILD_MODNAME=kmod_hodo\n")
        text = "# Made by generate.py.\n" + flags
        for name, own in objects.items():
            include = f" -I{own}" if own else ""
            text += f"CFLAGS_events/{name} := -g0 -fhosted -Wno-unused-function{include}\n"
            if name not in sum(modules.values(), []):
                text += f"hodo-y += events/{name}\n"
        for module, names in modules.items():
            text += f"obj-m += {module}.o\n{module}-y := " + " ".join("events/" + n for n in names) + "\n"
        self.write("events.mk", text)

    def precompile(self):
        """The prelude, without the lines that this kernel does not take. Returns those, with why."""
        gone = {}
        lines = (HERE / "prelude.h").read_text().split("\n")
        # A first object without it says how kbuild calls the compiler.
        self.write("prelude.h", "\n")
        self.write("ev_none.c", SPDX)
        self.kbuild({"ev_none.o": None}, {})
        done = self.make(["ev_none.o"])
        if done.returncode:
            raise SystemExit(f"hodo: kbuild in {self.kernel} does not compile an empty file: see below\n{done.stderr}")
        command = (self.dir / ".ev_none.o.cmd").read_text().split("\n")[0].split(":=", 1)[1].split(" ; ")[0]
        command = re.sub(r"-Wp,-MMD,\S+|-include \S*/events/prelude\.h|-c -o \S+ \S+\.c", "", command)
        folders = [self.kernel / f for f in re.findall(r"-I\s*(\S+)", command)]
        for line in lines:
            found = re.match(r"#include <(.*)>", line)
            if found and not any((f / found.group(1)).exists() for f in folders):
                gone[line] = "this kernel has none"
        for _ in range(ROUNDS_MAX):
            text = [l for l in lines if l not in gone]
            (self.dir / "prelude.h").write_text("\n".join(text))
            prelude = f"-x c-header -o {self.dir}/prelude.h.gch {self.dir}/prelude.h"
            run = subprocess.run(f"{command} -w -H -fmax-errors=1 {prelude}", shell=True, cwd=self.kernel, env=self.env,
                                 capture_output=True, text=True)
            if run.returncode == 0:
                return gone
            path, why = prelude_error(run.stderr)
            bad = [l for l in text if l.startswith("#include <") and (path or "").endswith("/" + l[10:-1])]
            if not bad:
                break
            gone[bad[0]] = why
        # Without it everything is slower, and no worse.
        say(f"the event headers' prelude cannot be precompiled: {run.stderr.strip().splitlines()[-1:]}")
        return gone


def prelude_error(stderr):
    """(the prelude's include, message) of the first error; the compiler prints each file it opens (-H)."""
    path = None
    for line in stderr.split("\n"):
        if line.startswith(". "):
            path = line[2:]
        found = re.search(r"error: (.*)", line)
        if found:
            return path, found.group(1)
    return None, ""


def errors_by_header(output, headers):
    """Name of a header -> its errors: each the function it is in, the message, and the lines that belong to it."""
    paths = {str(h.path): n for n, h in headers.items()}
    found, name, function, block = {}, None, "", None
    for line in output.split("\n"):
        at = re.match(r"(?:In file included from|\s+from)?\s*(\S+?):\d+[:,]|(\S+?): (?:In function|At top level)", line)
        path = (at.group(1) or at.group(2)) if at else ""
        own = re.search(r"events/ev_(\w+)\.c$", path)
        new = own.group(1) if own else paths.get(path, name)
        if new != name:
            name, function, block = new, "", None
        if "In function" in line or "At top level" in line:
            function, block = line, None
        elif re.search(r"\berror:", line) and name:
            block = [function, line]
            found.setdefault(name, []).append(block)
        elif re.search(r"\bwarning:|^In file included from", line):
            block = None
        elif block is not None:
            block.append(line)
    return found


def blame(header, block):
    """What to skip for the error, "class NAME" or "event NAME"; nothing: it cannot be known."""
    function = OUR_FUNCTION.search(block[0])
    if function:
        found = [("event " if function.group(1) == "check" else "class ") + function.group(2)]
    else:
        lines = (re.search(re.escape(header.path.name) + r":(\d+)", line) for line in block[1:])
        what = next(filter(None, (header.at_line(int(at.group(1))) for at in lines if at)), None)
        found = [what] if what else []
    # Which the compiler says of the first caller only.
    undeclared = re.search(r"implicit declaration of function \W*(\w+)", block[1])
    return found + header.callers(undeclared.group(1)) if found and undeclared else found


def message(block):
    return re.sub(r"^.*?error: ", "", block[1]).strip()


def compile_headers(build, headers):
    """Compiles them, again and again with fewer events, until what is left of each compiles."""
    pending = dict(headers)
    for _ in range(ROUNDS_MAX):
        for h in pending.values():
            build.write(f"ev_{h.name}.c", h.source())
            (build.dir / f"ev_{h.name}.o").unlink(missing_ok=True)
        run = build.make([f"ev_{n}.o" for n in pending])
        errors = errors_by_header(run.stdout + run.stderr, headers)
        pending = {n: h for n, h in pending.items() if not (build.dir / f"ev_{n}.o").exists()}
        for h in list(pending.values()):
            before = len(h.skipped)
            blocks = errors.get(h.name, [])
            for block in blocks:
                for what in blame(h, block):
                    h.skipped.setdefault(what, message(block))
            h.error = message(blocks[0]) if blocks else h.error
            if len(h.skipped) == before:
                h.lost = h.error
                del pending[h.name]
        if not pending: # without a target, kbuild would make all
            return
    for h in pending.values():
        h.lost = h.error


def exported_symbols(kernel):
    """Symbol -> (who exports it, namespace)."""
    symbols = {}
    for line in (kernel / "Module.symvers").read_text().splitlines():
        part = line.split("\t")
        symbols[part[1]] = (part[2], part[4] if len(part) > 4 else "")
    return symbols


def look_at_symbols(build, headers, symbols):
    """Skips events that need what is not exported; says which need other modules, and which events there are.
    Returns the headers that have to be compiled again."""
    again = {}
    for h in headers.values():
        if h.lost:
            continue
        path = build.dir / f"ev_{h.name}.o"
        names = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=True).stdout.split("\n")
        h.events = sorted(m.group(1) for m in (re.search(r" [DB] hodo_tp_(\w+)$", l) for l in names) if m)
        wanted = [l.split()[-1] for l in names if re.match(r"\s+U ", l)]
        missing, h.modules = [], []
        for w in wanted:
            if w.startswith("hodo_"):
                continue
            owner, namespace = symbols.get(w, (None, ""))
            if not owner or namespace:
                missing.append(w)
            elif owner != "vmlinux" and owner not in h.modules:
                h.modules.append(owner)
        if not h.events:
            h.lost = next(iter(h.skipped.values()), "has no event")
        elif missing:
            again[h.name] = h
            blame_symbols(h, path, missing)
    return again


def blame_symbols(header, path, missing):
    """The classes whose functions need a symbol that is not there; else the header is lost."""
    before = len(header.skipped)
    listing = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", str(path)], capture_output=True, text=True).stdout
    users, calls, function, callee = {}, {}, None, None
    for line in listing.split("\n"):
        found = re.match(r"[0-9a-f]+ <([\w.]+)>:", line)
        if found:
            function = found.group(1)
        found = re.search(r"\bR_\S+\s+([\w.]+)", line)
        if found:
            callee = None  # where the instruction seems to go is not where the linker will have it go
            if found.group(1) in missing:
                users.setdefault(function, found.group(1))
            continue
        if callee:
            calls.setdefault(callee, set()).add(function)
        found = re.search(r"\b(?:call|jmp)\w*\s+[0-9a-f]+ <([\w.]+)(?:\+\w+)?>", line)
        callee = found.group(1) if found else None
    # Functions that the compiler did not put into the probe are blamed on who calls them.
    reached = dict(users)
    for _ in range(3):
        for name, why in list(reached.items()):
            for caller in calls.get(name, ()):
                reached.setdefault(caller, why)
    for function, symbol in reached.items():
        found = OUR_FUNCTION.match(function or "")
        if found:
            header.skipped.setdefault("class " + found.group(2).split(".")[0], f"needs {symbol}, which is not exported")
    if len(header.skipped) == before:
        header.lost = f"needs {missing[0]}, which is not exported"


def drop_twins(headers):
    """One tracepoint's name can be only one event's: the first header's has it. Returns headers to compile again."""
    seen, again = {}, {}
    for h in headers.values():
        for event in h.events if not h.lost else []:
            if event in seen:
                h.skipped[f"event {event}"] = f"{seen[event].include} has an event of this name"
                again[h.name] = h
            else:
                seen[event] = h
    return again


def table(name, events, static, own):
    """C text of a struct hodo_tracepoint_set and its events."""
    text = "".join(f"extern struct hodo_tracepoint hodo_tp_{e};\n" for e in events)
    text += "\nstatic struct hodo_event *const events[] = {\n"
    text += "".join(f"\t&hodo_tp_{e}.event,\n" for e in events)
    more = ", .own_header = true" if own else ""
    return text + (f"}};\n\n{static}struct hodo_tracepoint_set {name} = {{\n\t.events = events, .n = {len(events)}, "
                   f".release = UTS_RELEASE{more}\n}};\n")


def module_source(header):
    why = f"events that need symbols of {', '.join(header.modules)}" if header.modules else "events of a header of one's own"
    return (SPDX + f"/* hodo_{header.name}.ko: {why}. */\n" '#include "tracepoints.h"\n\n#include <generated/utsrelease.h>\n#include <linux/module.h>\n\n' +
            table("set", sorted(header.events), "static ", header.own) +
            "\nstatic int __init start(void)\n{\n\treturn hodo_tracepoint_set_add(&set);\n}\n"
            "\nstatic void __exit stop(void)\n{\n\thodo_tracepoint_set_remove(&set);\n}\n"
            "\nmodule_init(start);\nmodule_exit(stop);\n"
            'MODULE_LICENSE("Dual MIT/GPL");\nMODULE_DESCRIPTION("Hodoscope: tracepoints of ' + header.name + '");\n')


def empty_module(name):
    return (SPDX + "#include <linux/module.h>\n\n"
            f'MODULE_LICENSE("Dual MIT/GPL");\nMODULE_DESCRIPTION("Hodoscope: this kernel has no tracepoints for {name}");\n')


def write_results(build, headers, gone, companions):
    usable = [h for h in headers.values() if not h.lost]
    own = [h for h in usable if h.modules or h.own]
    events = sorted(e for h in usable if h not in own for e in h.events)
    build.write("table.c", SPDX + '#include "tracepoints.h"\n\n#include <generated/utsrelease.h>\n\n' + table("hodo_tracepoint_table", events, "", None))
    modules = {}
    for h in own:
        build.write(f"set_{h.name}.c", module_source(h))
        modules[f"hodo_{h.name}"] = [f"ev_{h.name}.o", f"set_{h.name}.o"]
    made = sorted(modules)
    for name in companions:
        if name not in modules:
            build.write(f"set_{name.removeprefix('hodo_')}.c", empty_module(name))
            modules[name] = [f"set_{name.removeprefix('hodo_')}.o"]
    build.kbuild({f"ev_{h.name}.o": h.own for h in usable} | {"table.o": None}, modules)
    lines = ["# Tracepoints of the kernel's headers that hodo.ko does not have, and why. Made by generate.py."]
    for h in headers.values():
        if h.lost:
            lines.append(f"{h.include}: all: {h.lost}")
        else:
            lines += [f"{h.include}: {what}: {why}" for what, why in sorted(h.skipped.items())]
    lines += [f"# not included: {l.removeprefix('#include ')}: {why}" for l, why in sorted(gone.items())]
    build.write("events.skipped", "\n".join(lines) + "\n")
    skipped = sum(1 for h in usable for _ in h.skipped)
    say(f"{len(events)} events of {len(usable) - len(own)} of the kernel's headers; {sum(len(h.events) for h in own)} more in "
        f"{', '.join(made) or 'no modules of their own'}; {skipped} classes and events and "
        f"{len(headers) - len(usable)} headers cannot be used: {build.dir}/events.skipped")


def key_of(kernel):
    """What decides about all that was found out."""
    digest = hashlib.sha256(str(kernel).encode())
    for path in sorted(HERE.glob("*")) + [kernel / "Module.symvers", kernel / ".config", HERE.parent / "tracepoints.h",
                                               HERE.parent / "tracepoints.c", HERE.parent / "emit.h"]:
        digest.update(path.name.encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernel", required=True, type=pathlib.Path, help="where kbuild of that kernel is")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where the module is built")
    parser.add_argument("--events", default="all", help='headers by name: "sched irq"; default: all')
    parser.add_argument("--include", type=pathlib.Path, action="append", default=[], metavar="DIR",
                        help="DIR/trace/events has further headers, of tracepoints of modules of one's own")
    parser.add_argument("--companions", default="", help='modules of events that are made, even if there are none for '
                        'them: "hodo_sunrpc"')
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    kernel, build = args.kernel.resolve(), Build(args.kernel.resolve(), args.out.resolve(), args.jobs)
    headers = find_headers(kernel, [folder.resolve() for folder in args.include])
    wanted = args.events.split()
    unknown = [w for w in wanted if w not in headers and w not in ("all", "none")]
    if unknown:
        raise SystemExit(f"hodo: no header of tracepoints is named {unknown[0]}: see {source_tree(kernel)}/include/trace/events")
    if "all" not in wanted:
        headers = {n: h for n, h in headers.items() if n in wanted or h.own}

    build.dir.mkdir(parents=True, exist_ok=True)
    saved = build.dir / "events.json"
    key = key_of(kernel)
    state = json.loads(saved.read_text()) if saved.exists() else {}
    if state.get("key") != key:
        for path in build.dir.glob("ev_*"):
            path.unlink()
        state = {"key": key, "headers": {}, "gone": None}
    if state["gone"] is None:
        state["gone"] = build.precompile()
    new = {}
    for name, h in headers.items():
        old = state["headers"].get(name)
        if old and old["digest"] == h.digest and (old["lost"] or (build.dir / f"ev_{name}.o").exists()):
            h.set_state(old)
        else:
            new[name] = h
    if new:
        build.kbuild({f"ev_{n}.o": h.own for n, h in headers.items()}, {})
        again, symbols = new, exported_symbols(kernel)
        for _ in range(ROUNDS_MAX):
            compile_headers(build, again)
            again = look_at_symbols(build, again, symbols) or drop_twins(headers)
            again = {n: h for n, h in again.items() if not h.lost}
            if not again:
                break
    write_results(build, headers, state["gone"], args.companions.split())
    state["headers"].update({n: h.state() for n, h in headers.items()})
    saved.write_text(json.dumps(state, indent=1))


if __name__ == "__main__":
    main()

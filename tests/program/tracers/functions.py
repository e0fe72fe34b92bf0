#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""functions.py CASE: hazards of function tracing (functions.c, functions_step.c), alone and recorded.

HODO, FUNCTIONS, STEP and PLUGIN are in the environment.
"""
import os
import sys
import tempfile

import hodo_test
from hodo_test import HODO, LIMIT_S, events, program

FUNCTIONS, STEP, PLUGIN = program("FUNCTIONS"), program("STEP"), program("PLUGIN")


def run(*command):
    return hodo_test.run(*command, status=0, timeout=2 * LIMIT_S)


def recorded(directory, *command, options=()):
    run(HODO, "record", "-q", "--functions", "-o", f"{directory}/trace", *options, "--", *command)


def step_recorded(directory, scene):
    # Each step aborts a restartable sequence, and each event is tried a thousand times.
    recorded(directory, STEP, scene)
    os.environ["GLIBC_TUNABLES"] = "glibc.pthread.rseq=0"
    for tracer in "record", "graph", "profile":
        recorded(directory, STEP, scene, options=("--tracer", tracer))
    # In addition to a tracer of the program.
    recorded(directory, STEP, scene, "tracer")


def check_unwind(directory):
    run(STEP, "unwind", "tracer")
    step_recorded(directory, "unwind")


def check_call(directory):
    run(STEP, "call", "tracer")
    run(STEP, "onstack", "tracer")
    step_recorded(directory, "call")


def check_longjmp(directory):
    run(STEP, "longjmp", "tracer", "11")
    run(STEP, "park", "tracer", "11")


def check_arguments(directory):
    """Also together with the recorder's tracer, which the program may not unregister."""
    run(FUNCTIONS, "arguments")
    recorded(directory, FUNCTIONS, "arguments")
    names = [e["name"] for e in events(f"{directory}/trace")]
    assert names.count("func:entry") == 5 and names.count("func:exit") == 5, names


def check_small_stack(directory):
    for options in ("-m", "16M"), ("-m", "64K"), ("--tracer", "graph"), ("--tracer", "latency", "--min-time", "1ns"):
        recorded(directory, FUNCTIONS, "small_stack", options=options)


def check_libraries(directory):
    run(FUNCTIONS, "libraries", PLUGIN)
    run(FUNCTIONS, "libraries_untraced", PLUGIN)


def check_dlopen_in_tracer(directory):
    run(FUNCTIONS, "dlopen_in_tracer", PLUGIN)


if __name__ == "__main__":
    case = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="hodo-review-") as directory:
        if f"check_{case}" in globals():
            globals()[f"check_{case}"](directory)
        else:
            run(FUNCTIONS, case)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_hello - usage: check_example_hello.py HODO PROGRAM COMPARE_BT2"""
import recorded
from recorded import expect

plain = recorded.run(recorded.PROGRAM)
hello = recorded.Recording()
recorded.expect_complete(hello)
expect("output of the program, recorded", hello.output, plain)
expect("output of the program", plain, "hello: greeted 10 times\n")
expect("names", set(hello.counts), {"hello:greet"})
expect("fields", [event["fields"] for event in hello.events], [{"i": i, "whom": "world"} for i in range(10)])
expect("command", {event["comm"] for event in hello.events}, {"hello"})
expect("thread", {event["tid"] == event["pid"] for event in hello.events}, {True})

# Another pattern leaves the events out.
other = recorded.Recording(options=["-e", "other:*"])
expect("events of another pattern", other.events, [])

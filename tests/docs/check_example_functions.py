#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_functions - usage: check_example_functions.py HODO PROGRAM COMPARE_BT2"""
import recorded
from recorded import expect

EXPRESSIONS = ("2*(3+4)", "-1--2", "((((5))))")


def entered(recording, function):
    return sum(e["name"] == "func:entry" and e["function"] == function for e in recording.events)


plain = recorded.run(recorded.PROGRAM, *EXPRESSIONS)
expect("its output", plain, "2*(3+4) = 14\n-1--2 = 1\n((((5)))) = 5\n")
calc = recorded.Recording(*EXPRESSIONS, options=["--functions"])
recorded.expect_complete(calc)
expect("its output, recorded", calc.output, plain)
expect("as many exits as entries", calc.counts["func:exit"], calc.counts["func:entry"])
for function, calls in {"main": 1, "calculate": 3, "sum": 8, "product": 10, "atom": 13, "fail": 0}.items():
    expect(f"calls of {function}", entered(calc, function), calls)

# Some functions only.
some = recorded.Recording(*EXPRESSIONS, options=["--functions=sum,fail"])
expect("events of one function", dict(some.counts), {"func:entry": 8, "func:exit": 8})

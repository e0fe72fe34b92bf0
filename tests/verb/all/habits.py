# SPDX-License-Identifier: MIT
"""What the tests of habits share."""
import hodo_test
from hodo_test import LIMIT_S, program

APP = program("APP")


class Case(hodo_test.Case):
    def setUp(self):
        super().setUp()
        self.env["HODO_COMPLETE_MS"] = str(1000 * LIMIT_S)  # on a busy machine the default, a second, may be too short

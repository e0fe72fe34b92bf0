#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_console: the comparison of commands' output finds what differs, and accepts what may differ."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import console  # noqa: E402 (after what keeps the tree clean)

PAGE = """# A page

<!-- setup: word=hidden -->
<!-- run status=3 -->
```console
$ echo "$word 12.5 ms"; pwd
hidden 1 ms
/home/me
$ (exit 3)
```

```console
$ not run
```
"""


class Compare(unittest.TestCase):
    def differs(self, page, printed, *options):
        command = console.Command("$ x")
        command.output = page.split("\n")
        return console.compare(console.Block(0, list(options)), command, printed.split("\n"))

    def test_numbers_and_units_may_differ(self):
        self.assertIsNone(self.differs("a:b   12,345  1.5 MiB\ntotal 7", "a:b 3 100.0 KiB\ntotal   8"))
        self.assertIsNone(self.differs("[12:00:00.000000001] 1 42 kv kv:get n=1", "[23:59:59.5] 0 7 kv kv:get n=20"))
        self.assertIsNone(self.differs(" 1.5 us |   f();", "12.5 ms |   f();"))

    def test_words_may_not(self):
        self.assertIn("kv:put", self.differs("kv:get 1", "kv:put 1"))
        self.assertIsNotNone(self.differs("kv:get 1", "kv:get 1\nkv:new 1"))
        self.assertIsNotNone(self.differs("kv:get 1\nkv:old 1", "kv:get 1"))

    def test_an_ellipsis_stands_for_any_lines(self):
        self.assertIsNone(self.differs("kv:get 1\n…", "kv:get 1\nkv:new 1"))
        self.assertIsNotNone(self.differs("kv:get 1\n…", "kv:new 1"))

    def test_some(self):
        self.assertIsNone(self.differs("a\nb", "a\nc", "shape=some"))
        self.assertIsNotNone(self.differs("a\nb\nc", "c", "shape=some"))

    def test_words(self):
        block = console.Block(0, ["words=put(),kv:grow"])
        block.commands = [console.Command("$ record"), console.Command("$ graph")]
        self.assertIsNone(console.compare(block, block.commands[0], ["x"]))
        self.assertIsNone(console.compare(block, block.commands[1], ["put() {", "  /* kv:grow */"]))
        self.assertIn("kv:grow", console.compare(block, block.commands[1], ["put() {"]))

    def test_losses_of_a_busy_machine(self):
        self.assertIsNone(self.differs("kv 1\nno event was lost", "kv 1\n17 events were lost:\n   17  full  kv[3]: x"))


class Run(unittest.TestCase):
    def test_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            path.write_text(PAGE, encoding="utf-8")
            blocks, _ = console.blocks_of(path)
            self.assertEqual([len(block.commands) for block in blocks], [1, 2])
            self.assertTrue(blocks[0].hidden)
            shell = console.Shell({})
            try:
                got = [shell.run(command.text()) for block in blocks for command in block.commands]
            finally:
                shell.close()
        self.assertEqual(got, [([], 0), (["hidden 12.5 ms", "/home/me"], 0), ([], 3)])
        self.assertEqual(blocks[1].option("status"), "3")
        self.assertIsNone(console.compare(blocks[1], blocks[1].commands[0], got[1][0]))


unittest.main()

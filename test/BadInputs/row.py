# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One bad input."""

import dataclasses


@dataclasses.dataclass
class Row:
    name: str
    tool: str
    arguments: list
    """Patterns that standard error must match."""
    expected: list
    """Files to write first, by name; "{dir}" in arguments is their folder."""
    files: dict = dataclasses.field(default_factory=dict)
    standard_input: bytes = b""


def prefixes(content, count):
    """`count` proper prefixes, evenly spread, none of them empty."""
    size = len(content)
    return [content[:size * (index + 1) // (count + 1)]
            for index in range(count)]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a page stands alone and is well formed.

Usage: page.py PAGE WANTED...

Elements are nested and closed; there is no script; nothing asks for a resource
but the icon, which is empty. Each WANTED must be in the text that a reader
sees, entities resolved. Pages spoiled in several ways are refused first.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "br"}
# Attributes that name something to fetch or to run.
REFERENCES = {"src", "href", "xlink:href", "srcset", "data", "action", "poster",
              "background"}
ELEMENTS = {"script", "iframe", "object", "embed", "img", "image", "use", "form"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.text, self.seen = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag in ELEMENTS:
            self.faults.append(f"element {tag}")
        for name, value in attrs:
            if name in REFERENCES and value != "data:,":
                self.faults.append(f"{tag} refers to {value}")
            if name.startswith("on"):
                self.faults.append(f"{tag} runs {value}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"{tag} is closed but not open")

    def handle_data(self, data):
        self.text.append(data)


def faults(text):
    page = Page()
    page.feed(text)
    page.close()
    found = page.faults + [f"{tag} is not closed" for tag in page.open]
    found += [f"no {tag}" for tag in ("svg", "table", "title", "style")
              if tag not in page.seen]
    found += [f"'{match}' in the page" for match in
              re.findall(r"(?i)https?:|//[a-z]|url\(|@import", text)]
    if "prefers-color-scheme:dark" not in text:
        found.append("no dark colours")
    return found, " ".join(page.text)


def main():
    text = Path(sys.argv[1]).read_text("utf-8")
    for spoiled in (text.replace("</p>", "", 1),
                    text.replace("<body>", '<body><img src="a.png">'),
                    text.replace("<body>", "<body><script></script>"),
                    text.replace("<h1>", '<h1 onclick="x">'),
                    text.replace("data:,", "icon.png"),
                    text.replace("</style>", "a{background:url(x)}</style>"),
                    text.replace("prefers-color-scheme", "width")):
        if not faults(spoiled)[0]:
            sys.exit("a spoiled page was let through")
    found, words = faults(text)
    found += [f"no '{wanted}' to read" for wanted in sys.argv[2:]
              if wanted not in words]
    if found:
        sys.exit("\n".join(found))
    print("the page stands alone")


main()

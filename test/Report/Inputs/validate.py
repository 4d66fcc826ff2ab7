# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks JSON documents against a JSON Schema of the kind in docs/.

Usage: validate.py SCHEMA DOCUMENT...

The keywords of draft 2020-12 that the schema uses are known, no others: an
unknown one is an error, so that none is passed over. First it shows on the
first document, spoiled in several ways, that it can refuse.
"""

import copy
import json
import sys
from pathlib import Path

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "null": type(None)}
ANNOTATIONS = {"$schema", "title", "$defs"}


def is_a(value, name):
    if name in ("integer", "number"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (name == "number" or value == int(value))
    return isinstance(value, TYPES[name])


def resolve(schema, root):
    while "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        schema = target
    return schema


def members(value, schema, root, path):
    """Violations of the keywords about an object's members."""
    known = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{path}: no '{name}'"
    for name, member in value.items():
        rule = known.get(name, schema.get("additionalProperties", True))
        if rule is False:
            yield f"{path}: '{name}' is unknown"
        elif rule is not True:
            yield from violations(member, rule, root, f"{path}/{name}")


def violations(value, schema, root, path=""):
    schema = resolve(schema, root)
    for keyword, wanted in schema.items():
        if keyword == "type":
            names = [wanted] if isinstance(wanted, str) else wanted
            if not any(is_a(value, name) for name in names):
                yield f"{path}: {value!r} is no {wanted}"
                return
        elif keyword == "const":
            if value != wanted:
                yield f"{path}: {value!r} is not {wanted!r}"
        elif keyword == "enum":
            if value not in wanted:
                yield f"{path}: {value!r} is not one of {wanted}"
        elif keyword == "minimum":
            if is_a(value, "number") and value < wanted:
                yield f"{path}: {value} is less than {wanted}"
        elif keyword == "items":
            for number, item in enumerate(value):
                yield from violations(item, wanted, root, f"{path}/{number}")
        elif keyword in ("properties", "required", "additionalProperties"):
            pass
        elif keyword not in ANNOTATIONS:
            sys.exit(f"schema: keyword '{keyword}' is not known here")
    if isinstance(value, dict):
        yield from members(value, schema, root, path)


def spoil(document):
    """Copies with one fault each."""
    def change(edit):
        changed = copy.deepcopy(document)
        edit(changed)
        return changed

    yield change(lambda d: d.pop("format"))
    yield change(lambda d: d.update(unit="s"))
    yield change(lambda d: d.update(format="another"))
    name = next(name for name in d_times(document))
    yield change(lambda d: d[name]["time"].update(kind="guessed"))
    yield change(lambda d: d[name]["time"].update(seconds="1"))
    yield change(lambda d: d[name]["time"].update(seconds=-1))


def d_times(document):
    return [name for name, value in document.items()
            if isinstance(value, dict) and "time" in value]


def main():
    schema = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    documents = [json.loads(Path(name).read_text("utf-8"))
                 for name in sys.argv[2:]]
    for number, spoiled in enumerate(spoil(documents[0])):
        if not list(violations(spoiled, schema, schema)):
            sys.exit(f"spoiled document {number} was let through")
    for name, document in zip(sys.argv[2:], documents):
        found = list(violations(document, schema, schema))
        if found:
            sys.exit("\n".join([name, *found[:20]]))
        print(f"{Path(name).name} is valid")


main()

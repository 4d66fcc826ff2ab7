# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes to texts and to bytes, drawn from a random.Random."""

import re

NUMBERS = ["0", "1", "-1", "2", "3", "5", "7", "64", "65535", "65536", "65537",
           "2147483647", "4294967296", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808",
           "18446744073709551616", "1.0e308", "-0.0", "1.5", "0x7F800000"]
WORDS = ["tensor<", "x", ">", "{", "}", "[", "]", "(", ")", "->", ":", ",", "=",
         '"', "#", "%0", "@mesh", "@main", "unit = 2", 'unreduced = {"tp"}',
         'max{"tp"}', '"tp":(1)2', '"tp":(2)2', '"tp"', '"x"', "f32", "bf16",
         "f16", "f64", "i32", "i1", "i64", "index", "tp.local", "tp.ranks",
         "tp.global", "tp.stored", "tp.plan", "tp.like", "private", "dense<",
         "true", "null", "Infinity", "NaN", "\\", "\u00e9", "\u0000", "\t", "\n"]
TOKEN = re.compile(r'"[^"\n]*"|[\w.$%@#!-]+|\s+|.', re.S)
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?$")


def change_tokens(tokens, chance, dictionary):
    """One change: a token, a number in it, a run of tokens."""
    if not tokens:
        return [chance.choice(dictionary)]
    at = chance.randrange(len(tokens))
    action = chance.randrange(8)
    if action == 0:
        return tokens[:at] + tokens[at + chance.randint(1, 4):]
    if action == 1:
        return tokens[:at] + [chance.choice(dictionary)] + tokens[at:]
    if action == 2:
        return tokens[:at] + [chance.choice(dictionary)] + tokens[at + 1:]
    if action == 3:
        end = at + chance.randint(1, 12)
        return tokens[:end] + tokens[at:end] + tokens[end:]
    if action == 4:
        other = chance.randrange(len(tokens))
        tokens = list(tokens)
        tokens[at], tokens[other] = tokens[other], tokens[at]
        return tokens
    return change_number(tokens, chance, at)


def change_number(tokens, chance, at):
    """The next token with digits gets another number in it."""
    for index in [*range(at, len(tokens)), *range(at)]:
        digits = list(re.finditer(r"\d+", tokens[index]))
        if not digits:
            continue
        place = chance.choice(digits)
        number = chance.choice(
            [*NUMBERS, str(int(place.group()[:18]) + chance.choice([-1, 1, 2])),
             str(chance.randint(0, 12))])
        return tokens[:index] + [tokens[index][:place.start()] + number
                                 + tokens[index][place.end():]] \
            + tokens[index + 1:]
    return tokens


SMALL = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "12", "13", "64", "65536",
         "4294967296", "3037000500"]
TYPES = ["f32", "f64", "bf16", "f16", "i32", "i64", "i1"]
PARTS = ['{}', '{"tp"}', '{"x"}', '{"tp", unit = 2}', '{"tp":(1)2}',
         '{"tp":(2)2}', '{"tp":(1)2, "tp":(2)2}', '{unit = 3}', '{"a", "b"}']


def change_everywhere(text, chance):
    """A change that leaves the text well formed: one size, element type, axis or
    dimension's sharding, wherever it stands."""
    action = chance.randrange(5)
    if action == 0:
        sizes = re.findall(r"(?<![\w.])\d+(?=x)|(?<=x)\d+(?=x)|(?<==)\d+", text)
        if not sizes:
            return text
        size = chance.choice(sizes)
        other = chance.choice([*SMALL, str(int(size[:18]) + 1)])
        return re.sub(rf"(?<![\d.]){size}(?![\d.])", other, text)
    if action == 1:
        return text.replace(chance.choice(TYPES), chance.choice(TYPES))
    if action == 2:
        places = list(re.finditer(r"\{[^{}\n]*\}(?=[,\]])", text))
        if not places:
            return text
        place = chance.choice(places)
        return text[:place.start()] + chance.choice(PARTS) + text[place.end():]
    if action == 3:
        places = list(re.finditer(r"\btp\.\w+", text))
        if not places:
            return text
        place, other = chance.choice(places), chance.choice(places)
        return text[:place.start()] + other.group() + text[place.end():]
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join(lines[:at] + lines[at + 1:])


def change_text(text, chance, others=()):
    """One to six changes; at times a line of another text."""
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        text = change_everywhere(text, chance)
    if chance.random() < 0.6:
        return text
    if others and chance.random() < 0.15:
        lines, donor = text.split("\n"), chance.choice(others).split("\n")
        lines.insert(chance.randint(0, len(lines)), chance.choice(donor))
        text = "\n".join(lines)
    tokens = TOKEN.findall(text)
    own = [token for token in tokens if not token.isspace()]
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        dictionary = WORDS if chance.random() < 0.4 or not own else own
        tokens = change_tokens(tokens, chance, dictionary)
    return "".join(tokens)


def change_bytes(data, chance):
    """One to eight changed, removed or repeated bytes, or a cut end."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 4, 8])):
        if not data:
            break
        at = chance.randrange(len(data))
        action = chance.randrange(6)
        if action == 0:
            del data[at:at + chance.randint(1, 8)]
        elif action == 1:
            data[at:at] = data[at:at + chance.randint(1, 8)]
        elif action == 2 and chance.random() < 0.2:
            del data[at:]
        elif action == 3:
            data[at] = chance.choice([0, 1, 0x7f, 0x80, 0xff])
        else:
            data[at] ^= 1 << chance.randrange(8)
    return bytes(data)

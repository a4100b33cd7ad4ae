#!/usr/bin/env python3
"""Writes the man page of the program patchio from what it says with --help, so that the two agree.

usage: man_page.py PROGRAM FILE
"""
import re
import subprocess
import sys


def say(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def escape(text):
    text = text.replace("\\", "\\\\").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def entries(text):
    """Headings of a help text, each with its (name, explanation)s: a name may stand on a line of its own."""
    sections = {}
    for line in text.splitlines():
        if re.fullmatch(r"\S.*:", line):
            current = sections.setdefault(line[:-1].capitalize(), [])  # CLI11 2.5 has capitals only
        elif match := re.fullmatch(r" {2,10}(\S.*?)(?:  +(\S.*))?", re.sub(", +-", ",-", line.rstrip())):
            current.append([match[1], match[2] or ""])
        elif line.startswith("   ") and line.strip():
            current[-1][1] += (" " if current[-1][1] else "") + line.strip()
    return sections


def head(text):
    """The description and the usage at the beginning of a help text. CLI11 2.5 wraps the description."""
    before, usage, _ = re.split(r"^(?:Usage: )?(patchio .*)$", text, maxsplit=1, flags=re.MULTILINE)
    return " ".join(before.split()), usage.strip()


def definitions(items):
    return "".join(f".TP\n.B {escape(name)}\n{escape(text)}\n" for name, text in items)


def subcommand(program, name):
    text = say(program, name, "--help")
    description, usage = head(text)
    page = f".SS {name}\n.B {escape(usage)}\n.PP\n{escape(description)}\n"
    for items in entries(text).values():
        page += definitions(item for item in items if not item[0].startswith("-h,"))
    return page


def main():
    program, file = sys.argv[1:]
    text = say(program, "--help")
    version = say(program, "--version").split()[1]
    subcommands = [name for name, _ in entries(text)["Subcommands"]]
    page = f'.TH PATCHIO 1 "" "PatchIO {version}" "User Commands"\n'
    page += f".SH NAME\npatchio \\- {escape(head(text)[0])}\n"
    page += ".SH SYNOPSIS\n.B patchio\n.I SUBCOMMAND\n[options]\n.br\n.B patchio \\-\\-version\n"
    page += ".SH SUBCOMMANDS\n" + "".join(subcommand(program, name) for name in subcommands)
    page += ".SH EXIT STATUS\n" + definitions([
        ("0", "Done."), ("1", "Not done, or something is wrong with the data."), ("2", "The command line makes no sense.")])
    with open(file, "w", encoding="utf-8") as out:
        out.write(page)


main()

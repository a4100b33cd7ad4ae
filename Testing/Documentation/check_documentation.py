#!/usr/bin/python3
"""Checks all *.md files: README.md and the pages of Documentation/ are short, the index of the user guide lists its pages, relative links
and their anchors lead somewhere, scripts exist.

usage: check_documentation.py REPOSITORY
"""
import glob
import os
import re
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

LONGEST_README, LONGEST_PAGE = 8192, 12288  # bytes


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_of(root, ending):
    """Returns the files of the source tree with this ending, without build trees and hidden folders."""
    found = glob.glob("*" + ending, root_dir=root)
    for folder in set(glob.glob("*/", root_dir=root)) - {"build/", "demo/"}:
        found += glob.glob(folder + "**/*" + ending, root_dir=root, recursive=True)
    return sorted(os.path.join(root, path) for path in found)


def anchors_of(path):
    """Returns the anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(path, name):
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S)
    links = re.findall(r"\]\(\s*([^)\s]+)\s*\)", text)
    for link in links:
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        where = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if not os.path.exists(where):
            expect(False, "%s links to %s, which is not there", name, link)
        elif anchor:
            expect(anchor in anchors_of(where), "%s links to %s, which has no such heading", name, link)
    return len(links)


def check_scripts(path, name, scripts):
    """Checks that each script in a text is a file of the tree, in the folder that the text gives, if any."""
    named = set(re.findall(r"(?<![\w/.$])[\w./-]+\.py\b", re.sub(r"\]\([^)]*\)", "", read(path))))
    for script in named:
        wanted = "/" + script.replace("share/patchio/", "").lstrip("./")    # this folder exists in the install tree
        expect(any(known.endswith(wanted) for known in scripts), "%s names %s, which is not there", name, script)
    return len(named)


def check_pages(root):
    """Checks the lengths of the pages, and that UserGuide.md links to each page in Guide/."""
    documentation = os.path.join(root, "Documentation")
    index = set(re.findall(r"\]\((Guide/\w+\.md)\)", read(os.path.join(documentation, "UserGuide.md"))))
    for path in files_of(documentation, ".md"):
        name = os.path.relpath(path, documentation)
        expect(os.path.getsize(path) <= LONGEST_PAGE, "%s has %d bytes, more than %d: split it", name, os.path.getsize(path), LONGEST_PAGE)
        expect(name in index or not name.startswith("Guide/"), "UserGuide.md does not list %s", name)


def main():
    root = os.path.abspath(sys.argv[1])
    readme = os.path.getsize(os.path.join(root, "README.md"))
    expect(readme <= LONGEST_README, "README.md has %d bytes, more than %d: move something to Documentation/", readme, LONGEST_README)
    check_pages(root)
    scripts = files_of(root, ".py")
    texts, links, named = files_of(root, ".md"), 0, 0
    for path in texts:
        name = os.path.relpath(path, root)
        links += check_links(path, name)
        named += check_scripts(path, name, scripts)
    expect(links > 20 and named > 10, "only %d links and %d scripts were found to check", links, named)
    if failed:
        sys.exit(1)
    print("passed: %d texts, %d links, %d names of scripts, README.md has %d bytes" % (len(texts), links, named, readme))


if __name__ == "__main__":
    main()

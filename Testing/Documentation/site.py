#!/usr/bin/python3
"""Makes the site of mkdocs.yml, with mkdocs's warnings as errors, and checks its pages: each link and each anchor leads somewhere, and no list
is shown as text (mkdocs needs a blank line before some lists, GitHub does not).

usage: site.py REPOSITORY SITE

The environment variable PATCHIO_MKDOCS names the program mkdocs, 1.6 or later with the theme Material; the default is the one in PATH.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys

FEWEST_PAGES = 50


class Page(html.parser.HTMLParser):
    """Links, anchors and texts of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.texts, self.in_code = [], set(), [], 0
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.add(values.get("id"))
        self.links += [values[name] for name in ("href", "src") if values.get(name)]
        self.in_code += tag == "pre"

    def handle_endtag(self, tag):
        self.in_code -= tag == "pre"

    def handle_data(self, data):
        if not self.in_code:
            self.texts.append(data)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def make_site(repository, site):
    program = os.environ.get("PATCHIO_MKDOCS") or shutil.which("mkdocs")
    if not program:
        skip("mkdocs is not installed")
    version = subprocess.run([program, "--version"], text=True, capture_output=True, check=True).stdout
    found = re.search(r"(\d+)\.(\d+)", version)
    if not found or (int(found[1]), int(found[2])) < (1, 6):
        skip("mkdocs 1.6 is not installed: " + version.strip())
    made = subprocess.run([program, "build", "--strict", "--clean", "--config-file", os.path.join(repository, "mkdocs.yml"), "--site-dir", site],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    if re.search(r"Unrecognised theme name: '?material", made.stdout):
        skip("mkdocs has no theme Material: pip install mkdocs-material")
    print(made.stdout)
    if made.returncode:
        sys.exit("FAILED: mkdocs ends with %d" % made.returncode)


def faults_of(path, pages):
    for link in pages[path].links:
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        where = (path.parent / target).resolve() if target else path
        if not where.exists():
            yield "%s links to %s, which is not there" % (path, link)
        elif anchor and where in pages and anchor not in pages[where].anchors:
            yield "%s links to %s, which has no such anchor" % (path, link)
    for text in pages[path].texts:
        for line in re.findall(r"\n(?:[*-] |\d+\. |\| |```).*", text):
            yield "%s shows as text: %s" % (path, line.strip())


def main():
    repository, site = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    make_site(repository, str(site))
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}    # the server's address is in front of its links
    faults = [fault for path in sorted(pages) for fault in faults_of(path, pages)]
    if len(pages) < FEWEST_PAGES:
        faults.append("%d pages, fewer than %d" % (len(pages), FEWEST_PAGES))
    print("\n".join("FAILED: " + fault for fault in faults) or "passed: %d pages" % len(pages))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

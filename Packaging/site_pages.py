"""Hook of mkdocs.yml: makes a site of the pages as GitHub shows them.

* The first page of the site is the main README. All pages and files outside Documentation/ that pages of the site link to, directly or not,
  become parts of the site, at their paths in the repository. Links are rewritten, because Documentation/ is the root of the site.
* Nested lists, and code in lists, get the indentation of 4 spaces that mkdocs requires.
"""
import os
import posixpath
import re

from mkdocs.structure.files import File, InclusionLevel

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(?=[)#])")
CODE = re.compile(r"(^```.*?^```)", re.M | re.S)


def to_site(path):
    """Returns the path in the site of a file of the repository. A folder stands for its README."""
    if os.path.isdir(os.path.join(ROOT, path)):
        path = posixpath.join(path, "README.md")
    return path[len("Documentation/"):] if path.startswith("Documentation/") else path


def target(page, link):
    """Returns the path in the site of the file to which `page`, a path in the repository, links."""
    return to_site(posixpath.normpath(posixpath.join(posixpath.dirname(page), link)))


def links_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return [target(page, link) for link in LINK.findall(CODE.sub("", file.read()))]


def on_files(files, config):
    """Adds the files outside Documentation/ to the site."""
    wanted = ["README.md"]
    for file in files.documentation_pages():
        wanted += links_of("Documentation/" + file.src_uri)
    while wanted:
        path = wanted.pop()
        if files.get_file_from_path(path) is None and os.path.isfile(os.path.join(ROOT, path)):
            file = File.generated(config, path, abs_src_path=os.path.join(ROOT, path))
            file.inclusion = InclusionLevel.NOT_IN_NAV    # the navigation may name the page, but need not
            files.append(file)
            wanted += links_of(path) if path.endswith(".md") else []
    return files


def on_page_markdown(markdown, page, config, files):
    """Adapts links and indentation outside blocks of code. mkdocs reports links that lead nowhere."""
    uri = page.file.src_uri
    own = uri if page.file.generated_by else "Documentation/" + uri

    def rewrite(match):
        path = target(own, match.group())
        return posixpath.relpath(path, posixpath.dirname(uri) or ".") if files.get_file_from_path(path) else match.group()

    parts = CODE.split(markdown)
    parts[::2] = [re.sub(r"^ {2,3}(?=\S)", "    ", LINK.sub(rewrite, text), flags=re.M) for text in parts[::2]]
    return "".join(parts)

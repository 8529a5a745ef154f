"""What the site needs in addition to docs/: a navigation, and the files of the repository that pages link to.

The pages are written for a code host, where links go to any file of the repository. On the site such a file is a page
(CONTRIBUTING.md, CHANGELOG.md) or is copied below files/.
"""
import os
import pathlib
import re

from mkdocs.structure.files import File, InclusionLevel

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#:]+)(#[^)\s]*)?\)")
SECTIONS = {"learn": "Learn", "how-to": "Do", "reference": "Look up", "understand": "Understand", "log": "Logs"}
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")


def page_name(repository_path):
    """The name on the site of a file of the repository."""
    path = repository_path if not (ROOT / repository_path).is_dir() else os.path.join(repository_path, "README.md")
    if path.startswith("docs/"):
        # A folder without a page of its own is a section of the front page.
        return path[5:] if (ROOT / path).exists() else "README.md"
    return path if path in PAGES else f"files/{path}"


def repository_name(page):
    return page if page in PAGES else f"docs/{page}"


def targets(page, text):
    """The files of the repository that a page links to."""
    for _, target, _ in LINK.findall(text):
        path = os.path.normpath(os.path.join(os.path.dirname(repository_name(page)), target))
        if (ROOT / path).exists():
            yield target, path


def entry(page):
    """Without a title the page's own heading is shown; the section says already that a page is a log."""
    heading = (ROOT / "docs" / page).read_text().partition("\n")[0]
    return {heading[7:].capitalize(): page} if heading.startswith("# Log: ") else page


def navigation():
    """The lists of docs/README.md, and pages that it does not name at the end of their folder's section."""
    nav, section, group, seen = [{"Home": "README.md"}], None, None, {"README.md"}
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        if line.startswith("## "):
            section = group = []
            nav.append({line[3:]: section})
        elif section is not None and re.fullmatch(r"\w.*:", line):
            group = []
            section.append({line[:-1]: group})
        elif section is not None and line.startswith("- "):
            for _, path in targets("README.md", line):
                if page_name(path) not in seen:
                    seen.add(page_name(path))
                    group.append(entry(page_name(path)))
    nav.insert(1, "features.md")
    seen.add("features.md")
    named = {title: pages for part in nav if isinstance(part, dict) for title, pages in part.items()}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = str(path.relative_to(ROOT / "docs"))
        if page not in seen:
            named[SECTIONS.get(page.split("/")[0], "Understand")].append(entry(page))
    return [*nav, *PAGES]


def on_config(config):
    config["nav"] = navigation()
    return config


def on_files(files, config):
    wanted = set(PAGES)
    for page in [*(file.src_uri for file in files.documentation_pages()), *PAGES]:
        wanted |= {path for _, path in targets(page, (ROOT / repository_name(page)).read_text())
                   if not path.startswith("docs/") and (ROOT / path).is_file()}
    for path in sorted(wanted):
        files.append(File.generated(config, page_name(path), abs_src_path=str(ROOT / path), inclusion=InclusionLevel.INCLUDED))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    known = dict(targets(here, markdown))

    def relative(match):
        before, target, anchor = match.groups()
        if target not in known:
            return match.group()
        name = page_name(known[target])
        return f"{before}{os.path.relpath(name, os.path.dirname(here) or '.')}{anchor or ''})"

    return LINK.sub(relative, markdown)

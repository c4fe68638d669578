"""Keeps the catalogues: `python packaging/translate.py` after texts have changed, `--check` to see whether it is due.

Extracts the texts of `app/` and `engines/` into the template (.pot), brings the catalogue (.po) up to date without
guessing what a changed text means, compiles it (.mo), and prints what is still to be translated. `--check` writes
nothing and ends with 1 where a file is not what it would be now, or a translation is missing.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileParser, write_po

ROOT = Path(__file__).parents[1]
I18N = ROOT / "resources/weighbridge_resources/i18n"
TEMPLATE = I18N / "weighbridge.pot"
CATALOGUE = I18N / "es/LC_MESSAGES/weighbridge.po"
COMPILED = CATALOGUE.with_suffix(".mo")

SOURCES = ("app", "engines")
KEYWORDS = {"text": None, "mark": None, "plural": (1, 2)}
MADE_WITH = "weighbridge.base.words"
"""Only modules that import from here mean our `text`; others may have one of their own."""

KEPT_OF_THE_HEAD = ("Language:", "Plural-Forms:", "MIME-Version:", "Content-")
"""The rest of it is dates, which change without a reason, and names to be filled in: the same texts, the same files."""


class PlainCatalog(Catalog):
    """A catalogue whose head is always the same."""

    def __iter__(self) -> Iterator[Message]:
        head, *messages = super().__iter__()
        lines = str(head.string).splitlines(keepends=True)
        head.string = "".join(line for line in lines if line.startswith(KEPT_OF_THE_HEAD))
        yield head
        yield from messages


def main() -> int:
    """Bring the files up to date, or check them. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where something is due")
    check = parser.parse_args().check
    made, catalogue = outputs()
    stale = [path for path, content in made.items() if not path.is_file() or path.read_bytes() != content]
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made[path])
    missing = untranslated(catalogue)
    for message in missing:
        print(f"untranslated: {message.id!r} ({message.locations[0][0] if message.locations else '-'})")
    print(f"{len(catalogue)} texts, {len(missing)} untranslated")
    return 1 if check and (stale or missing) else 0


def outputs() -> tuple[dict[Path, bytes], Catalog]:
    """What the template, the catalogue and its compiled form have to hold now, and that catalogue."""
    template = extract()
    catalogue = read(CATALOGUE)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return {TEMPLATE: as_po(template), CATALOGUE: as_po(catalogue), COMPILED: as_mo(catalogue)}, catalogue


def extract() -> Catalog:
    """The texts in the sources, each with the files that it stands in."""
    template = PlainCatalog(
        header_comment="# The texts of Weighbridge, by `python packaging/translate.py`.", fuzzy=False
    )
    for path in _modules():
        for _, found, _, context in extract_from_file("python", path, keywords=KEYWORDS):
            template.add(found, locations=[(path.relative_to(ROOT).as_posix(), 0)], context=context)
    return template


def read(path: Path) -> Catalog:
    """A catalogue from its file."""
    catalogue = PlainCatalog(locale="es")
    with path.open("rb") as file:
        PoFileParser(catalogue).parse(file)
    return catalogue


def untranslated(catalogue: Catalog) -> list[Message]:
    """The messages without a translation, or with a form of their plural that lacks one, or with a guessed one."""
    return [message for message in catalogue if message.id and (message.fuzzy or not all(_forms(message)))]


def as_po(catalogue: Catalog) -> bytes:
    """The text form."""
    out = io.BytesIO()
    write_po(out, catalogue, width=100, include_lineno=False, ignore_obsolete=True)
    return out.getvalue()


def as_mo(catalogue: Catalog) -> bytes:
    """The compiled form."""
    out = io.BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


def _modules() -> Iterator[Path]:
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if MADE_WITH in path.read_text("utf-8"):
                yield path


def _forms(message: Message) -> Sequence[str | None]:
    return message.string if isinstance(message.string, (tuple, list)) else (message.string,)


if __name__ == "__main__":
    sys.exit(main())

"""Docstrings that are inherited entry by entry: what a base says of a parameter or an attribute, its kinds say too."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap

TITLE = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^\S.*\n(?:[ ]{4}.*\n)*", re.MULTILINE)
WRITTEN = "_written_doc"  # what a class says itself, before anything is added
MARGIN = "    "  # of what is written in a class

Sections = dict[str, str]
"""The sections of a docstring by their titles; what comes before the first has none."""


def inherit_docs(kind: type, root: type) -> None:
    """Add to a class's docstring what the classes that it derives from, up to the root, say of what it has.

    Of parameters, those of its own signature, or all of a dataclass, except what it calls an attribute itself; and all
    attributes. What the class says itself is kept, and what a nearer base says is preferred to what others say.

    Examples
    --------
    >>> class Learner:
    ...     '''Learn.
    ...
    ...     Attributes
    ...     ----------
    ...     event_ : Event
    ...         What the fit cost.
    ...     '''
    >>> class Mean(Learner):
    ...     '''The mean.'''
    >>> inherit_docs(Mean, Learner)
    >>> "What the fit cost." in Mean.__doc__
    True
    """
    if kind.__doc__ is None:
        return
    setattr(kind, WRITTEN, kind.__doc__)
    docs = [vars(one).get(WRITTEN, one.__doc__) for one in kind.__mro__ if root in one.__mro__]
    said = [_sections(doc) for doc in docs if doc is not None]
    attributes = [_entries(one, "Attributes") for one in said]
    parameters = _parameters(kind, root, [_entries(one, "Parameters") for one in said])
    entries = {
        "Parameters": {name: text for name, text in parameters.items() if name not in attributes[0]},
        "Attributes": _attributes(attributes),
    }
    listed = {title: "".join(dict.fromkeys(found.values())) for title, found in entries.items() if found}
    others = {title: text for title, text in said[0].items() if title not in entries}
    kind.__doc__ = _written({"": others.pop("")} | listed | others)


def _parameters(kind: type, root: type, said: list[dict[str, str]]) -> dict[str, str]:
    """What is said of each parameter, in the order of the signature; a dataclass has those of its bases first.

    A class that becomes a dataclass has no signature yet: it takes what its bases take, and its own fields.
    """
    known = _nearest(said)
    if "__init__" not in vars(kind) and dataclasses.is_dataclass(root):
        return {name: known[name] for name in _nearest(said[::-1])}
    made = next((vars(one)["__init__"] for one in kind.__mro__ if "__init__" in vars(one) and one is not object), None)
    names = list(inspect.signature(made).parameters) if made is not None and kind is not root else []
    if "__init__" not in vars(kind):
        names += [name for name, said in inspect.get_annotations(kind).items() if not str(said).startswith("ClassVar")]
    return {name: known[name] for name in names if name in known} | said[0]


def _attributes(said: list[dict[str, str]]) -> dict[str, str]:
    """What is said of each attribute: those that no base has first, all others in the order of the bases."""
    own, above = said[0], _nearest(said[1:])
    return {name: text for name, text in own.items() if name not in above} | above | own


def _nearest(said: list[dict[str, str]]) -> dict[str, str]:
    """What the first says that says anything, of each name."""
    found: dict[str, str] = {}
    for one in said:
        found |= {name: text for name, text in one.items() if name not in found}
    return found


def _sections(doc: str) -> Sections:
    head, *others = TITLE.split(f"{inspect.cleandoc(doc)}\n")
    return {"": head} | dict(zip(others[::2], others[1::2], strict=True))


def _entries(sections: Sections, title: str) -> dict[str, str]:
    """What a section says of each name; several names may have one entry."""
    found = ENTRY.findall(sections.get(title, ""))
    return {name: entry for entry in found for name in entry.partition(" :")[0].split(", ")}


def _written(sections: Sections) -> str:
    parts = [
        f"{title}\n{'-' * len(title)}\n{text.strip()}" if title else text.strip() for title, text in sections.items()
    ]
    first, _, rest = "\n\n".join(parts).partition("\n")
    return f"{first}\n{textwrap.indent(rest, MARGIN)}\n{MARGIN}"

"""The schema editor: a form that asks for public facts and gives back a schema file. It opens no data, ever."""

from __future__ import annotations

from discreet.core.errors import DiscreetError
from discreet.query.schema_file import KEYS, parsed
from discreet.schema.roles import ROLES
from discreet.service.console.schema_draft import MOST_COLUMNS, SchemaDraft
from discreet.service.console.visit import PageReply, Visit
from discreet.service.server.site_file import SAMPLE


def editor(visit: Visit) -> PageReply:
    """An empty form, or one with the names of columns that were given."""
    visit.check_role("curator")
    names = [name.strip() for name in visit.sent.text("names").replace("\n", ",").split(",")]
    return _page(visit, SchemaDraft.blank([name for name in names if name][:MOST_COLUMNS]))


def drafted(visit: Visit) -> PageReply:
    """The form with another column, or the schema file that it makes."""
    visit.check_role("curator")
    draft = SchemaDraft.of(visit.form)
    if visit.form.text("do") == "more":
        return _page(visit, draft.longer())
    try:
        text = draft.toml()
        parsed(text)
    except DiscreetError as why:
        return _page(visit, draft, refusal=why, status=422)
    if visit.form.text("do") == "file":
        return PageReply.file(f"{draft.name or 'schema'}.toml", text, "application/toml")
    return _page(visit, draft, text)


def _page(
    visit: Visit, draft: SchemaDraft, text: str = "", refusal: DiscreetError | None = None, status: int = 200
) -> PageReply:
    return visit.page(
        "schema",
        status,
        draft=draft,
        kinds=tuple(KEYS),
        roles=ROLES,
        toml=text,
        entry=draft.entry() if text else "",
        refusal=refusal,
        sample=SAMPLE,
    )

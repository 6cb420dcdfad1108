"""Templates of pages: whatever is put into one is escaped, and control characters are shown as such."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from discreet.core.errors import MissingExtra
from discreet.display.notebook import unbroken
from discreet.display.plain import plain, plain_lines
from discreet.service.console.assets import assets
from discreet.service.console.policy import HTMX


@cache
def environment() -> Any:
    """The environment of all templates; a name that a page forgot is an error and not an empty place."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as why:
        raise MissingExtra("the console", "jinja2 is not installed", "Run: pip install 'discreet[server]'.") from why
    found = Environment(
        loader=PackageLoader("discreet.service.console"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        auto_reload=False,
    )
    found.filters["lines"] = _lines
    found.filters["whole"] = lambda text: markup(unbroken(str(text)))
    files = assets()
    found.globals |= {
        "htmx_config": HTMX,
        "sheet_version": files["site.css"].version,
        "script_version": files["htmx.min.js"].version,
    }
    return found


def rendered(template: str, about: Mapping[str, Any]) -> str:
    """A template with what it needs."""
    text: str = environment().get_template(f"{template}.html").render(about)
    return text


def markup(drawn: str) -> Any:
    """A part of a page that this library has drawn and escaped itself, such as a chart."""
    from markupsafe import Markup

    return Markup(drawn)


def _shown(value: Any) -> Any:
    """A text without control characters; what is drawn already stays as it is."""
    return value if hasattr(value, "__html__") else plain(str(value))


def _lines(text: str) -> Any:
    """A text of several lines."""
    from markupsafe import escape

    return escape(plain_lines(text))

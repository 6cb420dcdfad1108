"""What browsers are told about pages: load nothing from elsewhere, run nothing that stands in a page, keep nothing."""

from __future__ import annotations

import json
from types import MappingProxyType

CONTENT = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
    "connect-src 'self'; img-src 'self'"
)
HEADERS = MappingProxyType(
    {
        "content-security-policy": CONTENT,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
)
UNKEPT = MappingProxyType({**HEADERS, "cache-control": "no-store"})
"""Of pages: what somebody saw must not be found in the browser by the next person at this desk."""

HTMX = json.dumps(
    {
        "includeIndicatorStyles": False,  # a style in the page, which the policy forbids
        "allowEval": False,
        "allowScriptTags": False,
        "historyCacheSize": 0,  # pages are not kept in the browser
        "refreshOnHistoryMiss": True,
        "selfRequestsOnly": True,
    }
)

"""Keys of programs and sessions of browsers: shown once, kept as hashes, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from discreet.core.held import unheld
from discreet.service.server.site_refusals import Unrecognised
from discreet.service.server.site_store import SiteStore

PREFIX = "discreet"
COST = {"n": 2**14, "r": 8, "p": 1}
REMEMBERED = 1024  # keys that were recognised, by a digest under a secret of this process
HOURS = 12 * 3600.0  # that a session lasts
REMEDY = "Send a key that this site gave out: Authorization: Bearer KEY."


@dataclass(frozen=True)
class Session:
    """Somebody who logged in with a browser.

    Parameters
    ----------
    token : str
        For the cookie. Shown once.
    csrf : str
        What every form has to send back.
    user : str
        Who it is.
    """

    token: str
    csrf: str
    user: str


def _unrecognised() -> Unrecognised:
    return Unrecognised("this site", "nobody is known by this key", REMEDY)


def _hashed(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, maxmem=2**26, **COST)


@unheld("own turns")
class ApiKeys:
    """Draws keys and sessions, and recognises them.

    A key is `discreet_ID_SECRET`: by the identifier its hash is found, and the secret is compared through scrypt. An
    unknown identifier takes as long. A key that was recognised is remembered by a digest under a secret of this
    process, so that scrypt is computed once.

    Parameters
    ----------
    store : SiteStore
        Where hashes are kept.
    """

    def __init__(self, store: SiteStore) -> None:
        self._store, self._lock = store, threading.Lock()
        self._secret = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, str] = OrderedDict()

    def drawn(self, user: str, until: float | None = None) -> str:
        """A new key of a user, shown here and never again."""
        id, secret, salt = secrets.token_hex(8), secrets.token_hex(24), secrets.token_bytes(16)
        self._store.add_key(id, user, salt, _hashed(secret, salt), until)
        return f"{PREFIX}_{id}_{secret}"

    def user_of(self, key: str) -> str:
        """Whose key this is; refused alike, whatever is wrong with it."""
        if (known := self.known_user(key)) is not None:
            return known
        id, secret = _parts(key)
        found = self._store.key(id) if id else None
        user, salt, digest, until = found or ("", bytes(16), bytes(64), None)
        right = hmac.compare_digest(_hashed(secret[:256], salt), digest)
        if found is None or not right or not _lasts(until):
            if right:
                self._store.end_key(id)  # it stays over where the clock is moved back
            raise _unrecognised()
        self._remember(self._mark(key), user)
        return user

    def known_user(self, key: str) -> str | None:
        """Whose key this is, where this process recognised it before and it is good still; else None, at once."""
        user, (id, _) = self._known.get(self._mark(key)), _parts(key)
        if user is None or not id:
            return None
        found = self._store.key(id)
        return user if found is not None and found[0] == user and _lasts(found[3]) else None

    def _mark(self, key: str) -> bytes:
        return hmac.digest(self._secret, key.encode(errors="replace")[:512], "sha256")

    def revoke(self, user: str) -> int:
        """End all keys and sessions of a user; how many keys there were."""
        with self._lock:
            self._known = OrderedDict((mark, one) for mark, one in self._known.items() if one != user)
        return self._store.revoke_keys(user)

    def begin_session(self, user: str) -> Session:
        """A session for somebody whose key was recognised."""
        self._store.end_old_sessions(time.time())
        session = Session(secrets.token_urlsafe(32), secrets.token_urlsafe(32), user)
        self._store.add_session(_digest(session.token), user, session.csrf, time.time() + HOURS)
        return session

    def session(self, token: str) -> Session:
        """The session of a cookie."""
        found = self._store.session(_digest(token))
        if found is None or found[2] < time.time():
            self.end_session(token)
            raise _unrecognised()
        return Session(token, found[1], found[0])

    def end_session(self, token: str) -> None:
        """Forget a session."""
        self._store.end_session(_digest(token))

    def _remember(self, mark: bytes, user: str) -> None:
        with self._lock:
            self._known[mark] = user
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)


def _parts(key: str) -> tuple[str, str]:
    """Identifier and secret; nothing, of what cannot be a key."""
    prefix, _, rest = key.partition("_")
    id, _, secret = rest.partition("_")
    return (id, secret) if prefix == PREFIX and len(key) < 256 else ("", secret)


def check_csrf(session: Session, sent: str) -> None:
    """Refuse a form that does not come from a page of this session."""
    if not hmac.compare_digest(session.csrf.encode(), sent.encode(errors="replace")):
        raise Unrecognised("a form", "it does not come from a page of this session", "Load the page again.")


def _lasts(until: float | None) -> bool:
    return until is None or time.time() < until


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()

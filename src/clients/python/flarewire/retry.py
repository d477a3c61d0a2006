"""Decides what follows the end of a connection, as the client for Node does."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

Transport = Literal["websocket", "sse", "poll"]
Action = Literal["resume", "backoff", "fallback", "stop", "silent", "away"]

FLOOR_S, CEILING_S = 1.0, 30.0
MAX_ASKED_S = 900.0
"""Longest duration accepted from a server."""
MAX_UPGRADE_DOUBLINGS = 4
_ACTIONS: dict[int, Action] = {
    **{4: "stop", 5: "backoff", 40: "stop", 41: "backoff", 42: "resume"},
    **{408: "backoff", 410: "resume", 429: "backoff", 1001: "backoff"},
}


def action_after(code: int) -> Action:
    """Returns what to do after a close code or HTTP status (W26)."""
    return _ACTIONS.get(code) or _ACTIONS.get(code // 100) or "fallback"


def bound_asked(seconds: float) -> float:
    """Limits a duration that a server states; 0 if it is invalid."""
    return min(seconds, MAX_ASKED_S) if seconds > 0 else 0.0


class End(Exception):
    """How a connection ended.

    `silent`: no message for too long. `away`: no HTTP response, or no key.
    """

    def __init__(self, action: Action, reason: str, code: int | None = None, min_s: float = 0) -> None:
        super().__init__(reason)
        self.action, self.reason, self.code, self.min_s = action, reason, code, min_s


_MEANINGS = {4003: "the key was revoked or has expired", 4004: "the key has fewer rights than before"}


def closed(code: int, reason: str = "") -> End:
    """Returns the End for a close code. Says what it means if only the user can repair it."""
    text = f"close code {code} {reason}".strip()
    return End(action_after(code), f"{text}: {_MEANINGS[code]}" if code in _MEANINGS else text, code)


@dataclass
class Attempts:
    """Decides which transport is next, and after how long."""

    transports: tuple[Transport, ...]
    upgrade_after_s: float
    index: int = 0
    failures: int = 0
    proven: bool = False
    upgrades: int = 0

    @property
    def transport(self) -> Transport:
        return self.transports[self.index]

    def settled(self) -> None:
        """Records that the connection is stable."""
        self.failures, self.proven = 0, True
        if self.index == 0:
            self.upgrades = 0

    def upgrade_delay(self) -> float | None:
        """Returns the seconds until a better transport is tried; None with the best one."""
        if self.index == 0:
            return None
        after: float = self.upgrade_after_s * 2 ** min(self.upgrades, MAX_UPGRADE_DOUBLINGS)
        return after * (1 + random.random() / 2)

    def upgrade(self) -> None:
        """Chooses a better transport: each in turn, the best one first."""
        self.index, self.upgrades, self.proven = self.upgrades % self.index, self.upgrades + 1, False

    def ended(self, end: End, heard: bool) -> float:
        """Chooses the next transport, and returns the seconds until the next connection.

        `heard`: the one that ended delivered a message.
        """
        if end.action == "silent" or (end.action == "fallback" and not heard):
            was_proven, self.proven = self.proven, False
            if was_proven or len(self.transports) == 1:
                return self._resume(end) if heard else self._back_off(end)
            self.index = (self.index + 1) % len(self.transports)
            return 0 if self.index else self._back_off(end)
        if heard:
            return self._resume(end) if end.action == "resume" else self._back_off(end)
        if self.index:
            self.index, self.proven = 0, False
        return self._back_off(end)

    def _resume(self, end: End) -> float:
        if self.failures:
            return self._back_off(end)
        self.failures = 1
        return 0

    def _back_off(self, end: End) -> float:
        spread: float = min(CEILING_S, FLOOR_S * 2 ** min(self.failures + 1, 10)) - FLOOR_S
        self.failures += 1
        return max(FLOOR_S, bound_asked(end.min_s)) + random.random() * spread

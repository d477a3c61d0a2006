"""Follows events over WebSocket, server-sent events or long polls, whichever works."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, AsyncGenerator, Callable, Literal, Sequence

import aiohttp

from .decode import decode, decode_event
from .errors import ProtocolError, StreamError
from .model import Event, Filter, Freshness, Hello, View
from .retry import Attempts, End, Transport, bound_asked
from .transports import Key, Requests, cause_of, check_access, headers_of, open_transport
from .view import Mismatch, apply_event

Json = dict[str, Any]
SILENCE_S = 35.0
"""Maximum silence until the server states its own limit."""
STABLE_S = 1.0
"""Age from which a connection counts as stable."""
_REFUSED = (401, 4003)
"""HTTP status and close code of a refused key."""
_FAULTS = (
    *(aiohttp.ClientError, OSError, ValueError, ArithmeticError),
    *(LookupError, TypeError, AttributeError, RecursionError),
)
"""What a lost connection or an invalid message raises."""
ALL: tuple[Transport, ...] = ("websocket", "sse", "poll")


@dataclass(frozen=True)
class Reset:
    """The lists start over: at the start, or because they cannot be continued."""

    reason: Literal["started", "epoch-changed", "expired", "mismatch"]
    lost: int | None
    """Maximum number of missed events; None if unknown, 0 at the start."""
    cursor: str
    view: View | None
    """The lists at the cursor. With a filter of names, no later event keeps them up to date."""
    name: Literal["reset"] = "reset"


@dataclass(frozen=True)
class Connection:
    """State of the connection."""

    state: Literal["connecting", "live", "waiting", "closed"]
    transport: Transport
    reason: str = ""
    """Why the previous connection ended."""
    code: int | None = None
    """Its close code or HTTP status."""
    retry_in_s: float = 0
    """Delay before the next connection while `waiting`; otherwise 0."""

    def __str__(self) -> str:
        """Returns a line for a log, such as `waiting by sse: cut off; retrying in 1.2 s`.

        The reason is only in the line that follows the end of a connection. A StreamError has that of
        `closed`.
        """
        line = f"{self.state} by {self.transport}"
        if self.state == "closed":
            return f"{line}: the server refused this client"
        when = f"in {self.retry_in_s:.1f} s" if self.retry_in_s else "at once"
        return f"{line}: {self.reason}; retrying {when}" if self.state == "waiting" else line


def connect(
    url: str,
    *,
    channels: Sequence[str] = ("*",),
    filter: Filter | None = None,
    key: Key = None,
    after: str | None = None,
    transport: Transport | Literal["auto"] = "auto",
    first_message_s: float = 8,
    upgrade_after_s: float = 60,
    on_connection: Callable[[Connection], None] | None = None,
) -> Stream:
    """Follows a server: `async with connect("https://example.com") as stream`.

    `after` resumes after this cursor of an earlier, equal stream. `key` is an API key, or a
    function that returns one for each connection; an empty one counts as none. `first_message_s`
    is the time without a message before the next transport is tried, `upgrade_after_s` the minimum
    time on a lesser one before a better one is tried again. `on_connection` is called with each
    change of the connection. Raises ValueError if an argument is invalid.
    """
    base = url.rstrip("/").replace("ws", "http", 1) if url.startswith("ws") else url.rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise ValueError('use an address like "https://example.com"')
    check_access(base, key)
    if isinstance(channels, str):
        raise ValueError('channels are a list, such as ["flares.*"]')
    if transport != "auto" and transport not in ALL:
        raise ValueError(f"transport is auto, {', '.join(ALL)}")
    transports = ALL if transport == "auto" else (transport,)
    query = {"channels": ",".join(channels), **_query_of(filter)}
    return Stream(base, query, key, after, Attempts(transports, upgrade_after_s), first_message_s, on_connection)


def _query_of(filter: Filter | None) -> dict[str, str]:
    given = {} if filter is None else dataclasses.asdict(filter)
    return {name: _text_of(value) for name, value in given.items() if value is not None}


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)


class Stream:
    """Events in order, without gaps or repeats. Iterate it; create it by `connect`."""

    def __init__(
        self,
        base: str,
        query: dict[str, str],
        key: Key,
        after: str | None,
        attempts: Attempts,
        first_message_s: float,
        on_connection: Callable[[Connection], None] | None,
    ) -> None:
        self.cursor = after
        """Every event up to here was returned. Store it to resume with `after`.

        None before the first response, unless the stream resumes. None after a mismatch until the
        reset.
        """
        self.server: Hello | None = None
        """What the server says about itself.

        None before the first connection. Long polls have none.
        """
        self.freshness: Freshness | None = None
        """Age and state of the server's data, as of the last heartbeat. Long polls have none."""
        self.connection = Connection("connecting", attempts.transport)
        self.raw_view: Json | None = None
        """`view` as JSON."""
        self._base, self._query, self._key, self._attempts = base, query, key, attempts
        self._first_message_s, self._on_connection = first_message_s, on_connection
        self._has_view = "names" not in query
        self._is_started = after is not None
        self._was_refused = False
        self._silence_s = SILENCE_S
        self._decoded: tuple[Json, View] | None = None
        self._client = f"py{random.getrandbits(64):x}"
        self._items = self._run()

    @property
    def view(self) -> View | None:
        """The lists at `cursor`, equal to what REST serves there.

        None before the first reset, and always with a filter of names.
        """
        raw = self.raw_view
        if raw is None:
            return None
        if self._decoded is None or self._decoded[0] is not raw:
            self._decoded = (raw, decode(View, raw))
        return self._decoded[1]

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Event | Reset:
        try:
            return await self._items.__anext__()
        except asyncio.CancelledError:
            # The caller may have stopped waiting only for now. A new run resumes from the cursor.
            self._items = self._run()
            raise

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Ends the stream and its connection."""
        await self._items.aclose()

    async def _run(self) -> AsyncGenerator[Event | Reset, None]:
        reason, code = "", None
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._first_message_s)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                self._changed(Connection("connecting", self._attempts.transport, reason, code))
                items = self._connect(session)
                try:
                    async for item in items:
                        yield item
                except _Ended as ended:
                    wait_s, reason, code = ended.wait_s, ended.end.reason, ended.end.code
                    if ended.end.action == "stop" and not self._may_ask_again(code):
                        self._changed(Connection("closed", self._attempts.transport, reason, code))
                        raise StreamError(f"the server rejected this client: {reason}", code) from ended
                finally:
                    await items.aclose()
                self._changed(Connection("waiting", self._attempts.transport, reason, code, wait_s))
                await asyncio.sleep(wait_s)

    async def _connect(self, session: aiohttp.ClientSession) -> AsyncGenerator[Event | Reset, None]:
        """Yields the items of one connection, then raises _Ended."""
        attempts, heard, answered = self._attempts, False, False
        opened_at = time.monotonic()
        self._silence_s, upgrade_at, turn_at = SILENCE_S, float("inf"), float("inf")
        try:
            requests = Requests(session, self._base, await headers_of(self._key))
        except Exception as error:
            end = End("away", f"no key: {cause_of(error)}")
            raise _Ended(end, attempts.ended(end, heard)) from error
        client = f"{self._client}.{attempts.transport}"
        source = open_transport(attempts.transport, requests, self._query, self.cursor, client)
        quiet_until = opened_at + self._first_message_s
        try:
            while True:
                left_s = min(quiet_until, upgrade_at, turn_at) - time.monotonic()
                try:
                    # Not 0: what has arrived is read first, also after a pause of the process.
                    message = await asyncio.wait_for(source.__anext__(), max(0.05, left_s))
                    kind = message.get("type")
                    answered = answered or kind == "subscribed"
                    # Before the response nothing moves this client (W14).
                    item = self._receive(message) if answered or kind == "hello" else None
                    if kind == "goaway":
                        turn_at = time.monotonic() + bound_asked(message["reconnect_after_ms"] / 1_000)
                except asyncio.TimeoutError:
                    now = time.monotonic()
                    if now >= upgrade_at:
                        attempts.upgrade()
                        raise _Ended(End("resume", "a better transport is tried"), 0) from None
                    if now >= turn_at:
                        raise End("resume", "the server is shutting down") from None
                    raise End("silent", f"silent for {now - opened_at if not heard else self._silence_s:.0f} s") from None
                except StopAsyncIteration:
                    raise End("fallback", "cut off") from None
                except _FAULTS as error:
                    raise End("fallback", f"failed: {cause_of(error)}") from error
                if item is not None:
                    yield item
                # Set timers only after the reader returns: a slow reader is not a silent server.
                if kind == "subscribed":
                    self._was_refused = False
                    self._changed(Connection("live", attempts.transport))
                    upgrade_at = time.monotonic() + (attempts.upgrade_delay() or float("inf"))
                elif time.monotonic() - opened_at >= STABLE_S:
                    attempts.settled()
                if answered or not heard:
                    quiet_until = time.monotonic() + self._silence_s
                heard = True
        except End as end:
            raise _Ended(end, attempts.ended(end, heard)) from end
        finally:
            await source.aclose()  # type: ignore[attr-defined]

    def _may_ask_again(self, code: int | None) -> bool:
        """Whether to ask the function for another key, as the refused one may have expired.

        True once until the next response to a subscription.
        """
        was_refused, self._was_refused = self._was_refused, True
        return callable(self._key) and code in _REFUSED and not was_refused

    def _receive(self, message: Json) -> Event | Reset | None:
        """Processes a message. Raises End if the connection must end."""
        kind = message["type"]
        if kind == "hello":
            with suppress(ProtocolError):
                self.server = decode(Hello, message)
            self._silence_s = bound_asked(message["silence_limit_ms"] / 1_000) or SILENCE_S
        elif kind == "subscribed":
            return self._subscribed(message)
        elif kind == "event":
            return self._event(message)
        elif kind in ("heartbeat", "page"):
            self._advance(message["cursor"])
            if "freshness" in message:
                self.freshness = decode(Freshness, message["freshness"])
        return None

    def _subscribed(self, message: Json) -> Reset | None:
        if message["resumed"] == "full":
            self._is_started = True
            return None
        lost: Json = message.get("lost") or {
            "reason": "mismatch" if self._is_started else "started",
            "events": None if self._is_started else 0,
        }
        if lost["reason"] == "ahead":
            raise self._apart(message["cursor"])
        # If the lists cannot be read, the next connection must not resume after them.
        self.cursor = None
        self.raw_view = message.get("snapshot")
        reset = Reset(lost["reason"], lost["events"], message["cursor"], self.view)
        if not self._has_view:
            self.raw_view = None
        self.cursor, self._is_started = message["cursor"], True
        return reset

    def _event(self, message: Json) -> Event | None:
        position = self._position(message["cursor"])
        if message["seq"] <= position:
            return None
        if message["prev"] > position:
            raise End("backoff", f"an event before {message['cursor']} is missing")
        try:
            event = decode_event(message)
            if self.raw_view is not None:
                self.raw_view = apply_event(self.raw_view, message)
        except (Mismatch, *_FAULTS) as error:
            # A resumed connection would get this event again.
            self.cursor = None
            reason = f"an event does not fit: {error}"
            raise End("resume" if isinstance(error, Mismatch) else "backoff", reason) from error
        self.cursor = message["cursor"]
        return event

    def _advance(self, cursor: str) -> None:
        """Moves to a cursor up to which everything was sent; never back."""
        if int(cursor.split("-")[1]) > self._position(cursor):
            self.cursor = cursor

    def _position(self, cursor: str) -> int:
        """Returns the seq of this client's position. Raises End if `cursor` is of another epoch."""
        epoch, seq, *_ = (self.cursor or "-0").split("-")
        if epoch != cursor.split("-")[0]:
            raise self._apart(cursor)
        return int(seq)

    def _apart(self, cursor: str) -> End:
        return End("backoff", f"the server is at {cursor}, and this client at {self.cursor}")

    def _changed(self, connection: Connection) -> None:
        self.connection = connection
        if self._on_connection:
            self._on_connection(connection)


class _Ended(Exception):
    """A connection ended; `wait_s` is the time until the next one."""

    def __init__(self, end: End, wait_s: float) -> None:
        super().__init__(end.reason)
        self.end, self.wait_s = end, wait_s

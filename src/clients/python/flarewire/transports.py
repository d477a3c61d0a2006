"""Yields the messages of one connection over each transport. Raises End when it ends."""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from typing import Any, AsyncIterator, Awaitable, Callable, Union
from urllib.parse import urlencode, urlsplit

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from .retry import End, action_after, closed

Json = dict[str, Any]
Key = Union[str, Callable[[], Awaitable[str]], None]
POLL_WAIT_S = 25
"""How long the server may delay a response: less than the silence limit and proxies' limits."""
CLOSE_S = 1.0
"""How long to wait for the answer to a close, because a dead connection never answers."""
_FAILURES = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
_TEXTS: tuple[tuple[type[BaseException], str], ...] = (
    (asyncio.TimeoutError, "timed out"),
    (aiohttp.ServerDisconnectedError, "the server closed the connection"),
    (aiohttp.ClientPayloadError, "the response broke off"),
    (aiohttp.InvalidURL, "invalid URL"),
    (aiohttp.TooManyRedirects, "too many redirects"),
)
"""Errors whose own text may have objects of aiohttp, or a URL."""


def cause_of(error: BaseException) -> str:
    """Describes a failed request in words, such as `connection refused`, and without its URL."""
    if not isinstance(error, _FAILURES):
        return repr(error)
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", error)
    known = next((text for kind, text in _TEXTS if isinstance(cause, kind)), None)
    if isinstance(cause, aiohttp.ClientResponseError) and not known:
        # aiohttp makes up a status for a response that it cannot parse.
        is_parsed = not isinstance(cause.__cause__, HttpProcessingError)
        return f"HTTP {cause.status} {cause.message}".strip() if is_parsed else "the response is not HTTP"
    text = known or getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    # asyncio's text has the address instead of the reason.
    number = getattr(cause, "errno", None)
    return os.strerror(number).lower() if number and "Connect call failed" in text else text


def check_access(base: str, key: Key) -> None:
    """Raises ValueError if the address has a user, or if no header can carry the key."""
    if "@" in urlsplit(base).netloc:
        raise ValueError("use an address without a user name and password; the key is a parameter of its own")
    if isinstance(key, str) and not (key.isascii() and key.isprintable()):
        raise ValueError("the key has a character that no header can carry, such as a line break")


async def headers_of(key: Key) -> dict[str, str]:
    """Returns the header with the key, if there is one. The key never appears in an address."""
    text = await key() if callable(key) else key
    return {"Authorization": f"Bearer {text}"} if text else {}


class Requests:
    """The server's address and the headers of each request."""

    def __init__(self, session: aiohttp.ClientSession, base: str, headers: dict[str, str]) -> None:
        self.session, self.base, self.headers = session, base, headers

    def url(self, path: str, query: dict[str, str]) -> str:
        return f"{self.base}/api/v1/{path}?{urlencode(query)}"

    async def get(self, url: str, statuses: tuple[int, ...], accept: str = "application/json") -> aiohttp.ClientResponse:
        """Sends a GET request. Raises End for a status that is not listed, or without an answer."""
        try:
            response = await self.session.get(url, headers={**self.headers, "Accept": accept})
        except _FAILURES as error:
            host = urlsplit(self.base).netloc.rpartition("@")[2]
            raise End("away", f"no answer from {host}: {cause_of(error)}") from error
        if response.status in statuses:
            return response
        raise await _refusal(response)


async def _refusal(response: aiohttp.ClientResponse) -> End:
    """Returns the End for a rejection. Without a problem (RFC 9457), an intermediary sent it."""
    status, detail = response.status, ""
    is_own = "problem+json" in response.headers.get("Content-Type", "")
    if is_own:
        with suppress(*_FAILURES, ValueError):
            detail = str((await response.json(content_type=None)).get("detail", ""))
    response.close()
    action = action_after(status)
    asked = response.headers.get("Retry-After", "")
    return End(
        action if is_own or action == "backoff" else "fallback",
        f"HTTP {status} {detail}".strip(),
        status,
        float(asked) if asked.isdigit() else 0,
    )


async def websocket(requests: Requests, query: dict[str, str]) -> AsyncIterator[Json]:
    url = requests.url("stream", query)
    try:
        socket = await requests.session.ws_connect(
            url, protocols=("flarewire.v1",), headers=requests.headers, max_msg_size=0
        )
    except _FAILURES as error:
        # Ask over HTTP why: rejected, absent, or blocked on the way.
        after = {key: value for key, value in query.items() if key != "client"}
        (await requests.get(requests.url("events", {**after, "limit": "1"}), (200, 410))).close()
        raise End("fallback", f"no WebSocket: {cause_of(error)}") from error
    try:
        async for frame in socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                raise End("fallback", f"a frame of type {frame.type.name}")
            yield json.loads(frame.data)
        raise closed(socket.close_code or 1006)
    finally:
        with suppress(*_FAILURES):
            await asyncio.wait_for(socket.close(), CLOSE_S)


async def server_sent_events(requests: Requests, query: dict[str, str]) -> AsyncIterator[Json]:
    response = await requests.get(requests.url("events", query), (200,), "text/event-stream")
    try:
        rest = b""
        async for chunk in response.content.iter_any():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not line.startswith(b"data:"):
                    continue
                message = json.loads(line[5:])
                if message["type"] == "close":
                    raise closed(int(message["code"]), message["reason"])
                yield message
        raise End("fallback", "cut off")
    finally:
        response.close()


async def polls(requests: Requests, query: dict[str, str], after: str | None) -> AsyncIterator[Json]:
    lost: Json | None = None
    is_first = True
    while True:
        of = {"after": after, "limit": "1000", "wait": "0" if is_first else str(POLL_WAIT_S)} if after else {}
        url = requests.url("events", {**query, **(of or {"snapshot": "true"})})
        asked_at = time.monotonic()
        response = await requests.get(url, (200, 204, 410) if after else (200,))
        body: Json = {} if response.status == 204 else await response.json(content_type=None)
        response.release()
        if response.status == 410:
            if not is_first:
                # The next connection starts over: within this one it could loop without a pause.
                raise End(action_after(410), "HTTP 410")
            lost, after = body.get("lost"), None
            continue
        cursor = response.headers.get("Flarewire-Cursor", "")
        has_news = cursor != after and bool(body.get("more") or body.get("events"))
        if not is_first and not has_news and time.monotonic() - asked_at < 1:
            raise End("fallback", "a stale answer")
        if is_first:
            resumed = "full" if after else "reset"
            answer = {"type": "subscribed", "cursor": cursor, "resumed": resumed, "snapshot": body.get("snapshot")}
            yield {**answer, "lost": lost} if lost else answer
        for event in body.get("events", []):
            yield event
        yield {"type": "page", "cursor": cursor}
        is_first, after = False, cursor


def open_transport(
    transport: str, requests: Requests, query: dict[str, str], after: str | None, client: str
) -> AsyncIterator[Json]:
    """Opens a connection after the cursor, or at the head. It replaces the client's last one."""
    if transport == "poll":
        return polls(requests, query, after)
    more = {**query, "client": client, **({"after": after} if after else {})}
    run: Callable[[Requests, dict[str, str]], AsyncIterator[Json]]
    run = websocket if transport == "websocket" else server_sent_events
    return run(requests, more)

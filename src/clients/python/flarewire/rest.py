"""REST: the lists, the history and single flares and tokens."""

from __future__ import annotations

import json
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp

from .decode import decode
from .errors import RequestError
from .model import (
    Candles,
    Charts,
    FlareRecord,
    Flares,
    Group,
    HistoryResponse,
    Leaderboards,
    Newest,
    RecordWindow,
    SnapshotResponse,
    TokenDetails,
    TrackRecord,
)
from .transports import Key, check_access, headers_of

T = TypeVar("T")


class Client:
    """Requests to a server: `async with Client("https://example.com") as client`.

    Each method raises RequestError if the server rejects the request, aiohttp's or asyncio's error
    if it cannot be reached, and ProtocolError or ValueError if the response is invalid. The
    constructor raises ValueError if an argument is invalid.
    `at` is a past minute, such as `2026-01-31T12:00Z`.
    """

    def __init__(self, url: str, *, key: Key = None, timeout_s: float = 30) -> None:
        self._base, self._key = url.rstrip("/"), key
        check_access(self._base, key)
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._session:
            await self._session.close()

    async def snapshot(self, at: str | None = None, group: Group | None = None) -> SnapshotResponse:
        """Returns all lists, and the cursor to continue from: `connect(url, after=cursor)`.

        The flares are those of `group`, by default of `bsc`.
        """
        return await self._get(SnapshotResponse, "snapshot", {"at": at, "group": group})

    async def flares(self, at: str | None = None, group: Group | None = None) -> Flares:
        """Returns the lists of flares of a group, by default `bsc`."""
        return await self._get(Flares, "flares", {"at": at, "group": group})

    async def newest(self, at: str | None = None) -> Newest:
        return await self._get(Newest, "newest", {"at": at})

    async def charts(self, at: str | None = None) -> Charts:
        return await self._get(Charts, "charts", {"at": at})

    async def leaderboards(self, at: str | None = None) -> Leaderboards:
        return await self._get(Leaderboards, "leaderboards", {"at": at})

    async def candles(self, at: str | None = None) -> Candles:
        return await self._get(Candles, "candles", {"at": at})

    async def history(self, **query: str | int) -> HistoryResponse:
        """Returns finished flares, newest first. `query`: parameters of /api/v1/history.

        `from_` is the parameter `from`, which is a keyword of Python.
        """
        given = {"from" if name == "from_" else name: value for name, value in query.items()}
        return await self._get(HistoryResponse, "history", given)

    async def record(
        self, window: RecordWindow = "24h", group: Group | None = None, at: str | None = None
    ) -> TrackRecord:
        return await self._get(TrackRecord, "record", {"window": window, "group": group, "at": at})

    async def flare(self, id: str, at: str | None = None) -> FlareRecord:
        return await self._get(FlareRecord, f"flares/{quote(id, safe='')}", {"at": at})

    async def token(self, group: Group, token: str, at: str | None = None) -> TokenDetails:
        """Returns a token by its address or unique symbol."""
        return await self._get(TokenDetails, f"tokens/{group}/{quote(token, safe='')}", {"at": at})

    async def _get(self, kind: type[T], path: str, query: dict[str, Any]) -> T:
        self._session = self._session or aiohttp.ClientSession(timeout=self._timeout)
        given = {name: value for name, value in query.items() if value is not None}
        headers = await headers_of(self._key)
        url = f"{self._base}/api/v1/{path}"
        async with self._session.get(url, params=given, headers=headers) as response:
            body = await response.read()
            if response.status != 200:
                raise RequestError(response.status, _problem_of(response, body))
            return decode(kind, json.loads(body))


def _problem_of(response: aiohttp.ClientResponse, body: bytes) -> dict[str, Any]:
    if "problem+json" not in response.headers.get("Content-Type", ""):
        return {}
    problem = json.loads(body)
    return problem if isinstance(problem, dict) else {}


"""What can fail."""

from __future__ import annotations

from typing import Any


class StreamError(Exception):
    """The server rejected this client for good; `code` is its close code or HTTP status."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class RequestError(Exception):
    """A REST request failed. `problem`: the server's problem (RFC 9457), or empty if it sent none."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"HTTP {status} {problem.get('detail', '')}".strip())
        self.status = status
        self.problem = problem


class ProtocolError(ValueError):
    """A message or a response is not in the form of the contracts."""

"""Follows a Flarewire server: flares as they start and finish, without gaps or repeats."""

try:
    import aiohttp as _aiohttp
except ModuleNotFoundError as error:
    if error.name != "aiohttp":
        raise
    raise ModuleNotFoundError(
        "flarewire needs aiohttp: apt install python3-aiohttp, or pip install aiohttp in a virtual environment",
        name="aiohttp",
    ) from None

from . import model
from .errors import ProtocolError, RequestError, StreamError
from .model import *
from .rest import Client
from .stream import Connection, Reset, Stream, connect

__all__ = ["Client", "Connection", "ProtocolError", "RequestError", "Reset", "Stream", "StreamError", "connect"]
__all__ += model.__all__

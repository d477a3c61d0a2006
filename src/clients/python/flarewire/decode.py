"""Turns JSON into the types of model.py. Ignores unknown fields, as clients have to (W6)."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, Callable, Literal, TypeVar, get_args, get_origin, get_type_hints

from . import model
from .errors import ProtocolError

T = TypeVar("T")
Decoder = Callable[[Any], Any]


def decode(kind: type[T], value: Any) -> T:
    """Returns the value as this dataclass.

    Raises ProtocolError if a field is missing or not an object.
    """
    decoded: T = _decoder(kind)(value)
    return decoded


def decode_event(message: dict[str, Any]) -> model.Event | None:
    """Returns an event; None for one that this version does not know."""
    kind = _EVENTS.get(message.get("name", ""))
    return None if kind is None else decode(kind, message)


def _decoder(kind: Any) -> Decoder:
    decoder: Decoder = _built(kind)
    return decoder


@cache
def _built(kind: Any) -> Decoder:
    if dataclasses.is_dataclass(kind):
        return _of_fields(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is list:
        item = _decoder(args[0])
        return lambda value: [item(one) for one in value]
    if origin is dict:
        item = _decoder(args[1])
        return lambda value: {key: item(one) for key, one in value.items()}
    if origin is not Literal and args:
        inner = [one for one in args if dataclasses.is_dataclass(one) or get_origin(one) in (list, dict)]
        if inner:
            return _of_any(inner)
    return lambda value: value


def _of_any(kinds: list[Any]) -> Decoder:
    """Chooses, among the types whose required fields are all present, the one with the most."""

    def of(value: Any) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        fitting = [kind for kind in kinds if _required(kind) <= set(value)] if len(kinds) > 1 else kinds
        return _decoder(max(fitting or kinds, key=lambda kind: len(_required(kind))))(value)

    return of


@cache
def _required(kind: Any) -> frozenset[str]:
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return frozenset(_name_of(field) for field in fields if field.default is dataclasses.MISSING)


def _name_of(field: dataclasses.Field[Any]) -> str:
    """Returns a field's name in JSON."""
    return str(field.metadata.get("name", field.name.rstrip("_")))


def _of_fields(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    fields = [
        (field.name, _name_of(field), _decoder(hints[field.name]), field.default is dataclasses.MISSING)
        for field in dataclasses.fields(kind)
    ]

    def of(value: Any) -> Any:
        if not isinstance(value, dict):
            raise ProtocolError(f"expected an object for {kind.__name__}, not {type(value).__name__}")
        found = {}
        for attribute, name, item, is_required in fields:
            if name in value:
                found[attribute] = item(value[name])
            elif is_required:
                raise ProtocolError(f"{kind.__name__} lacks {name}")
        return kind(**found)

    return of


_EVENTS: dict[str, Any] = {get_args(get_type_hints(kind)["name"])[0]: kind for kind in get_args(model.Event)}

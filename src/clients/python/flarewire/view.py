"""Applies events to lists, as in the protocol's "Applying events"."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Mismatch(Exception):
    """A change does not fit its list: an event was missed or applied twice."""


def apply_event(view: Json, event: Json) -> Json:
    """Returns the view after the event; does not modify the given one.

    Raises Mismatch or KeyError if the event does not fit.
    """
    resource, _, name = event["channel"].rpartition(".")
    name = "finished_trending" if name == "finished" else name
    lists = view.get(resource)
    if not isinstance(lists, dict) or not isinstance(lists.get(name), list):
        return view
    data = event["data"]
    items: list[Json] = lists[name]
    for change in data["changes"] if "changes" in data else [data]:
        items = _changed(items, change)
    view = {**view, resource: {**lists, name: items}}
    return _annotated(view, resource, name, data) if resource.startswith("flares") else view


def _changed(items: list[Json], change: Json) -> list[Json]:
    op, keys = change.get("op"), [_key(item) for item in items]
    if op == "insert":
        item = change.get("item") or change.get("flare") or change.get("listing") or {}
        index = change["index"]
        if _key(item) in keys or not 0 <= index <= len(items):
            raise Mismatch(f"insert of {_key(item)} at {index}")
        return [*items[:index], item, *items[index:]]
    if op == "order":
        by_key = dict(zip(keys, items))
        if sorted(change["ids"]) != sorted(keys):
            raise Mismatch("order names other items")
        return [by_key[key] for key in change["ids"]]
    if op not in ("set", "remove") or change["id"] not in keys:
        raise Mismatch(f"{op} of {change.get('id')}")
    index = keys.index(change["id"])
    if op == "remove":
        return [*items[:index], *items[index + 1 :]]
    unset = change.get("unset", ())
    item = {key: value for key, value in {**items[index], **change["set"]}.items() if key not in unset}
    return [*items[:index], item, *items[index + 1 :]]


def _annotated(view: Json, resource: str, name: str, data: Json) -> Json:
    flare = data.get("id") or data.get("flare", {}).get("id")
    if flare is None:
        return view
    is_gone = data["op"] == "remove"
    is_listed = any(item["id"] == flare for items in view[resource].values() for item in items)
    explanations = dict(view.get("explanations", {}))
    if not is_listed or ("why" in data and data["why"] is None and not is_gone):
        explanations.pop(flare, None)
    elif "why" in data and not is_gone:
        explanations[flare] = data["why"]
    view = {**view, "explanations": explanations}
    if name == "finished_trending":
        outcomes = dict(view.get("outcomes", {}))
        if is_gone or ("outcome" in data and data["outcome"] is None):
            outcomes.pop(flare, None)
        elif "outcome" in data:
            outcomes[flare] = data["outcome"]
        view["outcomes"] = outcomes
    return view


def _key(item: Json) -> str:
    if "id" in item:
        return str(item["id"])
    target = item.get("object", {})
    return str(target.get("id") or target.get("address") or target.get("symbol"))

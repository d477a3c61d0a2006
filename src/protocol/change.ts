import type { ListItem } from "../model/index.ts";
import { keyOf } from "../model/key-of.ts";

/*
 * Law L1: any list becomes any other by these four, applied in order. Items are named by their key (see keyOf).
 */

/** One step from a list to the next. */
export type Change =
  | { readonly op: "insert"; readonly index: number; readonly item: ListItem }
  | { readonly op: "remove"; readonly id: string }
  | {
      readonly op: "set";
      readonly id: string;
      readonly set: Readonly<Record<string, unknown>>;
      readonly unset?: readonly string[];
    }
  | { readonly op: "order"; readonly ids: readonly string[] };

/** A change that does not fit the list it is applied to: the list is not the one that the change was made for. */
export class ChangeMismatch extends Error {
  override readonly name = "ChangeMismatch";
}

/**
 * The list after `change`; the one given stays as it was. Throws {@link ChangeMismatch} when it does not fit: an unknown or doubled key, an
 * index beyond the end, fields that would make the item another, an operation that is none of the four.
 */
export function applyChange(list: readonly ListItem[], change: Change): readonly ListItem[] {
  switch (change.op) {
    case "insert": {
      const { index, item } = change;
      const key = readKey(item);
      const fits = Number.isInteger(index) && index >= 0 && index <= list.length;
      if (!fits || list.some((other) => keyOf(other) === key)) {
        throw new ChangeMismatch(`insert of ${key} at ${index} of ${list.length}`);
      }
      return list.toSpliced(index, 0, item);
    }
    case "remove":
      return list.toSpliced(indexOf(list, change.id), 1);
    case "set": {
      const index = indexOf(list, change.id);
      const item: Record<string, unknown> = { ...list[index], ...change.set };
      for (const field of change.unset ?? []) delete item[field];
      const key = readKey(item as ListItem);
      if (key !== change.id) throw new ChangeMismatch(`set makes ${change.id} to ${key}`);
      return list.with(index, item as ListItem);
    }
    case "order": {
      const byKey = new Map(list.map((item) => [keyOf(item), item]));
      const ordered = [...new Set(change.ids)].flatMap((id) => byKey.get(id) ?? []);
      if (ordered.length !== list.length || change.ids.length !== list.length) {
        throw new ChangeMismatch(`order of ${change.ids.length} of ${list.length}`);
      }
      return ordered;
    }
    default:
      throw new ChangeMismatch(`unknown change ${(change satisfies never as { op: unknown }).op}`);
  }
}

/** The key of an item out of a message, which need not have the form that its type promises. */
function readKey(item: ListItem): string {
  try {
    return keyOf(item);
  } catch (cause) {
    throw new ChangeMismatch("an item without a key", { cause });
  }
}

function indexOf(list: readonly ListItem[], key: string): number {
  const index = list.findIndex((item) => keyOf(item) === key);
  if (index < 0) throw new ChangeMismatch(`no item ${key} of ${list.length}`);
  return index;
}

import type { ListItem } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";

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
        throw misfit(list, change, `${key} at ${index}`);
      }
      return list.toSpliced(index, 0, item);
    }
    case "remove":
      return list.toSpliced(indexOf(list, change), 1);
    case "set": {
      const index = indexOf(list, change);
      const item: Record<string, unknown> = { ...list[index], ...change.set };
      for (const field of change.unset ?? []) delete item[field];
      const key = readKey(item as ListItem);
      if (key !== change.id) throw misfit(list, change, `${change.id} to ${key}`);
      return list.with(index, item as ListItem);
    }
    case "order": {
      const byKey = new Map(list.map((item) => [keyOf(item), item]));
      const ordered = [...new Set(change.ids)].flatMap((id) => byKey.get(id) ?? []);
      if (ordered.length !== list.length || change.ids.length !== list.length) {
        throw misfit(list, change, change.ids.length);
      }
      return ordered;
    }
    default:
      throw misfit(list, change satisfies never, "unknown");
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

function indexOf(list: readonly ListItem[], change: Extract<Change, { id: string }>): number {
  const index = list.findIndex((item) => keyOf(item) === change.id);
  if (index < 0) throw misfit(list, change, change.id);
  return index;
}

function misfit(list: readonly ListItem[], { op }: Pick<Change, "op">, what: string | number) {
  return new ChangeMismatch(`${op} of ${what} does not fit the list of ${list.length}`);
}

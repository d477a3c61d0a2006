import type { ListItem } from "../../model/index.ts";
import { keyOf } from "../../model/key-of.ts";

/* Law L1: these four changes turn any list into any other. Items have keys (see keyOf). */

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

/** A change does not fit its list: the list is not the one that the change was made for. */
export class ChangeMismatch extends Error {
  override readonly name = "ChangeMismatch";
}

/** Returns a changed copy of the list. Throws {@link ChangeMismatch} if the change does not fit. */
export function applyChange(list: readonly ListItem[], change: Change): readonly ListItem[] {
  switch (change.op) {
    case "insert": {
      const { index, item } = change;
      const key = readKey(item);
      const fits = Number.isInteger(index) && index >= 0 && index <= list.length;
      if (!fits || list.some((other) => keyOf(other) === key)) {
        throw mismatch(change, key);
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
      if (key !== change.id) throw mismatch(change, key);
      return list.with(index, item as ListItem);
    }
    case "order": {
      const byKey = new Map(list.map((item) => [keyOf(item), item]));
      const ordered = [...new Set(change.ids)].flatMap((id) => byKey.get(id) ?? []);
      if (ordered.length !== list.length || change.ids.length !== list.length) {
        throw mismatch(change);
      }
      return ordered;
    }
    default:
      throw mismatch(change satisfies never);
  }
}

/** Reads the key of an item from a message, which may be malformed. */
function readKey(item: ListItem): string {
  try {
    return keyOf(item);
  } catch (cause) {
    throw new ChangeMismatch("no key", { cause });
  }
}

function indexOf(list: readonly ListItem[], change: Extract<Change, { id: string }>): number {
  const index = list.findIndex((item) => keyOf(item) === change.id);
  if (index < 0) throw mismatch(change, change.id);
  return index;
}

function mismatch({ op }: Pick<Change, "op">, key = "") {
  return new ChangeMismatch(`${op} ${key} does not fit`);
}

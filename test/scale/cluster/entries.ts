import type { Entry, EntryHeader, Position } from "../../../src/scale/cluster/entry.ts";
import { LOG_START } from "../../../src/scale/cluster/entry.ts";

let nonce = 0;

/** Makes an entry that follows a position. Each call returns a different entry. */
export function entryAfter(position: Position, header: Partial<EntryHeader> = {}): Entry {
  const own = `n${++nonce}`;
  const usual = { kind: "batch", term: 1, by: "a", committed: 0, epoch: "e1" } as const;
  return {
    offset: position.offset + 1,
    hash: own,
    header: { ...usual, ...header, nonce: own, prev: position.hash },
    body: Buffer.alloc(0),
  };
}

/** Makes consecutive entries. The first is a base. */
export function chain(count: number, header: Partial<EntryHeader> = {}): readonly Entry[] {
  const entries: Entry[] = [];
  for (let index = 0; index < count; index++)
    entries.push(
      entryAfter(entries.at(-1) ?? LOG_START, { kind: index === 0 ? "base" : "batch", ...header }),
    );
  return entries;
}

import { nameItem } from "../../../base/model/index.ts";
import type { TailEvent } from "./event-lines.ts";

export type Fields = Readonly<Record<string, unknown>>;

const MAX_SYMBOLS = 20_000;

/** Remembers symbols by item id and token address, for events that state only these. Bounded. */
export class SymbolIndex {
  readonly #symbols = new Map<string, string>();

  of(id: unknown): string | undefined {
    return typeof id === "string" ? this.#symbols.get(id) : undefined;
  }

  learnSnapshot(snapshot: object): void {
    for (const lists of Object.values(snapshot)) {
      for (const items of Object.values(asRecord(lists) ?? {})) this.#learnAll(items);
    }
  }

  learnEvent({ data }: TailEvent): void {
    this.#learnAll([data.flare, data.listing]);
    const changes = Array.isArray(data.changes) ? data.changes : [];
    this.#learnAll(changes.map((change: unknown) => asRecord(change)?.item));
  }

  #learnAll(items: unknown): void {
    if (!Array.isArray(items)) return;
    for (const entry of items) {
      const item = asRecord(entry);
      const symbol = item && nameItem(item);
      if (!item || symbol === undefined) continue;
      for (const id of [idOf(item), addressOf(item)]) {
        if (typeof id !== "string") continue;
        this.#symbols.delete(id);
        this.#symbols.set(id, symbol);
      }
    }
    for (const id of this.#symbols.keys()) {
      if (this.#symbols.size <= MAX_SYMBOLS) break;
      this.#symbols.delete(id);
    }
  }
}

function idOf(item: Fields): unknown {
  const object = asRecord(item.object);
  return item.id ?? object?.id ?? object?.address ?? object?.symbol;
}

function addressOf({ token, object }: Fields): unknown {
  const item = asRecord(object);
  return asRecord(token)?.address ?? asRecord(item?.token)?.address ?? item?.address;
}

export function asRecord(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

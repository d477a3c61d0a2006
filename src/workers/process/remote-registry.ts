import {
  type Access,
  type ConnectionHandle,
  type ConnectionHolder,
  type Refusal,
  Slot,
  type SlotAllocator,
} from "../../http/index.ts";
import type { CloseReason } from "../../protocol/index.ts";
import type { Holder } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

/** Requests slots for a worker's connections from the primary, which counts all of them. */
export class RemoteRegistry implements SlotAllocator {
  readonly #link: PrimaryLink;
  readonly #byNumber = new Map<number, Slot | ConnectionHolder>();
  readonly #byRaw = new WeakMap<ConnectionHandle, Slot>();
  readonly #numbers = new WeakMap<ConnectionHolder, number>();
  readonly #ends: () => number;
  #last = 0;

  /** @param ends Returns the number of key ends received. */
  constructor(link: PrimaryLink, ends: () => number) {
    this.#link = link;
    this.#ends = ends;
  }

  /** See SlotAllocator. */
  async admit(
    raw: ConnectionHandle,
    address: string,
    name: string | undefined,
    access: Access,
  ): Promise<Refusal | undefined> {
    const place = this.#next();
    const { key, ticket } = access;
    const held = new Slot(raw, address, undefined, access);
    this.#byNumber.set(place, held);
    this.#byRaw.set(raw, held);
    raw.on("close", () => this.#left(place));
    const question = { kind: "admit", place, address, name, key: this.#holder(key), ticket } as const;
    const refusal = await this.#link.ask(question);
    if (refusal === undefined) return undefined;
    this.#byNumber.delete(place);
    if (this.#byRaw.get(raw) === held) this.#byRaw.delete(raw);
    return refusal as Refusal;
  }

  /** See SlotAllocator. */
  slotOf(raw: ConnectionHandle): Slot | undefined {
    return this.#byRaw.get(raw);
  }

  /** See SlotAllocator. */
  async acquire(holder: ConnectionHolder): Promise<Refusal | undefined> {
    const place = this.#next();
    this.#byNumber.set(place, holder);
    this.#numbers.set(holder, place);
    const { address, key } = holder;
    const refusal = await this.#link.ask({ kind: "acquire", place, address, key: this.#holder(key) });
    if (refusal === undefined) return undefined;
    this.#byNumber.delete(place);
    return refusal as Refusal;
  }

  /** See SlotAllocator. */
  release(holder: ConnectionHolder): void {
    const place = this.#numbers.get(holder);
    if (place !== undefined) this.#left(place);
  }

  /** Closes the holder of a slot, at the primary's request. */
  end(place: number, reason: CloseReason): void {
    this.#byNumber.get(place)?.end(reason);
  }

  /** Destroys a connection, at the primary's request. */
  cut(place: number): void {
    const held = this.#byNumber.get(place);
    if (held instanceof Slot) held.raw.destroy();
  }

  #holder(key: Access["key"]): Holder | undefined {
    return key && { id: key.id, connections: key.connections, ends: this.#ends() };
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }

  #left(place: number): void {
    // A refused holder has no slot to release.
    if (this.#byNumber.delete(place)) this.#link.send({ type: "left", place });
  }
}

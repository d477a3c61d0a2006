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

/** The places of a worker's connections, which the primary gives and counts. */
export class RemotePlaces implements SlotAllocator {
  readonly #link: PrimaryLink;
  readonly #byNumber = new Map<number, Slot | ConnectionHolder>();
  readonly #byRaw = new WeakMap<ConnectionHandle, Slot>();
  readonly #numbers = new WeakMap<ConnectionHolder, number>();
  readonly #ends: () => number;
  #last = 0;

  /** `ends`: how many ends of keys were heard of. */
  constructor(link: PrimaryLink, ends: () => number) {
    this.#link = link;
    this.#ends = ends;
  }

  /** See PlaceGiver. */
  async seat(
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
    const question = { kind: "seat", place, address, name, key: this.#holder(key), ticket } as const;
    const refusal = await this.#link.ask(question);
    if (refusal === undefined) return undefined;
    this.#byNumber.delete(place);
    if (this.#byRaw.get(raw) === held) this.#byRaw.delete(raw);
    return refusal as Refusal;
  }

  /** See PlaceGiver. */
  placeOf(raw: ConnectionHandle): Slot | undefined {
    return this.#byRaw.get(raw);
  }

  /** See PlaceGiver. */
  async sit(guest: ConnectionHolder): Promise<Refusal | undefined> {
    const place = this.#next();
    this.#byNumber.set(place, guest);
    this.#numbers.set(guest, place);
    const { address, key } = guest;
    const refusal = await this.#link.ask({ kind: "sit", place, address, key: this.#holder(key) });
    if (refusal === undefined) return undefined;
    this.#byNumber.delete(place);
    return refusal as Refusal;
  }

  /** See PlaceGiver. */
  leave(guest: ConnectionHolder): void {
    const place = this.#numbers.get(guest);
    if (place !== undefined) this.#left(place);
  }

  /** The primary ends what the place was taken for. */
  end(place: number, reason: CloseReason): void {
    this.#byNumber.get(place)?.end(reason);
  }

  /** The primary cuts a connection. */
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
    // One that was refused had nothing to leave.
    if (this.#byNumber.delete(place)) this.#link.send({ type: "left", place });
  }
}

import {
  type Access,
  type Guest,
  Place,
  type PlaceGiver,
  type Refusal,
  type Wire,
} from "../../http/index.ts";
import type { CloseReason } from "../../protocol/index.ts";
import type { Holder } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

/** The places of a worker's connections, which the primary gives and counts. */
export class RemotePlaces implements PlaceGiver {
  readonly #link: PrimaryLink;
  readonly #byNumber = new Map<number, Place | Guest>();
  readonly #byRaw = new WeakMap<Wire, Place>();
  readonly #numbers = new WeakMap<Guest, number>();
  readonly #ends: () => number;
  #last = 0;

  /** `ends`: how many ends of keys were heard of. */
  constructor(link: PrimaryLink, ends: () => number) {
    this.#link = link;
    this.#ends = ends;
  }

  /** See PlaceGiver. */
  async seat(
    raw: Wire,
    address: string,
    name: string | undefined,
    access: Access,
  ): Promise<Refusal | undefined> {
    const place = this.#next();
    const { key, ticket } = access;
    const held = new Place(raw, address, undefined, access);
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
  placeOf(raw: Wire): Place | undefined {
    return this.#byRaw.get(raw);
  }

  /** See PlaceGiver. */
  async sit(guest: Guest): Promise<Refusal | undefined> {
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
  leave(guest: Guest): void {
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
    if (held instanceof Place) held.raw.destroy();
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

import type { Seq } from "../../base/protocol/index.ts";
import type { LogRecord } from "../log/event-log.ts";
import { type EventHeadCache, frameEvents } from "./delivery/event-frames.ts";
import type { Steps } from "./lists/list-walk.ts";
import type { DeliveryHost } from "./session/session-host.ts";
import type { Outlet, Socket } from "./session/socket.ts";
import type { StreamShape } from "./session/stream-shape.ts";

/** A session as its group sees it. */
export interface GroupMember {
  /** Index among the members; maintained by the group. */
  slot: number;
  /** Its outlet receives the bytes. When it is full, the member leaves the group. */
  readonly socket: Socket;
  /** Called after a round if the socket is full. Everything up to `prev` was sent. */
  fallBehind(prev: Seq): void;
  /** Called if the socket threw, after the write to all members, or if the group failed. */
  fail(error: unknown): void;
}

/**
 * The live sessions of one shape. Each batch is framed once, and each member costs one write and no
 * allocation.
 */
export class Group {
  /** A group is also the state of its members' delivery, which need no object of their own. */
  readonly kind = "live";
  readonly shape: StreamShape;
  readonly #members: GroupMember[] = [];
  /** The members' outlets, in the same order: saves two cache misses per member. */
  readonly #outlets: Outlet[] = [];
  #prev: Seq;
  #turn = 0;

  /** `prev`: every member was sent all events of the shape up to this seq. */
  constructor(shape: StreamShape, prev: Seq) {
    this.shape = shape;
    this.#prev = prev;
  }

  get size(): number {
    return this.#members.length;
  }

  /** Every member was sent the shape's events up to here. A joining member may lower it. */
  get prev(): Seq {
    return this.#prev;
  }

  /**
   * Adds a member that is at the head. `prev`: the seq of the last event or cursor that it was
   * sent; the shape has had no event since.
   */
  add(member: GroupMember, prev: Seq): void {
    member.slot = this.#members.length;
    this.#members.push(member);
    this.#outlets.push(member.socket.outlet);
    if (prev < this.#prev) this.#prev = prev;
  }

  /** Removes a member in constant time; the order of the others may change. */
  remove(member: GroupMember): void {
    const last = this.#members.pop();
    this.#outlets.pop();
    if (!last || last === member) return;
    this.#members[member.slot] = last;
    this.#outlets[member.slot] = last.socket.outlet;
    last.slot = member.slot;
  }

  /** Sends the records that belong to the shape, and counts them. */
  publish(
    records: readonly LogRecord[],
    heads: EventHeadCache,
    steps: Steps,
    { counters, wallMs }: Pick<DeliveryHost, "counters" | "wallMs">,
  ): void {
    const from = { heads, prev: this.#prev, through: this.#prev };
    const frames = frameEvents(records, this.shape, from, steps);
    this.#prev = frames.prev;
    if (!frames.bytes) return;
    const deliveries = frames.count * this.size;
    counters.deliveries += deliveries;
    counters.deliveredBytes += frames.bytes.length * this.size;
    // All events of a batch have the same time. The clock is read twice per group, not per socket.
    const emittedAtMs = records[0]?.emittedAtMs ?? wallMs();
    const firstMs = wallMs() - emittedAtMs;
    this.send(frames.bytes);
    counters.delays.add(firstMs, wallMs() - emittedAtMs, deliveries);
  }

  /** Fails all members after an internal error. */
  fail(error: unknown): void {
    for (const member of [...this.#members]) member.fail(error);
  }

  /**
   * Sends the same bytes to every member. Each round starts near the end of the last one and goes
   * back, while those members are in the cache. None stays last. Hot: `npm run bench -- fanout`.
   */
  send(bytes: Buffer): void {
    const outlets = this.#outlets;
    const count = outlets.length;
    const turn = this.#turn++;
    const step = turn % 2 === 0 ? 1 : count - 1;
    const full: GroupMember[] = [];
    const failed: { readonly member: GroupMember; readonly error: unknown }[] = [];
    let at = (turn * (1 + (count >> 6))) % count;
    for (let left = count; left > 0; left--, at = (at + step) % count) {
      try {
        const outlet = outlets[at];
        if (!outlet?.writable || outlet.write(bytes)) continue;
        const member = this.#members[at];
        if (member) full.push(member);
      } catch (error) {
        const member = this.#members[at];
        if (member) failed.push({ member, error });
      }
    }
    for (const member of full) member.fallBehind(this.#prev);
    for (const { member, error } of failed) member.fail(error);
  }
}

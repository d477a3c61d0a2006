import type { LogRecord } from "../log/event-log.ts";
import type { Epoch, Seq } from "../protocol/index.ts";
import { frameEvents } from "./event-frames.ts";
import type { Steps } from "./list-walk.ts";
import type { Shape } from "./shape.ts";
import type { Tally } from "./tally.ts";

/** A session as its group sees it. */
export interface GroupMember {
  /** Its place among the members; kept by the group. */
  slot: number;
  /** Writes the bytes; false when the socket has no room for more, so that the member has to leave. Never calls the group. */
  deliver(bytes: Buffer): boolean;
  /** The socket is full: called after the round, with the seq up to which the member was sent everything. */
  fallBehind(prev: Seq): void;
  /** `deliver` threw; called after the round. */
  fail(error: unknown): void;
}

/** How far the start of a round moves each time: a prime larger than most groups, so that nobody is last for long. */
const STRIDE = 7_919;

/**
 * The sessions of one shape that have been sent everything up to the head. They need the same bytes, so these are made once,
 * joined per batch, and each member costs one write; nothing is allocated per member.
 */
export class Group {
  readonly shape: Shape;
  readonly #members: GroupMember[] = [];
  #prev: Seq;
  #turn = 0;

  /** `prev`: the seq before which nothing of the shape was left out to any member. */
  constructor(shape: Shape, prev: Seq) {
    this.shape = shape;
    this.#prev = prev;
  }

  get size(): number {
    return this.#members.length;
  }

  /** See the constructor. Lowered by members who join with less: what a client holds must never be below it. */
  get prev(): Seq {
    return this.#prev;
  }

  /** Takes in a member that was sent everything of the shape up to the head, and holds `prev` or more. */
  add(member: GroupMember, prev: Seq): void {
    member.slot = this.#members.length;
    this.#members.push(member);
    if (prev < this.#prev) this.#prev = prev;
  }

  /** Lets a member go, in constant time; the order of the others does not matter. */
  remove(member: GroupMember): void {
    const last = this.#members.pop();
    if (!last || last === member) return;
    this.#members[member.slot] = last;
    last.slot = member.slot;
  }

  /** Sends the batch's events of this shape, and counts them. */
  publish(records: readonly LogRecord[], epoch: Epoch, steps: Steps, tally: Tally): void {
    const from = { epoch, prev: this.#prev, through: this.#prev };
    const frames = frameEvents(records, this.shape, from, steps);
    this.#prev = frames.prev;
    if (!frames.bytes) return;
    tally.deliveries += frames.count * this.size;
    tally.deliveredBytes += frames.bytes.length * this.size;
    this.send(frames.bytes);
  }

  /** Ends all members for a fault of ours. */
  fail(error: unknown): void {
    for (const member of [...this.#members]) member.fail(error);
  }

  /** Gives every member the same bytes. Each round starts with another member. */
  send(bytes: Buffer): void {
    const members = this.#members;
    const count = members.length;
    const start = count > 0 ? (this.#turn++ * STRIDE) % count : 0;
    const full: GroupMember[] = [];
    const failed: { readonly member: GroupMember; readonly error: unknown }[] = [];
    for (let step = 0, at = start; step < count; step++, at = at + 1 === count ? 0 : at + 1) {
      const member = members[at];
      if (!member) continue;
      try {
        if (!member.deliver(bytes)) full.push(member);
      } catch (error) {
        failed.push({ member, error });
      }
    }
    for (const member of full) member.fallBehind(this.#prev);
    for (const { member, error } of failed) member.fail(error);
  }
}

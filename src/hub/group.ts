import type { LogRecord } from "../log/event-log.ts";
import type { Seq } from "../protocol/index.ts";
import { type FramePrefixes, frameEvents } from "./delivery/event-frames.ts";
import type { HubCounters } from "./hub-counters.ts";
import type { Steps } from "./lists/list-walk.ts";
import type { Socket } from "./session/socket.ts";
import type { StreamShape } from "./session/stream-shape.ts";

/** A session as its group sees it. */
export interface GroupMember {
  /** Its place among the members; kept by the group. */
  slot: number;
  /** Where its bytes go. When that is full, the member has to leave. */
  readonly socket: Socket;
  /** The socket is full: called after the round, with the seq up to which the member was sent everything. */
  fallBehind(prev: Seq): void;
  /** The socket threw; called after the round. */
  fail(error: unknown): void;
}

/** How far the start of a round moves each time: a prime larger than most groups, so that nobody is last for long. */
const STRIDE = 7_919;

/**
 * The sessions of one shape that have been sent everything up to the head. They need the same bytes, so these are made once,
 * joined per batch, and each member costs one write; nothing is allocated per member.
 */
export class Group {
  readonly shape: StreamShape;
  readonly #members: GroupMember[] = [];
  /** Those of the members, in their order: with ten thousand of them, each object that a round need not look at is a miss of the cache less. */
  readonly #sockets: Socket[] = [];
  #prev: Seq;
  #turn = 0;

  /** `prev`: the seq before which nothing of the shape was left out to any member. */
  constructor(shape: StreamShape, prev: Seq) {
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
    this.#sockets.push(member.socket);
    if (prev < this.#prev) this.#prev = prev;
  }

  /** Lets a member go, in constant time; the order of the others does not matter. */
  remove(member: GroupMember): void {
    const last = this.#members.pop();
    this.#sockets.pop();
    if (!last || last === member) return;
    this.#members[member.slot] = last;
    this.#sockets[member.slot] = last.socket;
    last.slot = member.slot;
  }

  /** Sends those of the records that are of this shape, and counts them. */
  publish(records: readonly LogRecord[], heads: FramePrefixes, steps: Steps, tally: HubCounters): void {
    const from = { heads, prev: this.#prev, through: this.#prev };
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
    const count = this.#sockets.length;
    const start = count > 0 ? (this.#turn++ * STRIDE) % count : 0;
    const full: GroupMember[] = [];
    const failed: Failure[] = [];
    this.#write(bytes, start, count, full, failed);
    this.#write(bytes, 0, start, full, failed);
    for (const member of full) member.fallBehind(this.#prev);
    for (const { member, error } of failed) member.fail(error);
  }

  /** Writes to the members in these places. This is where the time goes: see `npm run bench -- fanout`. */
  #write(bytes: Buffer, from: number, to: number, full: GroupMember[], failed: Failure[]): void {
    const sockets = this.#sockets;
    for (let at = from; at < to; at++) {
      try {
        if (sockets[at]?.write(bytes) !== false) continue;
        const member = this.#members[at];
        if (member) full.push(member);
      } catch (error) {
        const member = this.#members[at];
        if (member) failed.push({ member, error });
      }
    }
  }
}

interface Failure {
  readonly member: GroupMember;
  readonly error: unknown;
}

import type { AppendResult } from "../../../src/scale/cluster/effect.ts";
import { type Entry, LOG_START, type Position } from "../../../src/scale/cluster/entry.ts";

/** Calls functions in the order of virtual time. */
export class Schedule {
  nowMs = 0;
  #next = 0;
  readonly #heap: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = [];

  after(ms: number, run: () => void): void {
    const heap = this.#heap;
    const item = { atMs: this.nowMs + ms, order: this.#next++, run };
    let at = heap.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (!above || isDue(above, item)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = item;
  }

  runUntil(endMs: number): void {
    for (let [first] = this.#heap; first && first.atMs <= endMs; [first] = this.#heap) {
      this.#removeFirst();
      this.nowMs = first.atMs;
      first.run();
    }
    this.nowMs = endMs;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const item = heap.pop();
    if (!item || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isLeft = left !== undefined && !(right !== undefined && isDue(right, left));
      const child = isLeft ? left : right;
      if (child === undefined || isDue(item, child)) break;
      heap[at] = child;
      at = 2 * at + (isLeft ? 1 : 2);
    }
    heap[at] = item;
  }
}

function isDue(one: { atMs: number; order: number }, other: { atMs: number; order: number }): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/** One server of the engine: a primary, a replica, or one that is down. */
export interface EngineServer {
  readonly id: number;
  log: Entry[];
  isUp: boolean;
  /** Whether it is paused: it does not answer, and keeps its log. */
  isPaused: boolean;
  /** Whether it acts as the primary. An old primary does until it learns of the fail-over. */
  isPrimary: boolean;
}

export const end = (server: EngineServer): Position => server.log.at(-1) ?? LOG_START;

/** Appends an entry only after its predecessor, as the engine's script does. */
export function append(server: EngineServer, entry: Entry): AppendResult {
  const head = end(server);
  const expected = entry.offset - 1;
  if (head.offset < expected) return { kind: "truncated", head: { offset: head.offset, hash: head.hash } };
  if (head.offset > expected)
    return { kind: server.log[expected]?.hash === entry.hash ? "appended" : "fenced" };
  if (head.hash !== entry.header.prev) return { kind: "fenced" };
  server.log.push(entry);
  return { kind: "appended" };
}

/**
 * Simulates three servers with asynchronous replication. A fail-over promotes a random replica,
 * which may lack the latest entries, or the longest one, as Sentinel does while it reaches both.
 */
export class LossyEngine {
  readonly servers: readonly EngineServer[];
  /** The server to which nodes connect. */
  primary: EngineServer;
  readonly #schedule: Schedule;
  readonly #random: () => number;

  constructor(schedule: Schedule, random: () => number) {
    this.#schedule = schedule;
    this.#random = random;
    const first = server(0, true);
    this.servers = [first, server(1, false), server(2, false)];
    this.primary = first;
    for (const one of this.servers) this.#replicate(one);
  }

  /** Whether a replica that answers has the primary's entry. */
  isAcknowledged(primary: EngineServer, entry: Entry): boolean {
    return this.servers.some(
      (one) =>
        one !== primary && answers(one) && !one.isPrimary && one.log[entry.offset - 1]?.hash === entry.hash,
    );
  }

  /** Kills or pauses the primary. It returns with its log, and then becomes a replica. */
  fail(isKilled: boolean, forMs: number, isBestPromoted = false): void {
    const old = this.primary;
    if (isKilled) old.isUp = false;
    else old.isPaused = true;
    this.#schedule.after(2_000 + this.#random() * 1_000, () => this.#promote(old, isBestPromoted));
    this.#schedule.after(Math.max(forMs, 3_500), () => {
      old.isUp = true;
      old.isPaused = false;
      // A primary that returns believes for a moment longer that it is the primary.
      this.#schedule.after(this.#random() * 300, () => {
        if (this.primary !== old) old.isPrimary = false;
      });
    });
  }

  /** Removes the latest entries from all servers. `Infinity` empties them. */
  lose(count: number): void {
    const left = Math.max(0, end(this.primary).offset - count);
    for (const one of this.servers) one.log = one.log.slice(0, left);
  }

  #promote(old: EngineServer, isBest: boolean): void {
    if (this.primary !== old) return;
    const candidates = this.servers
      .filter((one) => one !== old && answers(one))
      .toSorted((a, b) => b.log.length - a.log.length);
    const next = candidates[isBest ? 0 : Math.floor(this.#random() * candidates.length)];
    if (!next) return;
    next.isPrimary = true;
    this.primary = next;
  }

  #replicate(replica: EngineServer): void {
    this.#schedule.after(1 + this.#random() ** 4 * 400, () => {
      const { primary } = this;
      if (!replica.isPrimary && answers(replica) && answers(primary) && replica !== primary) {
        const same =
          replica.log.length <= primary.log.length &&
          end(replica).hash === (primary.log[replica.log.length - 1]?.hash ?? "");
        // A replica that is ahead or has diverged copies the whole log.
        replica.log = same ? replica.log.concat(primary.log.slice(replica.log.length)) : [...primary.log];
      }
      this.#replicate(replica);
    });
  }
}

function server(id: number, isPrimary: boolean): EngineServer {
  return { id, log: [], isUp: true, isPaused: false, isPrimary };
}

function answers({ isUp, isPaused }: EngineServer): boolean {
  return isUp && !isPaused;
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as passing } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Chance, createChance } from "../support/chance.ts";
import type { ChurnOrder, Left, Second } from "./churn-server.ts";
import { Visitor, WAYS, type Way } from "./visitor.ts";

/** What is wanted. */
interface ChurnOptions {
  readonly seconds: number;
  /** Connections that come in each of them. */
  readonly perSecond: number;
  readonly seed: number;
}

/** What came of it. */
interface Churn {
  /** Connections that came, by their ways. */
  readonly came: Readonly<Record<Way, number>>;
  /** Most sessions at a time. */
  readonly most: number;
  /**
   * What was held of them when all had left; of the server's own there are its listener, and the
   * pipe to its parent.
   */
  readonly left: Left;
  /**
   * Bytes of the heap with nobody there, by which it grew from the middle to the end, for each
   * connection of that time.
   */
  readonly growth: number;
}

/** A visitor stays for up to this many seconds of the gateway's time. */
const MAX_STAY_S = 10;
/**
 * Looks until everybody's end has got to the server, whose sessions are counted in any case, and
 * what lies between two.
 */
const PATIENCE = 400;
const LOOK_MS = 25;

/**
 * Has connections of all kinds come and go at a gateway's front, whose time passes as fast as the
 * machine lets them, and counts what is held before and after.
 */
export async function runChurn({ seconds, perSecond, seed }: ChurnOptions): Promise<Churn> {
  const file = fileURLToPath(new URL("churn-server.ts", import.meta.url));
  const server = fork(file, { execArgv: ["--expose-gc", "--no-warnings"] });
  const gone = new AbortController();
  server.once("exit", () => gone.abort(new Error("the server ended in the middle")));
  try {
    const [port] = (await once(server, "message", gone)) as [number];
    const guests = new Guests(server, port, seed, gone.signal);
    const half = Math.ceil(seconds / 2);
    await guests.come(half, perSecond);
    const before = await guests.ask<number>("heap");
    await guests.come(half, perSecond);
    const growth = ((await guests.ask<number>("heap")) - before) / (half * perSecond);
    const { came, most } = guests;
    return { came, most, left: await guests.ask<Left>("left"), growth };
  } finally {
    server.kill();
  }
}

class Guests {
  readonly came: Record<Way, number>;
  most = 0;
  readonly #server: ChildProcess;
  readonly #port: number;
  readonly #chance: Chance;
  readonly #gone: AbortSignal;
  /** By the second in which they leave. */
  readonly #leaving = new Map<number, Visitor[]>();
  #second = 0;

  constructor(server: ChildProcess, port: number, seed: number, gone: AbortSignal) {
    this.#server = server;
    this.#gone = gone;
    this.#port = port;
    this.#chance = createChance(seed);
    this.came = Object.fromEntries(WAYS.map((way) => [way, 0])) as Record<Way, number>;
  }

  /** Visitors come for this many seconds; resolves when all have left, and the server knows it. */
  async come(seconds: number, perSecond: number): Promise<void> {
    for (let left = seconds + MAX_STAY_S; left >= 0; left -= 1) {
      const { cursor, ticket, size } = await this.ask<Second>("second");
      this.most = Math.max(this.most, size);
      this.#second += 1;
      const place = { port: this.#port, cursor, ticket };
      const arriving = left > MAX_STAY_S ? Array.from({ length: perSecond }, () => this.#visit(place)) : [];
      await Promise.all(arriving);
      const leaving = this.#leaving.get(this.#second) ?? [];
      this.#leaving.delete(this.#second);
      // Not waited for: some ends come with the server's patience, and that with its time.
      for (const visitor of leaving) visitor.leave();
    }
    for (let looks = 0; looks < PATIENCE; looks += 1) {
      await passing(LOOK_MS);
      if ((await this.ask<Second>("second")).size === 0) return;
    }
  }

  async #visit(place: { port: number; cursor: string; ticket: string }): Promise<void> {
    const way = this.#chance.pick(WAYS);
    const visitor = new Visitor(way, place, this.#chance);
    this.came[way] += 1;
    const until = this.#second + this.#chance.whole(0, MAX_STAY_S);
    this.#leaving.set(until, [...(this.#leaving.get(until) ?? []), visitor]);
    await visitor.arrived;
  }

  /** The server's answer to an order. */
  async ask<T>(order: ChurnOrder): Promise<T> {
    this.#server.send(order);
    const [answer] = (await once(this.#server, "message", { signal: this.#gone })) as [T];
    return answer;
  }
}

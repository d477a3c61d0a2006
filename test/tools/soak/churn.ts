import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as passing } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Chance, createChance } from "../../support/random/chance.ts";
import type { ChurnOrder, Left, Second } from "./churn-server.ts";
import { Visitor, WAYS, type Way } from "./visitor.ts";

/** Options of a run. */
interface ChurnOptions {
  readonly seconds: number;
  /** New connections per second. */
  readonly perSecond: number;
  readonly seed: number;
}

/** The results of a run. */
interface Churn {
  /** Number of connections, by kind. */
  readonly came: Readonly<Record<Way, number>>;
  /** Maximum number of concurrent sessions. */
  readonly most: number;
  /**
   * Remaining objects after all clients have left, in addition to the listener and the pipe to the
   * parent.
   */
  readonly left: Left;
  /**
   * Growth of the memory in use from the middle to the end, in bytes per connection of the second
   * half.
   */
  readonly growth: number;
}

/** Maximum stay of a visitor, in seconds of the gateway's time. */
const MAX_STAY_S = 10;
/** Maximum number of checks until the server has noticed every end, and the pause between two. */
const MAX_CHECKS = 400;
const CHECK_EVERY_MS = 25;

/**
 * Opens and ends connections of all kinds at a gateway, whose time passes as fast as the machine
 * permits. Counts remaining objects.
 */
export async function runChurn({ seconds, perSecond, seed }: ChurnOptions): Promise<Churn> {
  const file = fileURLToPath(new URL("churn-server.ts", import.meta.url));
  const server = fork(file, { execArgv: ["--expose-gc", "--no-warnings"] });
  const gone = new AbortController();
  server.once("exit", () => gone.abort(new Error("the server ended during the run")));
  try {
    const [port] = (await once(server, "message", gone)) as [number];
    const visitors = new Visitors(server, port, seed, gone.signal);
    const half = Math.ceil(seconds / 2);
    await visitors.come(half, perSecond);
    const before = await visitors.ask<number>("heap");
    await visitors.come(half, perSecond);
    const growth = ((await visitors.ask<number>("heap")) - before) / (half * perSecond);
    const { came, most } = visitors;
    return { came, most, left: await visitors.ask<Left>("left"), growth };
  } finally {
    server.kill();
  }
}

class Visitors {
  readonly came: Record<Way, number>;
  most = 0;
  readonly #server: ChildProcess;
  readonly #port: number;
  readonly #chance: Chance;
  readonly #gone: AbortSignal;
  /** Visitors by the second in which they leave. */
  readonly #leaving = new Map<number, Visitor[]>();
  #second = 0;

  constructor(server: ChildProcess, port: number, seed: number, gone: AbortSignal) {
    this.#server = server;
    this.#gone = gone;
    this.#port = port;
    this.#chance = createChance(seed);
    this.came = Object.fromEntries(WAYS.map((way) => [way, 0])) as Record<Way, number>;
  }

  /**
   * Opens connections for this many seconds. Resolves when all have left and the server has
   * noticed.
   */
  async come(seconds: number, perSecond: number): Promise<void> {
    for (let left = seconds + MAX_STAY_S; left >= 0; left -= 1) {
      const { cursor, ticket, size } = await this.ask<Second>("second");
      this.most = Math.max(this.most, size);
      this.#second += 1;
      const target = { port: this.#port, cursor, ticket };
      const arriving = left > MAX_STAY_S ? Array.from({ length: perSecond }, () => this.#visit(target)) : [];
      await Promise.all(arriving);
      const leaving = this.#leaving.get(this.#second) ?? [];
      this.#leaving.delete(this.#second);
      // Not awaited: some ends need the server's timeouts, and so its clock.
      for (const visitor of leaving) visitor.leave();
    }
    for (let checks = 0; checks < MAX_CHECKS; checks += 1) {
      await passing(CHECK_EVERY_MS);
      if ((await this.ask<Second>("second")).size === 0) return;
    }
  }

  async #visit(target: { port: number; cursor: string; ticket: string }): Promise<void> {
    const way = this.#chance.pick(WAYS);
    const visitor = new Visitor(way, target, this.#chance);
    this.came[way] += 1;
    const until = this.#second + this.#chance.whole(0, MAX_STAY_S);
    this.#leaving.set(until, [...(this.#leaving.get(until) ?? []), visitor]);
    await visitor.arrived;
  }

  /** Sends a request to the server. Resolves with the response. */
  async ask<T>(order: ChurnOrder): Promise<T> {
    this.#server.send(order);
    const [response] = (await once(this.#server, "message", { signal: this.#gone })) as [T];
    return response;
  }
}

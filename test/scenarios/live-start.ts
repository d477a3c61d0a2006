import { setTimeout as sleep } from "node:timers/promises";
import type { ReadyResponse } from "../../src/gateway/http/rest/responses.ts";
import { type RunningCli, spawnCli } from "../app/cli/spawn-cli.ts";
import { type LiveWorld, WORLD_PARTS, type WorldPart } from "./live-world.ts";

/** Maximum duration of a start. */
const MAX_START_MS = 150_000;
const POLL_EVERY_MS = 100;

/** Time until a part was live, and the requests to its services until then. */
interface PartStart {
  readonly afterMs: number;
  readonly requests: number;
}

/** A `flarewire serve` in a simulated world, with measurements of its start. */
export class LiveStart implements AsyncDisposable {
  readonly server: RunningCli;
  url = "";
  /**
   * Time from the start of the process to `/readyz` 200 with the exchanges and the aggregator live.
   */
  readyMs = Number.NaN;
  readonly parts = new Map<WorldPart, PartStart>();

  private constructor(server: RunningCli) {
    this.server = server;
  }

  /** Starts a gateway. Resolves when all parts have been live, or after {@link MAX_START_MS}. */
  static async run(world: LiveWorld, data: string): Promise<LiveStart> {
    const began = performance.now();
    const args = ["serve", "--port", "0", "--drain", "0", "--data", data, ...world.flags];
    const start = new LiveStart(spawnCli(args));
    await start.server.said("stdout", /serves http/);
    start.url = /http:\/\/127\.0\.0\.1:\d+/.exec(start.server.stdout())?.[0] ?? "";
    const before = new Map(WORLD_PARTS.map((name) => [name, world.requestsOf(name)]));
    while (start.parts.size < WORLD_PARTS.length && performance.now() - began < MAX_START_MS) {
      const response = await fetch(`${start.url}/readyz`);
      const { parts = [] } = (await response.json()) as ReadyResponse;
      const afterMs = performance.now() - began;
      for (const name of WORLD_PARTS) {
        const isLive = parts.some((part) => part.name === name && part.state === "live");
        if (!isLive || start.parts.has(name)) continue;
        start.parts.set(name, { afterMs, requests: world.requestsOf(name) - (before.get(name) ?? 0) });
      }
      const isServing = start.parts.has("exchange") && start.parts.has("aggregator");
      if (response.status === 200 && isServing && Number.isNaN(start.readyMs)) start.readyMs = afterMs;
      await sleep(POLL_EVERY_MS);
    }
    return start;
  }

  /** Stops the gateway with SIGTERM. */
  async stop(): Promise<void> {
    this.server.child.kill("SIGTERM");
    await this.server.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

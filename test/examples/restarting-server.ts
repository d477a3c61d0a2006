import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningCli, spawnCli } from "../cli/spawn-cli.ts";
import { writePumpedMarket } from "../support/pumped-market.ts";

/** The server that the examples follow. */
const FLARES = "channels=flares.pro&names=flare-started,flare-finished";

/**
 * `flarewire serve` as a process with a data directory, which can be restarted at the same address.
 */
export class RestartingServer implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-examples-"));
  readonly #data = join(this.#directory, "data");
  readonly #market = writePumpedMarket(join(this.#directory, "market.csv"), 6);
  #process: RunningCli | undefined;
  url = "";

  /** Plays the market, from just before its first flare or from the last end. */
  async start(): Promise<void> {
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const market = ["--file", this.#market, "--group", "bsc", "--loop", "--speed", "600", "--warmup", "1h"];
    const args = ["serve", ...market, "--port", port, "--data", this.#data, "--drain", "2100ms"];
    this.#process = spawnCli(args);
    await this.#process.said("stdout", "\n");
    this.url = /http:\/\/[\d.]+:\d+/.exec(this.#process.stdout())?.[0] ?? "";
  }

  /** Stops it, gracefully or at once. Resolves when it has ended. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#process?.child.kill(signal);
    await this.#process?.ended();
  }

  /** Deletes its data, after its end only. */
  loseData(): void {
    rmSync(this.#data, { recursive: true });
  }

  /** Returns the cursors of all starts and finishes of this epoch in the server's history. */
  async history(): Promise<readonly string[]> {
    const answer = await fetch(`${this.url}/api/v1/events?after=oldest&limit=1000&${FLARES}`);
    const { events } = (await answer.json()) as { events: { cursor: string }[] };
    return events.map(({ cursor }) => cursor);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe } from "vitest";
import { endWithThisProcess } from "../../../support/servers/end-with.ts";
import { freePort } from "../../../support/servers/free-port.ts";
import { fetchedPackage } from "../../../support/setup/fetched-package.ts";
import { contractPackages } from "./contract-packages.ts";
import { post } from "./post.ts";

/*
 * Runs the tests' real EVM. It is not a dependency, because its package lists binaries for other
 * platforms that not every registry has, and `npm ci` would reject the lock file. npm fetches it on
 * first use into a cache below node_modules.
 */
const VERSION = "1.7.1";
const NAME = `@foundry-rs/anvil-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;

/** Returns its path; `undefined` if it is unavailable. */
function binary(): string | undefined {
  const folder = fetchedPackage(NAME, VERSION);
  return folder && join(folder, "bin/anvil");
}

/**
 * Defines tests on a real EVM. Skips them by name without one or without the exchanges' contracts,
 * which is an error on a machine that must run all tests.
 */
export function describeOnAnvil(title: string, tests: () => void): void {
  const isMissing = binary() === undefined || contractPackages() === undefined;
  const words = isMissing ? `${title} (skipped: npm cannot fetch ${NAME} or the contracts)` : title;
  describe.skipIf(isMissing)(words, tests);
}

/** Time of the first block, in seconds since 1970. */
const GENESIS_S = 1_500_000_000;

/** Runs a node with its own chain. It mines blocks only on request. */
export class Anvil implements AsyncDisposable {
  readonly chainId: number;
  #child: ChildProcess | undefined;
  #unwatch: () => void = () => {};
  #port = 0;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-anvil-"));

  constructor(chainId: number) {
    this.chainId = chainId;
  }

  /** The node's address, which also accepts WebSockets. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the node. A restart keeps its port and its chain. Resolves when it is ready. */
  async start(): Promise<this> {
    this.#port ||= await freePort();
    const flags = `--host 127.0.0.1 --port ${this.#port} --chain-id ${this.chainId} --auto-impersonate --base-fee 0 --gas-price 0 --no-mining --order fifo --gas-limit 300000000 --slots-in-an-epoch 1 --timestamp ${GENESIS_S}`;
    const args = [...flags.split(" "), "--state", join(this.#directory, "state.json")];
    const child = spawn(binary() ?? "anvil", args, { stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    this.#unwatch = endWithThisProcess(child);
    let listens = false;
    for await (const line of createInterface({ input: child.stdout })) {
      listens = line.startsWith("Listening on ");
      if (listens) break;
    }
    child.stdout.resume();
    if (!listens) throw new Error("anvil did not start");
    return this;
  }

  /** Stops the node. The next start continues its chain. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#agent.destroy();
    if (!child) return;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGINT");
      await once(child, "exit");
    }
    this.#unwatch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Sends a request. Rejects with the node's error message. */
  async ask<T = unknown>(method: string, params: readonly unknown[] = []): Promise<T> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await post<{ result: T; error?: { message: string } }>(this.url, body, this.#agent);
    const { result, error } = answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}

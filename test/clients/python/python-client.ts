import { spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import { applyEvent, type EventMessage, type View } from "../../../src/base/protocol/index.ts";
import { type CliOutput, collect, type RunningCli, spawnCommand } from "../../app/cli/spawn-cli.ts";
import type { IndependentClient } from "../../support/clients/independent-client.ts";
import { findInstalled } from "../../support/setup/debian-package.ts";

/** Debian's Python. The first one on the PATH may lack Debian's packages. */
export const PYTHON = "/usr/bin/python3";
const QUIET = { PYTHONDONTWRITEBYTECODE: "1" };

/** Whether Python can use the package; Debian's packages are installed if they may be. */
export const hasPython = findInstalled(() => hasModules("aiohttp"), "python3", "python3-aiohttp");
export const hasMypy = findInstalled(() => hasModules("mypy", "aiohttp"), "mypy", "python3-aiohttp");

/** Whether Python finds these modules. It does not load them, which takes longer. */
export function hasModules(...names: readonly string[]): boolean {
  const program = "import importlib.util, sys; sys.exit(None in map(importlib.util.find_spec, sys.argv[1:]))";
  return spawnSync(PYTHON, ["-c", program, ...names], { stdio: "ignore" }).status === 0;
}

export function spawnPython(...args: readonly string[]): RunningCli {
  return spawnCommand(PYTHON, args, QUIET);
}

/** What the program prints: an item of the stream, a change of the connection, or its end. */
export interface Line {
  /** The number of its stream, if there are several. */
  readonly stream?: number;
  readonly event?: string;
  readonly seq?: number;
  readonly cursor?: string;
  /** `freshness.state` as of the last heartbeat. */
  readonly state?: string | null;
  readonly reset?: string;
  readonly lost?: number | null;
  readonly view?: View | null;
  readonly connection?: string;
  readonly transport?: string;
  readonly reason?: string;
  readonly code?: number | null;
  readonly wait?: number;
  readonly stopped?: string;
}

/**
 * Runs all Python clients of this process in one process, because a start of Python takes longer
 * than most tests. It ends when its input ends, with this process.
 */
class PythonClients {
  readonly #python = spawnCommand(PYTHON, ["test/clients/python/print_items.py"], QUIET, { stdin: "pipe" });
  readonly #running = new Map<number, (line: string) => void>();
  #count = 0;

  constructor() {
    const { stdout } = this.#python.child;
    if (!stdout) throw new Error("Python has no output");
    createInterface({ input: stdout }).on("line", (line) => {
      const [, client, text = ""] = /^(\d+) (.*)$/.exec(line) ?? [];
      this.#running.get(Number(client))?.(text);
    });
  }

  start(streams: readonly (readonly [url: string, options: object])[]): CliOutput {
    const client = this.#count++;
    const output = { stdout: new PassThrough(), stderr: new PassThrough() };
    const { promise: closed, resolve } = Promise.withResolvers<number>();
    this.#running.set(client, (line) => {
      const { ended, why = "" } = JSON.parse(line);
      if (ended === undefined) return void output.stdout.write(`${line}\n`);
      output.stderr.write(why);
      // After its output has been read.
      setImmediate(() => resolve(ended));
    });
    const send = (given: readonly unknown[]) =>
      this.#python.child.stdin?.write(`${JSON.stringify([client, given])}\n`);
    send(streams);
    const died = this.#python.ended().then((code) => {
      output.stderr.write(this.#python.stderr());
      return code;
    });
    return collect(output, Promise.race([closed, died]), () => send([]));
  }
}

let clients: PythonClients | undefined;

/** Starts a Python client with these options of `connect`. */
export function follow(url: string, options: object = {}): CliOutput {
  return followAll([[url, options]]);
}

/** Starts a client with several streams; more than one print their number in each line. */
export function followAll(streams: readonly (readonly [url: string, options: object])[]): CliOutput {
  clients ??= new PythonClients();
  return clients.start(streams);
}

/** The complete lines so far. */
export function linesOf(client: CliOutput): readonly Line[] {
  const lines = client.stdout().split("\n").slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

export const eventsOf = (client: CliOutput) => linesOf(client).filter(({ event }) => event !== undefined);

/** The events of a client that follows the gateway directly, since before the compared lines. */
export class Truth {
  readonly #events: readonly EventMessage[];
  readonly #start: View;

  /** `client` must not have received an event yet. */
  constructor(client: IndependentClient) {
    this.#events = client.received.events as unknown as readonly EventMessage[];
    this.#start = JSON.parse(JSON.stringify(client.state));
  }

  /**
   * Compares a client's lines: no event is missing, none comes twice, and every view equals the one
   * at its cursor. Returns how many events and views were compared.
   */
  compare(lines: readonly Line[]): { readonly events: number; readonly views: number } {
    const totals = { events: 0, views: 0 };
    const expected = this.#events.filter(({ channel }) => channel !== "candles");
    let [next, view] = [0, this.#start];
    const take = () => {
      const event = expected[next];
      if (event) view = applyEvent(view, event);
      next += 1;
      return event?.seq;
    };
    for (const line of lines) {
      if (line.reset !== undefined) {
        expect(line).toMatchObject({ reset: "started", lost: 0 });
        const seq = Number(line.cursor?.split("-")[1]);
        while ((expected[next]?.seq ?? Number.POSITIVE_INFINITY) <= seq) take();
      } else if (line.event !== undefined) {
        expect(take(), "the seq of the next event").toBe(line.seq);
        totals.events += 1;
      }
      if (line.view) {
        expect(line.view).toEqual(view);
        totals.views += 1;
      }
    }
    return totals;
  }
}

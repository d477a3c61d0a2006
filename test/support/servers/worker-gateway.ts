import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll } from "vitest";
import { type RunningCli, spawnCli } from "../../app/cli/spawn-cli.ts";
import { pumpedFlags } from "../world/pumped-market.ts";
import type { Finish } from "./edges.ts";

/** A gateway of the program `serve` with worker processes. */
interface WorkerGateway {
  readonly cli: RunningCli;
  readonly url: string;
  /** Process ids of the workers that have started to accept connections, in that order. */
  pids(): readonly number[];
  /** Resolves when `count` workers in total have started to accept connections. */
  began(count: number): Promise<void>;
  /** Returns the parsed log lines that contain `message`. */
  logged(message: string): readonly Record<string, unknown>[];
}

/** A keep-alive connection, so that one worker responds to all its requests. */
export interface KeptConnection {
  ask(
    path: string,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<{ status: number; headers: Record<string, unknown>; body: string }>;
  /** Resolves with an id of the worker that serves the connection. */
  worker(): Promise<string>;
  close(): void;
}

/** A small market with many flares, replayed at dozens of events a second. */
const MARKET = [...pumpedFlags(), "--loop"];
const SERVER = ["--port", "0", "--no-compression"];
const USUAL = { "--speed": "1200", "--drain": "0", "--warmup": "1h" };

/** Starts a gateway on a moving market, and ends it with the test. `args` override the defaults. */
export async function startWorkerGateway(
  onTestFinished: Finish,
  ...args: readonly string[]
): Promise<WorkerGateway> {
  const usual = Object.entries(USUAL).filter(([flag]) => !args.includes(flag));
  const cli = spawnCli(["serve", "--workers", "2", ...MARKET, ...SERVER, ...usual.flat(), ...args]);
  onTestFinished(() => void cli.child.kill("SIGKILL"));
  await cli.said("stdout", "\n");
  const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
  const logged = (message: string) =>
    cli
      .stderr()
      .split("\n")
      .filter((line) => line.includes(message))
      .map((line): Record<string, unknown> => JSON.parse(line));
  const BEGAN = "worker takes connections";
  return {
    cli,
    url,
    logged,
    pids: () => logged(BEGAN).map(({ workerPid }) => Number(workerPid)),
    began: (count) => cli.said("stderr", new RegExp(`(?:${BEGAN}[^]*){${count}}`)),
  };
}

/** Starts a gateway before the tests of a block, which share it and run in order. */
export function sharedWorkerGateway(...args: readonly string[]): () => WorkerGateway {
  let gateway: WorkerGateway | undefined;
  const ends: Parameters<Finish>[0][] = [];
  beforeAll(async () => {
    gateway = await startWorkerGateway((end) => ends.push(end), ...args);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (!gateway) throw new Error("the gateway has not started");
    return gateway;
  };
}

/** Opens a keep-alive connection. */
export function keptConnection(url: string): KeptConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask: KeptConnection["ask"] = (path, headers = {}, method = "GET") =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { agent, headers, method }, (response) => {
        const status = response.statusCode ?? 0;
        if (headers.accept === "text/event-stream" && status === 200)
          resolve({ status, headers: response.headers, body: "" });
        else text(response).then((body) => resolve({ status, headers: response.headers, body }), reject);
      });
      sent.on("error", reject).end();
    });
  return {
    ask,
    // Request ids of the same process have the same prefix.
    worker: async () => /request:(\w+)-/.exec((await ask("/nothing")).body)?.[1] ?? "",
    close: () => agent.destroy(),
  };
}

/** Opens two keep-alive connections, to different workers. */
export async function twoWorkers(
  url: string,
  onTestFinished: Finish,
): Promise<readonly [KeptConnection, KeptConnection]> {
  const first = keptConnection(url);
  onTestFinished(() => first.close());
  for (;;) {
    const second = keptConnection(url);
    onTestFinished(() => second.close());
    if ((await first.worker()) !== (await second.worker())) return [first, second];
  }
}

/** Whether a process has this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

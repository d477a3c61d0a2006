import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "../../src/gateway/create-logger.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { spawnCli } from "../cli/spawn-cli.ts";
import {
  type Finish,
  handOver,
  hasty,
  newDirectory,
  seqOf,
  startEdge,
  startLeader,
} from "../support/edges.ts";
import { cutInHalf, flipBit, framesOf, putImage, takeImage } from "../support/image.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { IS_SOAK, shareOf } from "../support/law-runs.ts";
import { expectOneState } from "../support/one-state.ts";
import { pumpedSettings } from "../support/pumped-market.ts";

const MARKET = { feed: "replay", speed: 600, warmup: "0", compression: false, drain: "0" } as const;
const SERVE = ["--feed", "replay", "--speed", "600", "--warmup", "0", "--no-compression", "--drain", "0"];
const STRAY = "resetting a client whose cursor is not in the log";
/** Maximum number of connections that may end before their answer. */
const MAX_ENDED = 5;
const CHANGED = { resumed: "reset", lost: { reason: "epoch-changed" } };

/** A gateway that continues in its directory and on its port. */
class Served {
  readonly #directory: string;
  /** One in a process of its own. */
  #cli: ReturnType<typeof spawnCli> | undefined;
  /** One in the test's process. */
  #gateway: Gateway | undefined;
  #lines: string[] = [];
  #port = "0";

  constructor(onTestFinished: Finish) {
    this.#directory = newDirectory(onTestFinished);
    onTestFinished(() => void this.#cli?.child.kill("SIGKILL"));
    onTestFinished(() => this.#gateway?.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get #place(): readonly string[] {
    return ["--port", this.#port, "--data", this.#directory];
  }

  get path(): string {
    const name = readdirSync(this.#directory).find((one) => /^events-[0-9a-f]+\.sqlite$/.test(one));
    return join(this.#directory, name ?? "");
  }

  /** Starts it in the test's process, which takes a fraction of the CPU time. */
  async start(): Promise<void> {
    this.#lines = [];
    const logger = createLogger("info", { write: (line) => void this.#lines.push(line) });
    const config = createConfig({ ...MARKET, port: Number(this.#port), data: this.#directory });
    this.#gateway = await startGateway(config, { logger });
    this.#port = new URL(this.#gateway.url).port;
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
  }

  /** Starts it as a process. */
  async spawn(...args: readonly string[]): Promise<void> {
    const cli = spawnCli(["serve", ...SERVE, ...this.#place, ...args]);
    this.#cli = cli;
    await cli.said("stdout", "\n");
  }

  /** Ends the process. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#cli?.child.kill(signal);
    await this.#cli?.ended();
    this.#cli = undefined;
  }

  logged(message: string): readonly Record<string, unknown>[] {
    const lines = this.#cli?.stderr().split("\n") ?? this.#lines;
    return lines.filter((line) => line.includes(message)).map((line) => JSON.parse(line));
  }
}

/** Follows until it holds this many events more, and leaves. */
async function visit(client: IndependentClient, more: number): Promise<void> {
  await client.connect();
  const target = client.seq + more;
  await client.until(() => client.seq >= target);
  await client.disconnect();
}

/** One that holds what the other does. */
function twinOf(client: IndependentClient, url: string): IndependentClient {
  const twin = new IndependentClient(url);
  handOver(client, twin);
  return twin;
}

/**
 * Connects, and again with the same cursor while a worker has not caught up with its primary, or if
 * the connection ends before its answer, as it may on a busy machine.
 */
async function connectInTime(client: IndependentClient, url: string): Promise<void> {
  const held = twinOf(client, url);
  for (let ended = 0; ended < MAX_ENDED; ended += client.answer ? 0 : 1) {
    await client.connect();
    if (client.answer && !isAhead(client)) return;
    await client.disconnect();
    handOver(held, client);
  }
}

function isAhead({ answer }: IndependentClient): boolean {
  return JSON.stringify(answer?.lost ?? null).includes('"reason":"ahead"');
}

/** How this connection's answer stands to the cursor that was shown, or why there is none. */
function lastAnswer({ answer, closeCode }: IndependentClient): object {
  if (!answer) return { closeCode };
  const { resumed, lost } = answer;
  return lost ? { resumed, lost } : { resumed };
}

const SET_BACK = [
  ["", [], 1],
  [" of a gateway with workers", ["--workers", "2"], 1],
] as const;

test.for(shareOf(SET_BACK))(
  "[L3] [W9] after an older file was copied over the stopped log%s, what clients hold beyond it is lost, and all else resumes",
  {
    timeout: 240_000,
  },
  async ([, args, rounds], { onTestFinished }) => {
    const served = new Served(onTestFinished);
    await served.start();
    const client = new IndependentClient(served.url);
    await visit(client, 60);
    await served.stop();
    const older = takeImage(served.path);
    const before = twinOf(client, served.url);
    for (let round = 0; round < rounds; round += 1) {
      await served.start();
      await visit(client, 200);
      expect(lastAnswer(client)).toMatchObject({ resumed: "full" });
      await served.stop();
      putImage(served.path, older);
      await (args.length === 0 ? served.start() : served.spawn(...args));
      const { cursor } = client;
      await connectInTime(client, served.url);
      expect(lastAnswer(client)).toMatchObject(CHANGED);
      const early = twinOf(before, served.url);
      await connectInTime(early, served.url);
      expect(lastAnswer(early)).toEqual({ resumed: "full" });
      for (const one of [client, early]) await expectOneState(served.url, one);
      await expect.poll(() => served.logged(STRAY)).toMatchObject([{ level: "warn", cursor }]);
      await Promise.all([client.disconnect(), early.disconnect()]);
      await (args.length === 0 ? served.stop() : served.end("SIGTERM"));
      putImage(served.path, older);
      handOver(before, client);
    }
  },
);

const DAMAGES = [
  ["a flipped bit in its -wal", flipBit],
  ["its -wal cut in half", cutInHalf],
] as const;

test.for(shareOf(DAMAGES))(
  "[L3] [W9] a killed gateway with %s reports to each client what it lost, and sends no other events under the lost cursors",
  {
    timeout: 240_000,
  },
  async ([, spoil], { onTestFinished }) => {
    const served = new Served(onTestFinished);
    await served.start();
    const client = new IndependentClient(served.url);
    await visit(client, 20);
    await served.stop();
    await served.spawn();
    await client.connect();
    const early = twinOf(client, served.url);
    await expect.poll(() => framesOf(takeImage(served.path)), { timeout: 20_000 }).toBeGreaterThan(100);
    await served.end("SIGKILL");
    await client.until(() => client.closeCode !== undefined);
    putImage(served.path, spoil(takeImage(served.path)));
    await served.start();
    const resumed = served.logged("resuming the stored log");
    expect(resumed).toMatchObject([{ closedInOrder: false }]);
    expect(resumed[0]?.seq).toBeLessThan(client.seq);
    const { cursor } = client;
    await connectInTime(client, served.url);
    expect(lastAnswer(client)).toMatchObject(CHANGED);
    await connectInTime(early, served.url);
    expect(lastAnswer(early)).toEqual({ resumed: "full" });
    for (const one of [client, early]) await expectOneState(served.url, one);
    await expect
      .poll(() => served.logged(STRAY))
      .toMatchObject([{ level: "warn", cursor, lastOfRun: resumed[0]?.seq }]);
  },
);

test("[F3] [F5] [W39] an edge follows its leader over restarts, and its clients get a reset when the leader's log was set back", {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const data = newDirectory(onTestFinished);
  const begin = { ...pumpedSettings(), data, speed: 600 };
  let leader = await startLeader(onTestFinished, begin);
  const again = { ...begin, port: Number(new URL(leader.url).port) };
  const path = join(data, readdirSync(data).find((name) => /^events-.*\.sqlite$/.test(name)) ?? "");
  const edge = await startEdge(leader, onTestFinished, { data: newDirectory(onTestFinished) }, hasty());
  const client = new IndependentClient(edge.url);
  onTestFinished(() => client.disconnect());
  await expect.poll(() => edge.head.ready).toBe(true);
  await client.connect();
  await client.until(() => client.seq > 20);
  await leader.stop();
  const older = takeImage(path);
  for (let round = 0; round < (IS_SOAK ? 2 : 1); round += 1) {
    const [{ seq }, { resets }] = [client, client];
    leader = await startLeader(onTestFinished, again);
    // After an honest restart the edge's clients stay, and one that was at the leader continues at
    // the edge.
    const other = new IndependentClient(leader.url);
    await visit(other, 20);
    await client.until(() => client.seq > Math.max(seq, other.seq));
    expect([client.resets, client.closeCode]).toEqual([resets, undefined]);
    const moved = twinOf(other, edge.url);
    await moved.connect();
    expect(lastAnswer(moved)).toEqual({ resumed: "full" });
    await moved.until(() => moved.seq >= client.seq);
    await moved.disconnect();
    await leader.stop();
    putImage(path, older);
    leader = await startLeader(onTestFinished, again);
    while (client.resets === resets) {
      await client.until(() => client.closeCode !== undefined);
      await client.connect();
    }
    await client.until(() => client.seq > Math.min(moved.seq, seqOf(leader)));
    await expectOneState(edge.url, client);
    await leader.stop();
  }
});

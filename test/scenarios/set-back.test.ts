import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "../../src/app/server/create-logger.ts";
import { createConfig, type Gateway, startGateway } from "../../src/index.ts";
import { spawnCli } from "../app/cli/spawn-cli.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { cutInHalf, flipBit, framesOf, putImage, takeImage } from "../support/image.ts";
import { IS_SOAK, shareOf } from "../support/law-runs.ts";
import {
  type Finish,
  handOver,
  hasty,
  newDirectory,
  seqOf,
  startEdge,
  startLeader,
} from "../support/servers/edges.ts";
import { freePort } from "../support/servers/free-port.ts";
import { pumpedSettings } from "../support/world/pumped-market.ts";

const MARKET = { feed: "replay", speed: 600, warmup: "0", compression: false, drain: "0" } as const;
const SERVE = ["--feed", "replay", "--speed", "600", "--warmup", "0", "--no-compression", "--drain", "0"];
const STRAY = "resetting a client whose cursor is not in the log";
/** Maximum number of connections that may end before their response. */
const MAX_ENDED = 5;
const CHANGED = { resumed: "reset", lost: { reason: "epoch-changed" } };

/** A gateway that restarts on the same directory and port. */
class RestartableGateway {
  readonly #directory: string;
  /** Set while it runs in a separate process. */
  #cli: ReturnType<typeof spawnCli> | undefined;
  /** Set while it runs in this process. */
  #gateway: Gateway | undefined;
  #lines: string[] = [];
  #port = 0;

  constructor(onTestFinished: Finish) {
    this.#directory = newDirectory(onTestFinished);
    onTestFinished(() => void this.#cli?.child.kill("SIGKILL"));
    onTestFinished(() => this.#gateway?.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get #location(): readonly string[] {
    return ["--port", `${this.#port}`, "--data", this.#directory];
  }

  get path(): string {
    const name = readdirSync(this.#directory).find((one) => /^events-[0-9a-f]+\.sqlite$/.test(one));
    return join(this.#directory, name ?? "");
  }

  /** Starts it in this process, which takes a fraction of the CPU time. */
  async start(): Promise<void> {
    this.#lines = [];
    const logger = createLogger("info", { write: (line) => void this.#lines.push(line) });
    this.#port ||= await freePort();
    const config = createConfig({ ...MARKET, port: this.#port, data: this.#directory });
    this.#gateway = await startGateway(config, { logger });
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
  }

  /** Starts it as a separate process. */
  async spawn(): Promise<void> {
    const cli = spawnCli(["serve", ...SERVE, ...this.#location]);
    this.#cli = cli;
    await cli.said("stdout", "\n");
  }

  /** Kills the separate process. */
  async kill(): Promise<void> {
    this.#cli?.child.kill("SIGKILL");
    await this.#cli?.ended();
    this.#cli = undefined;
  }

  logged(message: string): readonly Record<string, unknown>[] {
    const lines = this.#cli?.stderr().split("\n") ?? this.#lines;
    return lines.filter((line) => line.includes(message)).map((line) => JSON.parse(line));
  }
}

/** Connects, waits for `more` events, and disconnects. */
async function visit(client: IndependentClient, more: number): Promise<void> {
  await client.connect();
  const target = client.seq + more;
  await client.until(() => client.seq >= target);
  await client.disconnect();
}

/** Returns a client with the same state and cursor. */
function twinOf(client: IndependentClient, url: string): IndependentClient {
  const twin = new IndependentClient(url);
  handOver(client, twin);
  return twin;
}

/**
 * Connects, and reconnects with the same cursor if the connection ends before its response, as may
 * happen on a busy machine.
 */
async function connectInTime(client: IndependentClient, url: string): Promise<void> {
  const original = twinOf(client, url);
  for (let ended = 0; ended < MAX_ENDED; ended += 1) {
    await client.connect();
    if (client.answer) return;
    await client.disconnect();
    handOver(original, client);
  }
}

/** Returns how the latest connection resumed, or its close code if there was no response. */
function lastAnswer({ answer, closeCode }: IndependentClient): object {
  if (!answer) return { closeCode };
  const { resumed, lost } = answer;
  return lost ? { resumed, lost } : { resumed };
}

test("[L3] [W9] after an older file replaces the stopped log, clients beyond it get a reset, and all others resume", async ({
  onTestFinished,
}) => {
  const gateway = new RestartableGateway(onTestFinished);
  await gateway.start();
  const client = new IndependentClient(gateway.url);
  await visit(client, 60);
  await gateway.stop();
  const older = takeImage(gateway.path);
  const before = twinOf(client, gateway.url);
  await gateway.start();
  await visit(client, 200);
  expect(lastAnswer(client)).toMatchObject({ resumed: "full" });
  await gateway.stop();
  putImage(gateway.path, older);
  await gateway.start();
  const { cursor } = client;
  await connectInTime(client, gateway.url);
  expect(lastAnswer(client)).toMatchObject(CHANGED);
  const earlier = twinOf(before, gateway.url);
  await connectInTime(earlier, gateway.url);
  expect(lastAnswer(earlier)).toEqual({ resumed: "full" });
  for (const one of [client, earlier]) await expectOneState(gateway.url, one);
  await expect.poll(() => gateway.logged(STRAY)).toMatchObject([{ level: "warn", cursor }]);
  await Promise.all([client.disconnect(), earlier.disconnect()]);
  await gateway.stop();
});

const DAMAGES = [
  ["a flipped bit in its -wal", flipBit],
  ["its -wal cut in half", cutInHalf],
] as const;

test.for(shareOf(DAMAGES))(
  "[L3] [W9] a killed gateway with %s reports the loss to each client and does not reuse the lost cursors for other events",
  async ([, damage], { onTestFinished }) => {
    const gateway = new RestartableGateway(onTestFinished);
    await gateway.start();
    const client = new IndependentClient(gateway.url);
    await visit(client, 20);
    await gateway.stop();
    await gateway.spawn();
    await client.connect();
    const earlier = twinOf(client, gateway.url);
    await expect.poll(() => framesOf(takeImage(gateway.path))).toBeGreaterThan(100);
    await gateway.kill();
    await client.until(() => client.closeCode !== undefined);
    putImage(gateway.path, damage(takeImage(gateway.path)));
    await gateway.start();
    const resumed = gateway.logged("resuming the stored log");
    expect(resumed).toMatchObject([{ closedInOrder: false }]);
    expect(resumed[0]?.seq).toBeLessThan(client.seq);
    const { cursor } = client;
    await connectInTime(client, gateway.url);
    expect(lastAnswer(client)).toMatchObject(CHANGED);
    await connectInTime(earlier, gateway.url);
    expect(lastAnswer(earlier)).toEqual({ resumed: "full" });
    for (const one of [client, earlier]) await expectOneState(gateway.url, one);
    await expect
      .poll(() => gateway.logged(STRAY))
      .toMatchObject([{ level: "warn", cursor, lastOfRun: resumed[0]?.seq }]);
  },
);

test("[F3] [F5] [W39] an edge follows its leader over restarts, and its clients get a reset after the leader's log was rolled back", async ({
  onTestFinished,
}) => {
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
    // After a normal restart the edge's clients stay connected, and a client of the leader resumes
    // at the edge.
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

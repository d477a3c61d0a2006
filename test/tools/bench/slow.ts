import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as passing } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median, type Row } from "./report.ts";
import type { Order, Report } from "./slow-readers.ts";
import type { Held } from "./slow-server.ts";

/** How long a round measures the healthy readers alone, and then beside the others. */
const ALONE_MS = 6_000;
const BESIDE_MS = 13_000;
/**
 * Time until the kernel's buffers for the slow readers are full, because filling them is not
 * measured.
 */
const SETTLE_MS = 3_000;
const ROUNDS = 2;
const MIB = 2 ** 20;
/** Maximum bytes that may wait for one connection: a socket's high-water mark and a batch. */
const WAITING_BOUND = 65_536 + 16_384 + 65_536;

/**
 * Measures healthy readers beside equal numbers of frozen and throttled ones, over TCP. Server,
 * healthy and slow readers run in three processes. The delays from append to receipt are measured
 * with and without the slow readers, in turns. Rejects if a reader missed an event.
 */
export async function benchSlow(readers: number): Promise<Row[]> {
  const server = start("./slow-server.ts");
  const [{ port, epoch }] = (await once(server, "message")) as [{ port: number; epoch: string }];
  const healthy = start("./slow-readers.ts");
  await open(healthy, { count: readers, kind: "healthy", port });
  server.send("start");
  await passing(3_000);
  await report(healthy, 0);
  const rssMib = (await held(server)).rss / MIB;
  const alone: number[] = [];
  const beside: number[] = [];
  const seen: Held[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await p99(healthy, ALONE_MS));
    const slow = start("./slow-readers.ts");
    const behind = { count: readers, port, after: `${epoch}-0` };
    await open(slow, { ...behind, kind: "frozen" });
    await open(slow, { ...behind, kind: "throttled" }, readers);
    await passing(SETTLE_MS);
    await report(healthy, 0);
    beside.push(await p99(healthy, BESIDE_MS));
    seen.push(await held(server));
    process.stderr.write(
      `  ${readers} readers, round ${round + 1} of ${ROUNDS}: p99 ${alone.at(-1)} ms alone, ${beside.at(-1)} ms beside\n`,
    );
    await caughtUp(slow, server, readers);
    slow.disconnect();
    await once(slow, "exit");
    await passing(2_000);
    await report(healthy, 0);
  }
  const { faults } = await report(healthy, 0);
  for (const child of [healthy, server]) child.disconnect();
  if (faults.length > 0) throw new Error(`healthy readers: ${faults.slice(0, 3).join("; ")}`);
  return rows({ readers, alone, beside, seen, rssMib });
}

type Open = Extract<Order, { do: "open" }>;

function start(file: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)));
}

async function ask<T>(child: ChildProcess, order: Order | "held"): Promise<T> {
  const answered = once(child, "message");
  child.send(order);
  const [answer] = (await answered) as [T];
  return answer;
}

const held = (server: ChildProcess) => ask<Held>(server, "held");
const report = (child: ChildProcess, head: number) => ask<Report>(child, { do: "report", head });

/** Opens this many readers in addition to the existing ones, and waits until all are open. */
async function open(child: ChildProcess, asked: Omit<Open, "do">, there = 0): Promise<void> {
  child.send({ do: "open", ...asked } satisfies Order);
  while ((await report(child, 0)).opened < there + asked.count) await passing(50);
}

async function p99(healthy: ChildProcess, ms: number): Promise<number> {
  await passing(ms);
  const { delaysMs } = await report(healthy, 0);
  const sorted = delaysMs.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

/** Lets all readers read without a limit. Resolves when they are at the head. */
async function caughtUp(slow: ChildProcess, server: ChildProcess, frozen: number): Promise<void> {
  for (let second = 0; ; second += 1) {
    // Closed readers notice their close only now, and reconnect.
    slow.send({ do: "release" } satisfies Order);
    const { head } = await held(server);
    await passing(1_000);
    const { faults, atHead } = await report(slow, head);
    if (faults.length > 0) throw new Error(`slow readers: ${faults.slice(0, 3).join("; ")}`);
    if (atHead >= 2 * frozen) return;
    if (second > 90) throw new Error(`${atHead} of ${2 * frozen} slow readers are at the head`);
  }
}

interface Measured {
  readonly readers: number;
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  readonly seen: readonly Held[];
  readonly rssMib: number;
}

function rows({ readers, alone, beside, seen, rssMib }: Measured): Row[] {
  const most = (pick: (held: Held) => number) => Math.max(...seen.map(pick));
  const [without, withThem] = [median(alone), median(beside)];
  const closes = seen.at(-1)?.closes ?? {};
  const others = Object.values(closes).reduce((sum, count) => sum + count, 0) - (closes["4201"] ?? 0);
  const row = (what: string, value: number, unit: string, aim: string): Row => ({ what, value, unit, aim });
  return [
    row(`p99 of the delay of ${readers} healthy readers alone`, without, "ms", `median of ${alone.length}`),
    row(`beside ${readers} frozen and ${readers} throttled`, withThem, "ms", `median of ${beside.length}`),
    row("that is more by", (withThem / without - 1) * 100, "%", "< 20"),
    row(
      "closes of frozen ones with slow-consumer (4201); all resumed whole",
      closes["4201"] ?? 0,
      "closes",
      `${readers * seen.length}`,
    ),
    row("closes with any other code", others, "closes", "0"),
    row(
      "most that waited for one connection",
      most((one) => one.maxWaiting) / 1_024,
      "KiB",
      `≤ ${WAITING_BOUND / 1_024}`,
    ),
    row(
      "most that waited for all at the end of a round",
      most(({ waiting }) => waiting) / MIB,
      "MiB",
      "≤ connections × that",
    ),
    row("the log", most(({ logBytes }) => logBytes) / MIB, "MiB", "≤ 64"),
    row("server's memory with the healthy ones only", rssMib, "MiB", "resident"),
    row("server's memory at most", most(({ rss }) => rss) / MIB, "MiB", "resident, garbage included"),
  ];
}

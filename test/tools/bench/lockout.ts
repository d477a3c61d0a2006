import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { formatKeys, mintSecret } from "../../../src/gateway/keys/index.ts";
import { type RunningCli, spawnCli } from "../../app/cli/spawn-cli.ts";
import type { Row } from "./report.ts";

/** Connections of the address that keeps the server busy. */
const POLLERS = 60;
const HANDSHAKES = 100;
/** Number of events that each search begins to read. */
const LOG_EVENTS = 10_000;
/** The request limit alone would end the searches, so it is off. */
const UNLIMITED = ["--anonymous-requests", "none", "--anonymous-streams", "none"];
const MARKET = ["--feed", "replay", "--warmup", "0", "--loop", "--port", "0", "--drain", "0", ...UNLIMITED];

/**
 * Measures handshakes while 60 connections of another address search the log for missing tokens,
 * each again after every response: with and without a key.
 */
export async function benchLockout(): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-lockout-"));
  try {
    const { text, id, digest } = mintSecret("fw");
    const keys = join(directory, "keys.json");
    writeFileSync(keys, formatKeys([{ id, sha256: digest.toString("hex"), plan: "pro" }]), { mode: 0o600 });
    const data = join(directory, "data");
    await fill(data);
    return await measure(["--keys", keys, "--data", data], text);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(args: readonly string[], key: string): Promise<Row[]> {
  const cli = spawnCli(["serve", ...MARKET, "--speed", "60", ...args]);
  const agent = new Agent({ keepAlive: true, maxSockets: POLLERS, localAddress: "127.0.0.2" });
  const over = new AbortController();
  try {
    const url = await urlOf(cli);
    const quiet = await handshakes(url, {});
    let pages = 0;
    const polls = Array.from({ length: POLLERS }, async (_, at) => {
      while (!over.signal.aborted) {
        await get(`${url}/api/v1/events?after=oldest&limit=1000&symbols=zz${at}`, agent);
        pages += 1;
      }
    });
    // All connections are active once each has received a page.
    while (pages < POLLERS) await get(`${url}/healthz`);
    const [before, beganMs] = [pages, performance.now()];
    const without = await handshakes(url, {});
    const withKey = await handshakes(url, { authorization: `Bearer ${key}` });
    const perSecond = ((pages - before) * 1_000) / (performance.now() - beganMs);
    over.abort();
    await Promise.all(polls);
    const row = (what: string, sorted: readonly number[], aim: string): Row[] => [
      { what: `${what}, median`, value: sorted[49] ?? 0, unit: "ms", aim: "shown" },
      { what: `${what}, p99`, value: sorted[98] ?? 0, unit: "ms", aim },
    ];
    return [
      ...row("handshake alone", quiet, "shown"),
      { what: `pages for the ${POLLERS}`, value: perSecond, unit: "pages/s", aim: "shown" },
      ...row("handshake of another address", without, "≤ 250"),
      ...row("handshake with a key", withKey, "≤ 250"),
    ];
  } finally {
    over.abort();
    agent.destroy();
    cli.child.kill("SIGKILL");
    await cli.ended();
  }
}

/** Creates a log of 10,000 events in the directory. */
async function fill(data: string): Promise<void> {
  const cli = spawnCli(["serve", ...MARKET, "--speed", "6000", "--data", data]);
  const url = await urlOf(cli);
  for (let seq = 0; seq < LOG_EVENTS; ) {
    const { cursor } = JSON.parse(await get(`${url}/api/v1/snapshot`));
    seq = Number(String(cursor).split("-")[1]);
  }
  cli.child.kill("SIGTERM");
  await cli.ended();
}

async function urlOf(cli: RunningCli): Promise<string> {
  await cli.said("stdout", "\n");
  return /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
}

/** Returns the durations of consecutive handshakes, sorted, in milliseconds. */
async function handshakes(url: string, headers: Record<string, string>): Promise<readonly number[]> {
  const took: number[] = [];
  for (let at = 0; at < HANDSHAKES; at++) {
    const beganMs = performance.now();
    const address = `${url.replace("http", "ws")}/api/v1/stream?channels=status`;
    const socket = new WebSocket(address, { headers, localAddress: "127.0.0.3" });
    await once(socket, "open");
    took.push(performance.now() - beganMs);
    socket.terminate();
    await once(socket, "close");
  }
  return took.toSorted((a, b) => a - b);
}

async function get(url: string, agent?: Agent): Promise<string> {
  const outgoing = request(url, agent ? { agent } : {}).end();
  const [response] = await once(outgoing, "response");
  const chunks: Buffer[] = await response.toArray();
  return Buffer.concat(chunks).toString();
}

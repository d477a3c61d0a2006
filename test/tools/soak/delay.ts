import { connect, type Socket } from "node:net";
import { setTimeout as passing } from "node:timers/promises";
import { scrape, startProgram } from "./program.ts";

/**
 * Number of clients. Each has its own filter, so each waits for the frames of the previous ones.
 */
const CLIENTS = 1_500;
const WATCHED_MS = 20_000;
const MARKET = [
  "--speed",
  "10",
  "--max-sockets-per-ip",
  "2000",
  "--anonymous-streams",
  "none",
  "--drain",
  "0",
  "--no-compression",
];
const MARK = Buffer.from('"emitted_at":"');
const TIME_CHARACTERS = 24;
const MAX_ERROR = 0.1;

/** Opens a raw WebSocket. `onBytes` receives all bytes as they arrive. */
async function open(url: URL, path: string, onBytes: (bytes: Buffer) => void): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  const fields = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"];
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  socket.write([`GET ${path} HTTP/1.1`, `Host: ${url.host}`, ...fields, key, "", ""].join("\r\n"));
  await new Promise((resolve, reject) => socket.once("data", resolve).once("error", reject));
  socket.on("data", onBytes);
  return socket;
}

/** Returns the server's number of deliveries and the sum of their delays in seconds. */
async function histogramOf(url: string) {
  const series = await scrape(url);
  const read = (suffix: string) => series.get(`flarewire_delivery_delay_seconds_${suffix}`) ?? 0;
  return { count: read("count"), sum: read("sum") };
}

/**
 * Compares the delays that real clients measure from `emitted_at` with the server's histogram.
 * Resolves with true if they agree.
 */
export async function runDelay(): Promise<boolean> {
  await using program = await startProgram(MARKET, 4_096);
  const url = new URL(program.url);
  const delays: number[] = [];
  let isWatching = false;
  const times = new Map<string, number>();
  const onBytes = (bytes: Buffer) => {
    const nowMs = Date.now();
    if (!isWatching) return;
    for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + MARK.length)) {
      const from = at + MARK.length;
      const text = bytes.toString("latin1", from, from + TIME_CHARACTERS);
      // Skip a text that continues in the next bytes, which affects one of about a thousand events.
      if (text.length < TIME_CHARACTERS) continue;
      const emittedAtMs = times.get(text) ?? Date.parse(text);
      times.set(text, emittedAtMs);
      delays.push(nowMs - emittedAtMs);
    }
  };
  const sockets: Socket[] = [];
  try {
    for (let number = 0; number < CLIENTS; number += 1) {
      const path = `/api/v1/stream?channels=*&min_price_change=-${10_000 + number}&snapshot=false`;
      sockets.push(await open(url, path, onBytes));
    }
    await passing(2_000);
    const before = await histogramOf(program.url);
    isWatching = true;
    await passing(WATCHED_MS);
    isWatching = false;
    const after = await histogramOf(program.url);
    const count = after.count - before.count;
    const insideMs = (1_000 * (after.sum - before.sum)) / count;
    const outsideMs = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    const error = insideMs / outsideMs - 1;
    process.stdout.write(
      `${CLIENTS} clients: the histogram has ${count} deliveries, ${insideMs.toFixed(2)} ms on average; the clients measured ${delays.length}, ${outsideMs.toFixed(2)} ms on average: ${(100 * error).toFixed(1)} %\n`,
    );
    return delays.length > 1_000 && Math.abs(error) <= MAX_ERROR;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/*
 * A client that reads one list at a steady pace, and tries again while the server is away. The
 * order `begin` clears its figures, `end` prints them: the sorted latencies in ms, as JSON, from
 * `begin` on. Arguments: port, path and address.
 */

import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as passing } from "node:timers/promises";

/** Below the limit of requests of an address, of 50 a second. */
const EVERY_MS = 25;

/** The errors of a connection that the server's end causes. */
const AWAY = ["ECONNREFUSED", "ECONNRESET", "EPIPE"];

const [port, path, localAddress] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let tookMs: number[] = [];
let countedFromMs = 0;

async function read(): Promise<void> {
  const asked = request({ host: "127.0.0.1", port, path, localAddress, agent }).end();
  const [response] = await once(asked, "response");
  if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}`);
  response.resume();
  await once(response, "end");
}

async function readWhenBack(): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!AWAY.includes(Object(error).code)) throw error;
    await passing(EVERY_MS);
    await readWhenBack();
  }
}

createInterface(process.stdin)
  .on("line", (order) => {
    if (order === "end") process.stdout.write(`${JSON.stringify(tookMs.toSorted((a, b) => a - b))}\n`);
    else [tookMs, countedFromMs] = [[], performance.now()];
    if (order === "begin") process.stdout.write("begun\n");
  })
  // The parent has exited.
  .on("close", () => process.exit(0));

for (;;) {
  const beganMs = performance.now();
  await readWhenBack();
  const took = performance.now() - Math.max(beganMs, countedFromMs);
  // A long wait also stands for the requests that would have come during it.
  for (let rest = took; rest > 0; rest -= EVERY_MS) tookMs.push(rest);
  await passing(Math.max(0, EVERY_MS - took));
}

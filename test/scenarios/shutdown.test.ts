import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { IndependentClient } from "../support/independent-client.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

async function serve(...args: string[]) {
  const server = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--data", "none", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const logs: string[] = [];
  server.stderr.on("data", (chunk) => logs.push(String(chunk)));
  const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  const url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0] ?? "";
  return { server, url, logs, exited: once(server, "exit") };
}

test("SIGTERM under load closes every client with the code that says resume, and exits 0 within the drain time", async ({
  onTestFinished,
}) => {
  const { server, url, logs, exited } = await serve("--feed", "replay", "--speed", "200", "--drain", "1s");
  onTestFinished(() => void server.kill("SIGKILL"));
  const clients = Array.from({ length: 20 }, () => new IndependentClient(url));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]?.until(() => clients[0]?.received.events.length !== 0);
  server.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await Promise.all(clients.map((client) => client.until(() => client.closeCode !== undefined)));
  expect(new Set(clients.map(({ closeCode }) => closeCode))).toEqual(new Set([4200]));
  const [stopping, stopped, ...more] = logs
    .join("")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    // On a busy machine the source may be late, and say so.
    .filter(({ msg }) => !/^(Server listening|the source is) /.test(msg));
  expect([stopping.msg, stopped.msg, more]).toEqual(["stopping", "stopped", []]);
  // A second for the drain, and what it takes to close 20 sockets on a busy machine; by its own clock, as the client is busy too.
  expect(stopped.time - stopping.time).toBeLessThan(3_000);
});

test("a second signal ends the process at once", async ({ onTestFinished }) => {
  const { server, url, exited } = await serve("--drain", "5m");
  onTestFinished(() => void server.kill("SIGKILL"));
  const clients = Array.from({ length: 10 }, () => new IndependentClient(url));
  await Promise.all(clients.map((client) => client.connect()));
  server.kill("SIGTERM");
  await Promise.any(clients.map((client) => client.until(() => client.closeCode !== undefined)));
  server.kill("SIGTERM");
  const [code] = (await exited) as [number];
  expect(code).not.toBe(0);
});

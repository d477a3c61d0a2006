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
  const { server, url, logs, exited } = await serve("--feed", "replay", "--speed", "200", "--drain", "3s");
  onTestFinished(() => void server.kill("SIGKILL"));
  const clients = Array.from({ length: 20 }, () => new IndependentClient(url));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]?.until(() => clients[0]?.received.events.length !== 0);
  server.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await Promise.all(clients.map((client) => client.until(() => client.closeCode !== undefined)));
  expect(new Set(clients.map(({ closeCode }) => closeCode))).toEqual(new Set([4200]));
  const lines: { level: number; msg: string; time: number }[] = logs
    .join("")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const WARNING = 40;
  // On a busy machine the source may be late, and say so.
  expect(lines.filter(({ level, msg }) => level >= WARNING && !msg.startsWith("the source is "))).toEqual([]);
  const timeOf = (what: string) => lines.find(({ msg }) => msg === what)?.time ?? Number.NaN;
  // The drain takes its time, the close grace included; by the server's own clock, as this process is busy too.
  expect(timeOf("stopped") - timeOf("stopping")).toBeLessThan(4_000);
});

test("a second signal ends the process at once", async ({ onTestFinished }) => {
  const { server, url, exited } = await serve("--feed", "replay", "--drain", "5m");
  onTestFinished(() => void server.kill("SIGKILL"));
  const clients = Array.from({ length: 10 }, () => new IndependentClient(url));
  await Promise.all(clients.map((client) => client.connect()));
  server.kill("SIGTERM");
  await Promise.any(clients.map((client) => client.until(() => client.closeCode !== undefined)));
  server.kill("SIGTERM");
  const [code] = (await exited) as [number];
  expect(code).not.toBe(0);
});

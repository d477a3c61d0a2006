import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { startLeader } from "../support/servers/edges.ts";
import { pumpedFlags } from "../support/world/pumped-market.ts";

const MAIN = process.env.BUNDLED_PROGRAM ?? fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/**
 * Slow enough for clients on a busy machine. The server cuts a client that responds late to a
 * close.
 */
const MARKET = [...pumpedFlags(), "--loop", "--warmup", "1h"];

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

test("SIGTERM under load closes every client with the code for resuming, and the process exits with 0 within the drain time", async ({
  onTestFinished,
}) => {
  const { server, url, logs, exited } = await serve(...MARKET, "--speed", "120", "--drain", "3s");
  onTestFinished(() => void server.kill("SIGKILL"));
  const clients = Array.from({ length: 20 }, () => new IndependentClient(url));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]?.until(() => clients[0]?.received.events.length !== 0);
  server.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  await Promise.all(clients.map((client) => client.until(() => client.closeCode !== undefined)));
  expect(new Set(clients.map(({ closeCode }) => closeCode))).toEqual(new Set([4200]));
  const lines: { level: string; msg: string; time: string }[] = logs
    .join("")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const EXPECTED_LEVELS = ["trace", "debug", "info"];
  // On a busy machine the source may become stale and log it.
  expect(
    lines.filter(({ level, msg }) => !EXPECTED_LEVELS.includes(level) && !msg.startsWith("source is ")),
  ).toEqual([]);
  const timeOf = (message: string) => Date.parse(lines.find(({ msg }) => msg === message)?.time ?? "");
  // The drain time, including the close grace, by the server's clock because this process is busy.
  expect(timeOf("stopped") - timeOf("stopping")).toBeLessThan(4_000);
});

test("[W25] [P8] a drain keeps no connection open: idle ones are closed, and every response has `connection: close`", async ({
  onTestFinished,
}) => {
  const leader = await startLeader(onTestFinished, { drain: "6s", speed: 1 });
  const { port } = new URL(leader.url);
  const ask = async (agent: Agent, path: string) => {
    const asked = request({ port, path, agent }).end();
    const answered = once(asked, "response");
    await once(asked, "finish");
    return { asked, answered: answered.then(([message]) => message as IncomingMessage) };
  };
  const agents = [0, 1, 2].map(() => new Agent({ keepAlive: true }));
  onTestFinished(() => {
    for (const agent of agents) agent.destroy();
  });
  const [idle, waiting, busy] = agents as [Agent, Agent, Agent];
  const first = await ask(idle, "/healthz");
  expect((await first.answered).headers.connection).toBe("keep-alive");
  (await first.answered).resume();
  const wait = await ask(waiting, "/api/v1/events?after=oldest&channels=status&wait=60");
  const client = new IndependentClient(leader.url);
  await client.connect();
  const idleEnds = once(first.asked.socket as Socket, "close");
  const stopped = leader.stop();
  await idleEnds;
  // Before the other client has left: afterwards the server no longer responds.
  const late = await ask(busy, "/api/v1/events");
  const { statusCode, headers } = await wait.answered;
  expect([statusCode, headers.connection]).toEqual([204, "close"]);
  const refused = await late.answered;
  expect([refused.statusCode, refused.headers.connection]).toEqual([503, "close"]);
  await stopped;
});

test("a second signal a second after the first ends the process at once with exit code 75", async ({
  onTestFinished,
}) => {
  const { server, url } = await serve(...MARKET, "--drain", "5m");
  onTestFinished(() => void server.kill("SIGKILL"));
  const clients = Array.from({ length: 10 }, () => new IndependentClient(url));
  await Promise.all(clients.map((client) => client.connect()));
  server.kill("SIGTERM");
  await Promise.any(clients.map((client) => client.until(() => client.closeCode !== undefined)));
  const again = () => {
    server.kill("SIGTERM");
    return server.exitCode;
  };
  await expect.poll(again).toBe(75);
});

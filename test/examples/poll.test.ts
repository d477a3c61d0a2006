import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { spawnNode } from "../app/cli/spawn-cli.ts";
import { startLedGateway } from "./led-gateway.ts";

/** A server with scripted responses, which repeats the last one and records the requests. */
async function startAnswers(
  answers: readonly { status: number; headers?: Record<string, string>; body?: string }[],
) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? { status: 500 };
    asked.push(request);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const flare = (id: string, symbol: string) => ({
  id,
  started_trending_at: "2017-11-12T08:21:00.000Z",
  finished_trending_at: "2017-11-12T08:35:00.000Z",
  token: { symbol },
});
const flares = (pro: unknown[], finished_trending: unknown[]) => ({
  status: 200,
  headers: { ETag: '"1"' },
  body: JSON.stringify({ free: [], pro, finished_trending }),
});

test("polling prints starts and finishes", async () => {
  await using gateway = await startLedGateway();
  gateway.start("ONE");
  await using poll = spawnNode(["examples/poll.ts", gateway.url, "0.1"]);
  await poll.said("stdout", "started ONE");
  gateway.start("TWO");
  await poll.said("stdout", "started TWO");
  gateway.finish("ONE");
  await poll.said("stdout", "finished ONE");
  expect(poll.stdout().trim().split("\n")).toHaveLength(3);
  expect(poll.stderr()).toBe("running flares: 1; waiting for starts and finishes\n");
});

test("polling sends the ETag and prints only changes, also a flare that was shorter than a poll, without control characters", async () => {
  await using server = await startAnswers([
    flares([], [flare("1", "OLD")]),
    { status: 304 },
    { status: 304 },
    flares([flare("2", "NEW\u001B[2J\u202EB")], [flare("3", "SHORT"), flare("1", "OLD")]),
  ]);
  await using poll = spawnNode(["examples/poll.ts", server.url, "0.1"]);
  await poll.said("stdout", /(?:.*\n){3}/);
  const printed = poll.stdout().split("\n").sort();
  expect(printed).toEqual([
    "",
    "2017-11-12T08:21:00.000Z started NEW?[2J?B 2",
    "2017-11-12T08:21:00.000Z started SHORT 3",
    "2017-11-12T08:35:00.000Z finished SHORT 3",
  ]);
  expect(server.asked.slice(0, 3).map(({ headers }) => headers["if-none-match"])).toEqual([
    undefined,
    '"1"',
    '"1"',
  ]);
});

test("without a key, polling a server with keys follows the list free, says that it is late, and reports a flare that leaves it", async () => {
  const headers = { "Flarewire-Plan": "free", "Flarewire-Observed-At": "2017-11-12T08:30:00.000Z" };
  const free = (running: unknown[], ended: unknown[] = []) => ({
    status: 200,
    headers,
    body: JSON.stringify({ free: running, pro: [], finished_trending: ended }),
  });
  const [one, two] = [flare("1", "ONE"), flare("2", "TWO")];
  await using server = await startAnswers([free([one]), free([two, one]), free([two]), free([], [one, two])]);
  await using poll = spawnNode(["examples/poll.ts", server.url, "0.1"]);
  await poll.said("stdout", "finished ONE");
  expect(poll.stdout().trim().split("\n")).toEqual([
    "2017-11-12T08:21:00.000Z started ONE 1",
    "2017-11-12T08:21:00.000Z started TWO 2",
    "2017-11-12T08:30:00.000Z withdrawn ONE 1",
    "2017-11-12T08:35:00.000Z finished TWO 2",
    "2017-11-12T08:35:00.000Z finished ONE 1",
  ]);
  expect(poll.stderr()).toBe(
    "following flares.free: starts are 5 minutes late\nrunning flares: 1; waiting for starts and finishes\n",
  );
});

test("polling waits as long as a busy server asks, then continues", async () => {
  const busy = { status: 503, headers: { "Retry-After": "1" }, body: "busy" };
  await using server = await startAnswers([busy, flares([flare("1", "ONE")], [])]);
  await using poll = spawnNode(["examples/poll.ts", server.url, "0.1"]);
  await poll.said("stdout", "ONE");
  expect(poll.stderr()).toMatch(/^request failed: 503: busy; retrying in [12]\.\d s\n/);
});

test("polling reports once that the data is stale or live again, with its age, also if no flare changed", async () => {
  const age = (state: string, seconds: number) => ({
    status: 304,
    headers: { "Flarewire-Source-State": state, "Flarewire-Data-Age": String(seconds) },
  });
  await using server = await startAnswers([
    flares([], []),
    age("live", 3),
    age("stale", 40),
    age("stale", 41),
    age("live", 0),
  ]);
  await using poll = spawnNode(["examples/poll.ts", server.url, "0.1"]);
  await poll.said("stderr", "live");
  expect(poll.stderr()).toBe(
    [
      "running flares: 0; waiting for starts and finishes",
      "the source is stale; the data is 40 s old",
      "the source is live; the data is 0 s old\n",
    ].join("\n"),
  );
});

test("polling survives a response that is not JSON", async () => {
  await using server = await startAnswers([{ status: 200, body: "<html>" }]);
  await using poll = spawnNode(["examples/poll.ts", server.url, "0.1"]);
  await poll.said("stderr", /request failed: .*JSON.*; retrying in /);
});

test("polling ends with 1 if the server rejects the request", async () => {
  await using server = await startAnswers([{ status: 404, body: "no such thing" }]);
  await using poll = spawnNode(["examples/poll.ts", server.url]);
  expect(await poll.ended()).toBe(1);
  expect(poll.stderr()).toBe("404: no such thing\n");
});

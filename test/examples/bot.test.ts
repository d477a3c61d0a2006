import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { test as base, expect } from "vitest";
import { flareStarted, greet, send, startScriptedServer } from "../app/cli/scripted-server.ts";
import { spawnCommand, spawnNode } from "../app/cli/spawn-cli.ts";
import { Waiters } from "../support/time/waiters.ts";
import { type LedGateway, startLedGateway } from "./led-gateway.ts";

const test = base.extend<{ gateway: LedGateway }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  gateway: async ({}, use) => {
    await using gateway = await startLedGateway();
    await use(gateway);
  },
});

/** A snapshot without flares. */
const NOTHING = { flares: { pro: [] }, explanations: {} };

/** The event with which a flare leaves the free plan's list. */
const withdrawn = (seq: number, id: string) => ({
  ...flareStarted(seq, ""),
  ...{ name: "flare-withdrawn", channel: "flares.free", data: { op: "remove", id, cause: "canary" } },
});

test("the command in the bot's header runs in a clone without a build, and the bot stops when the server rejects it", async () => {
  await using server = await startScriptedServer();
  const [, command = ""] =
    /^\/\/ +(npx node examples\/bot\.ts)/m.exec(readFileSync("examples/bot.ts", "utf8")) ?? [];
  // Run in a shell, like a user's command.
  await using bot = spawnCommand("bash", ["-c", `${command} ${server.url}`], { NODE_OPTIONS: "" });
  (await server.next()).socket.close(4_000);
  expect([await bot.ended(), bot.stderr()]).toEqual([1, expect.stringContaining("close code 4000")]);
});

test("an invalid address ends the bot with one line", async () => {
  await using bot = spawnNode(["examples/bot.ts", "localhost:8080"]);
  expect([await bot.ended(), bot.stderr()]).toEqual([
    1,
    expect.stringMatching(/^address .*use http\(s\):\/\/, .*\n$/),
  ]);
});

test("[L3] the bot prints each start and surge with its reason and each finish, and resumes a lost connection without gaps or repeats", async ({
  gateway,
}) => {
  await using bot = spawnNode(["examples/bot.ts", gateway.url]);
  await bot.said("stderr", "live by websocket");
  gateway.start("ONE");
  await bot.said("stdout", "flare-started");
  gateway.surge("ONE");
  await bot.said("stdout", "flare-surged");
  gateway.finish("ONE");
  await bot.said("stdout", "flare-finished");
  gateway.cut();
  gateway.start("TWO");
  gateway.finish("TWO");
  await bot.said("stderr", /live by[\s\S]*live by/);
  gateway.start("THREE");
  await bot.said("stdout", /THREE.*\n/);
  expect(bot.stdout().trim().split("\n")).toEqual([
    "2017-11-12T08:00:01.000Z flare-started ONE (14 % in 5 min): price 8.3 % above normal",
    "2017-11-12T08:00:02.000Z flare-surged ONE (28 % in 5 min): price 8.3 % above normal",
    "2017-11-12T08:00:03.000Z flare-finished ONE (28 % in 5 min) faded",
    "2017-11-12T08:00:04.000Z flare-started TWO (14 % in 5 min): price 8.3 % above normal",
    "2017-11-12T08:00:05.000Z flare-finished TWO (14 % in 5 min) faded",
    "2017-11-12T08:00:06.000Z flare-started THREE (14 % in 5 min): price 8.3 % above normal",
  ]);
});

test("after each reset the bot prints running flares, known reasons and the number of lost events, without control characters", async () => {
  await using server = await startScriptedServer();
  await using bot = spawnNode(["examples/bot.ts", server.url]);
  const running = (symbol: string, explanations = {}) => ({
    explanations,
    flares: {
      pro: [
        {
          id: "id-1",
          started_trending_at: "2017-11-12T08:21:00.000Z",
          recent_price_change: 9,
          token: { symbol },
        },
      ],
    },
  });
  const explained = { "id-1": { text: "volume 3 times normal" } };
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset", snapshot: running("ONE", explained) });
  await bot.said("stdout", "ONE");
  first.socket.close(4_200);
  const second = await server.next();
  expect(second.query.get("after")).toBe("abcd-6");
  const lost = { reason: "epoch-changed", events: null };
  greet(second.socket, { cursor: "efgh-2", resumed: "reset", lost, snapshot: running("TWO\u001B[2J") });
  await bot.said("stdout", "TWO");
  expect(bot.stderr()).toContain("missed some events");
  expect(bot.stdout().trim().split("\n")).toEqual([
    "2017-11-12T08:21:00.000Z flare-running ONE (9 % in 5 min): now volume 3 times normal",
    "2017-11-12T08:21:00.000Z flare-running TWO?[2J (9 % in 5 min)",
  ]);
  second.socket.close(4_200);
  const third = await server.next();
  const counted = { reason: "expired", events: 12 };
  greet(third.socket, { cursor: "abcd-6", resumed: "reset", lost: counted, snapshot: NOTHING });
  send(third.socket, flareStarted(7, "A\u001B[2J\u202EB\u009B"));
  await bot.said("stdout", /flare-started .*\n/);
  expect(bot.stdout()).toContain("flare-started A?[2J?B? (9 % in 5 min)");
  expect(bot.stderr()).toContain("missed 12 events");
});

test("without a key, the bot prints the free plan's flares, says that they are late, and prints each that the canary withdraws; with one, it prints each flare once", async () => {
  await using server = await startScriptedServer();
  await using bot = spawnNode(["examples/bot.ts", server.url]);
  const { socket, query } = await server.next();
  expect(query.get("channels")).toBe("flares.*");
  const flares = [
    {
      id: "id-1",
      started_trending_at: "2017-11-12T08:21:00.000Z",
      recent_price_change: 9,
      token: { symbol: "OLD" },
    },
  ];
  greet(socket, {
    cursor: "abcd-6",
    resumed: "reset",
    snapshot: { flares: { free: flares }, explanations: {} },
  });
  send(socket, { ...flareStarted(7, "AGED"), channel: "flares.free" });
  await bot.said("stdout", "flare-started AGED");
  await bot.said("stderr", "following flares.free: starts are 5 minutes late\n");
  for (const [seq, id] of ["id-7", "id-1", "id-unknown"].entries()) send(socket, withdrawn(8 + seq, id));
  await bot.said("stdout", "flare-withdrawn OLD");
  socket.close(4_200);
  const keyed = await server.next();
  const lost = { reason: "expired", events: 1 };
  greet(keyed.socket, {
    cursor: "abcd-12",
    resumed: "reset",
    lost,
    snapshot: { ...NOTHING, flares: { pro: flares, free: flares } },
  });
  send(keyed.socket, flareStarted(13, "NEW"));
  send(keyed.socket, { ...flareStarted(14, "NEW"), channel: "flares.free" });
  send(keyed.socket, flareStarted(15, "LAST"));
  await bot.said("stdout", "flare-started LAST");
  const printed = [...bot.stdout().matchAll(/flare-(\w+) (\w+)/g)].map(
    ([, what, symbol]) => `${what} ${symbol}`,
  );
  const withoutKey = ["running OLD", "started AGED", "withdrawn AGED", "withdrawn OLD"];
  expect(printed).toEqual([...withoutKey, "running OLD", "started NEW", "started LAST"]);
  expect(bot.stdout()).toContain("2017-11-12T08:21:00.000Z flare-withdrawn AGED canary\n");
  expect(bot.stderr().match(/following/g)).toHaveLength(1);
});

test("the bot retries a server that does not answer, and reports the reason once", async ({
  onTestFinished,
}) => {
  let count = 0;
  const attempts = new Waiters(() => count);
  const server = createServer((socket) => {
    socket.destroy();
    count += 1;
    attempts.look();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await using bot = spawnNode(["examples/bot.ts", `http://127.0.0.1:${port}`]);
  await attempts.until(() => count >= 4);
  expect(bot.stderr().match(/^waiting by websocket after: .+$/gm)).toHaveLength(1);
  expect(bot.stderr()).not.toMatch(/^connecting by \w+ after: /m);
});

test("the bot reports each reason once if its transports fail for different reasons", async ({
  onTestFinished,
}) => {
  let rounds = 0;
  const waiters = new Waiters(() => rounds);
  const server = createHttpServer(({ url = "", headers: { accept } }, response) => {
    // The client requests this to learn why no WebSocket opened. The server acts as a proxy that
    // blocks it and ends streams.
    if (url.endsWith("limit=1")) response.end("{}");
    else if (accept === "text/event-stream") response.setHeader("Content-Type", "text/html").end("no");
    else {
      response.writeHead(502).end();
      rounds += 1;
      waiters.look();
    }
  });
  server.on("upgrade", (_request, socket) => void socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await using bot = spawnNode(["examples/bot.ts", `http://127.0.0.1:${port}`]);
  await waiters.until(() => rounds >= 3);
  const lines = bot.stderr().trim().split("\n");
  expect(lines.map((line) => line.trim())).toEqual([
    "connecting by websocket",
    "connecting by sse after: close code 1006",
    "connecting by poll after: cut off",
    "waiting by websocket after: HTTP 502",
  ]);
});

test("the bot reports a known reason again after it was live", async () => {
  await using server = await startScriptedServer();
  await using bot = spawnNode(["examples/bot.ts", server.url]);
  for (let attempt = 0; attempt < 2; attempt++) (await server.next()).socket.close(4_200);
  const { socket } = await server.next();
  expect(bot.stderr().match(/ by \w+ after: .*4200/g)).toHaveLength(1);
  greet(socket, { cursor: "abcd-6", resumed: "reset", snapshot: NOTHING });
  await bot.said("stderr", "live by websocket");
  socket.close(4_200);
  await bot.said("stderr", /live by websocket\n(?:.*\n)?\w+ by \w+ after: .*4200/);
});

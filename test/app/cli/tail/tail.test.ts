import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test as base, expect } from "vitest";
import { run } from "../../../../src/app/cli/run.ts";
import { runInProcess, startInProcess } from "../run-in-process.ts";
import {
  flareStarted,
  greet,
  HELLO,
  type ScriptedServer,
  send,
  startScriptedServer,
} from "../scripted-server.ts";
import { spawnCli } from "../spawn-cli.ts";

const test = base.extend<{ server: ScriptedServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  server: async ({}, use) => {
    await using server = await startScriptedServer();
    await use(server);
  },
});

test("tail prints an event's line with time, symbol, change and reason, and ends with 0 at SIGTERM", async ({
  server,
}) => {
  await using tail = spawnCli(["tail", server.url]);
  const { socket, query } = await server.next();
  expect(query.get("channels")).toBe("flares.pro,newest.bsc,status");
  expect(query.get("after")).toBeNull();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, flareStarted(7, "BTC_BCC"));
  await tail.said("stdout", "\n");
  const line =
    "2017-11-12 08:21:00  flare-started       flares.pro         BTC_BCC         +9 %  price 8.3 % above normal\n";
  expect(tail.stdout()).toBe(line);
  await tail.said("stderr", "a recorded market (replay, flarewire/test), from abcd-6");
  tail.child.kill("SIGTERM");
  expect(await tail.ended()).toBe(0);
});

test("[L3] after a lost connection, tail resumes with its cursor, says so, and prints no event twice", async ({
  server,
}) => {
  await using tail = startInProcess(["tail", server.url]);
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset" });
  send(first.socket, flareStarted(7, "ONE"));
  send(first.socket, { type: "heartbeat", cursor: "abcd-9" });
  await tail.said("stdout", "ONE");
  first.socket.close(4_200);
  const second = await server.next();
  expect(second.query.get("after")).toBe("abcd-9");
  greet(second.socket, { cursor: "abcd-9", resumed: "full" });
  send(second.socket, flareStarted(9, "REPEATED"));
  send(second.socket, flareStarted(10, "TWO"));
  await tail.said("stdout", "TWO");
  expect(tail.stderr()).toContain("closed: 4200 draining: the server is shutting down; reconnecting\n");
  expect(tail.stderr()).toContain("resumed at abcd-9: nothing was missed");
  expect(tail.stdout()).not.toContain("REPEATED");
});

test("[L3] a reset is reported with the number of missed events", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url, "--after", "abcd-1"]);
  const { socket, query } = await server.next();
  expect(query.get("after")).toBe("abcd-1");
  greet(socket, { cursor: "abcd-50", resumed: "reset", lost: { reason: "expired", events: 49 } });
  await tail.said(
    "stderr",
    "49 events were missed (expired: the server no longer stores them): continuing from abcd-50",
  );
});

test("[L3] [F3] the server's own position does not move the cursor, and no event is printed twice", async ({
  server,
}) => {
  await using tail = startInProcess(["tail", server.url, "--after", "abcd-6"]);
  const first = await server.next();
  send(first.socket, HELLO);
  send(first.socket, { type: "heartbeat", cursor: "abcd-2" });
  first.socket.close(4_200);
  const second = await server.next();
  expect(second.query.get("after")).toBe("abcd-6");
  greet(second.socket, { cursor: "abcd-6", resumed: "full" });
  send(second.socket, { type: "heartbeat", cursor: "abcd-2" });
  send(second.socket, flareStarted(3, "REPEATED"));
  send(second.socket, flareStarted(7, "ONE"));
  await tail.said("stdout", "ONE");
  second.socket.close(4_200);
  expect((await server.next()).query.get("after")).toBe("abcd-7");
  expect(tail.stdout()).not.toContain("REPEATED");
});

test("[L3] [F3] tail keeps its cursor and retries a server that is behind it until the server has caught up", async ({
  server,
}) => {
  await using tail = startInProcess(["tail", server.url, "--after", "abcd-6"]);
  for (let round = 0; round < 2; round += 1) {
    const { socket, query } = await server.next();
    expect(query.get("after")).toBe("abcd-6");
    greet(socket, { cursor: "abcd-4", resumed: "reset", lost: { reason: "ahead", events: null } });
    send(socket, flareStarted(5, "REPEATED"));
  }
  await tail.said("stderr", "the server is at abcd-4, and this client at abcd-6; retrying");
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "full" });
  send(socket, flareStarted(7, "ONE"));
  await tail.said("stdout", "ONE");
  expect(tail.stdout()).not.toContain("REPEATED");
  expect(tail.stderr()).not.toContain("missed (ahead)");
});

test("[L3] when an event is missing, tail reconnects with the cursor before the gap", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, flareStarted(9, "BEYOND", 8));
  await tail.said("stderr", "an event before abcd-9 is missing");
  expect((await server.next()).query.get("after")).toBe("abcd-6");
  expect(tail.stdout()).toBe("");
});

test("after a silence longer than the server's limit, tail reconnects", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" }, { silence_limit_ms: 1_000 });
  expect((await server.next()).query.get("after")).toBe("abcd-6");
  expect(tail.stderr()).toContain("silent for 1000 ms");
});

test("a close code with the action stop ends tail with 1", async ({ server }) => {
  await using tail = startInProcess(["tail", server.url]);
  (await server.next()).socket.close(4_000);
  expect(await tail.ended()).toBe(1);
  expect(tail.stderr()).toContain("4000 bad-request");
});

test("a permanent rejection ends tail with 1 and the server's reason", async ({ server }) => {
  server.refuse = {
    status: 403,
    headers: { "Content-Type": "application/problem+json" },
    body: JSON.stringify({ title: "no", detail: "this origin may not connect" }),
  };
  const { code, stderr } = await runInProcess(["tail", server.url]);
  expect(code).toBe(1);
  expect(stderr).toContain("refused: HTTP 403 this origin may not connect");
});

test("tail retries after a temporary rejection", async ({ server }) => {
  server.refuse = { status: 503, headers: { "Retry-After": "1" }, body: "<html>busy</html>" };
  await using tail = startInProcess(["tail", server.url]);
  await tail.said("stderr", /refused: HTTP 503; retrying/);
  server.refuse = undefined;
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  await tail.said("stderr", "from abcd-6");
});

test("control characters in names are not printed, neither as lines nor as JSON", async ({ server }) => {
  const symbol = "\u001B[2J\u202EX\u009B\u0007";
  for (const args of [[], ["--json"]]) {
    await using tail = startInProcess(["tail", server.url, ...args]);
    const { socket } = await server.next();
    greet(socket, { cursor: "abcd-6", resumed: "reset", lost: { reason: symbol, events: 1 } });
    send(socket, flareStarted(7, symbol));
    await tail.said("stdout", "\n");
    expect(`${tail.stdout()}${tail.stderr()}`.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    if (args.length > 0) expect(JSON.parse(tail.stdout())).toEqual(flareStarted(7, symbol));
  }
});

test("unknown messages, events and fields are accepted, and after an unreadable message tail resumes without loss", async ({
  server,
}) => {
  await using tail = startInProcess(["tail", server.url, "--json"]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, { type: "weather", sunny: true });
  send(socket, { ...flareStarted(7, "ONE"), name: "flare-exploded", more: 1 });
  send(socket, { ...flareStarted(8, "TWO"), data: "no object" });
  await tail.said("stdout", "flare-exploded");
  socket.send("{");
  const second = await server.next();
  expect(second.query.get("after")).toBe("abcd-8");
  greet(second.socket, { cursor: "abcd-8", resumed: "full" });
  send(second.socket, flareStarted(9, "THREE"));
  await tail.said("stdout", "THREE");
  expect(tail.stdout().trim().split("\n")).toHaveLength(2);
});

test("changes of numbers are printed only with --updates", async ({ server }) => {
  const updated = {
    ...flareStarted(8, "X"),
    prev: 6,
    name: "flare-updated",
    data: { op: "set", id: "id-7", set: { recent_price_change: 12 } },
  };
  for (const [args, lines] of [
    [[], 1],
    [["--updates"], 2],
  ] as const) {
    await using tail = startInProcess(["tail", server.url, ...args]);
    const { socket } = await server.next();
    greet(socket, {
      cursor: "abcd-6",
      resumed: "reset",
      snapshot: { flares: { pro: [{ id: "id-7", token: { symbol: "KNOWN" } }] } },
    });
    send(socket, updated);
    send(socket, { ...flareStarted(9, "LAST"), prev: 8 });
    await tail.said("stdout", "LAST");
    expect(tail.stdout().trim().split("\n")).toHaveLength(lines);
    if (lines === 2) expect(tail.stdout()).toMatch(/flare-updated +flares.pro +KNOWN +\+12 %/);
  }
});

test("changes of flares that started before --after are printed with the symbol from the server's lists", async ({
  server,
}) => {
  const flares = { pro: [{ id: "id-1", token: { symbol: "KNOWN" } }] };
  server.snapshot = { cursor: "abcd-9", observed_at: "", flares, explanations: {} };
  await using tail = startInProcess(["tail", server.url, "--updates", "--after", "abcd-6"]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "full" });
  const change = { ...flareStarted(7, ""), name: "flare-updated" };
  send(socket, { ...change, data: { op: "set", id: "id-1", set: { recent_price_change: 12 } } });
  const last = { ...change, cursor: "abcd-8", seq: 8, prev: 7 };
  send(socket, { ...last, data: { op: "set", id: "id-2", set: { recent_price_change: 13 } } });
  await tail.said("stdout", "+13 %");
  const [known, unknown] = tail.stdout().split("\n");
  expect(known).toMatch(/flare-updated +flares.pro +KNOWN +\+12 %$/);
  expect(unknown).toMatch(/flare-updated +flares.pro +\+13 % +flare id-2$/);
});

test("without access to flares.pro, tail follows flares.free by default, and is rejected if --channels has flares.pro", async ({
  server,
}) => {
  server.refuse = {
    status: 403,
    headers: { "Content-Type": "application/problem+json" },
    body: JSON.stringify({ detail: "the plan free does not include flares.pro" }),
    channel: "flares.pro",
  };
  await using tail = startInProcess(["tail", server.url]);
  const { socket, query } = await server.next();
  expect(query.get("channels")).toBe("flares.free,newest.bsc,status");
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, flareStarted(7, "ONE"));
  await tail.said("stdout", "ONE");
  expect(tail.stderr()).toContain(
    "flarewire tail: without a key in FLAREWIRE_CLIENT_KEY, the server does not send flares.pro: following flares.free,newest.bsc,status\n",
  );
  const explicit = await runInProcess(["tail", server.url, "--channels", "flares.pro,status"]);
  expect([explicit.code, explicit.stderr]).toEqual([
    1,
    expect.stringContaining("the plan free does not include"),
  ]);
});

test("a server that is not Flarewire ends tail with 1", async ({ server }) => {
  server.refuse = { status: 404, body: "<html>nothing here</html>" };
  const { code, stderr } = await runInProcess(["tail", server.url]);
  expect([code, stderr]).toEqual([
    1,
    "flarewire tail: refused: HTTP 404; check that the URL is a Flarewire server's\n",
  ]);
});

test("an update that changes only the explanation states the new one, and the next one does not repeat it", async ({
  server,
}) => {
  await using tail = startInProcess(["tail", server.url, "--updates"]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  const why = { text: "3 times the usual buyers" };
  const updated = { ...flareStarted(7, "X"), name: "flare-updated" };
  send(socket, { ...updated, data: { op: "set", id: "id-7", set: {}, why } });
  send(socket, {
    ...updated,
    cursor: "abcd-8",
    seq: 8,
    prev: 7,
    data: { op: "set", id: "id-7", set: { more: 1 }, why },
  });
  await tail.said("stdout", "more");
  expect(tail.stdout()).toMatch(
    /flare-updated .* flare id-7: now: 3 times the usual buyers\n.*flare-updated .* flare id-7: more\n/,
  );
});

test("data that is not live is reported with the reason; live data is not reported", async ({ server }) => {
  const freshness = { state: "stale", reason: "the recording has ended\u001B[2J" };
  await using tail = startInProcess(["tail", server.url]);
  const first = await server.next();
  greet(first.socket, { cursor: "abcd-6", resumed: "reset" }, { freshness });
  await tail.said("stderr", "flarewire tail: the data is stale: the recording has ended\uFFFD[2J\n");
  first.socket.close(4_200);
  const second = await server.next();
  greet(second.socket, { cursor: "abcd-6", resumed: "full" }, { freshness: { state: "live", reason: "" } });
  send(second.socket, flareStarted(7, "ONE"));
  await tail.said("stdout", "ONE");
  expect(tail.stderr().match(/the data is/g)).toHaveLength(1);
});

test("a pipe reader that pauses gets every event when it continues, and no warning is printed", async ({
  server,
}) => {
  await using tail = spawnCli(["tail", server.url, "--json"]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, flareStarted(7, "FIRST"));
  await tail.said("stdout", "FIRST");
  tail.child.stdout?.pause();
  const last = 5_000;
  // It disconnects when its queue and the pipe are full, and reconnects for the remaining events.
  const left = once(socket, "close");
  for (let seq = 8; seq <= last; seq++) send(socket, flareStarted(seq, "MORE"));
  await left;
  expect(tail.stdout()).not.toContain(`abcd-${last}"`);
  tail.child.stdout?.resume();
  const serve = async () => {
    for (;;) {
      const { socket: next, query } = await server.next();
      const [, seq = ""] = query.get("after")?.split("-") ?? [];
      greet(next, { cursor: query.get("after"), resumed: "full" });
      for (let sent = Number(seq) + 1; sent <= last; sent++) send(next, flareStarted(sent, "MORE"));
    }
  };
  void serve().catch(() => undefined);
  await tail.said("stdout", `abcd-${last}"`);
  const seqs = tail
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).seq);
  expect(seqs).toEqual(Array.from({ length: last - 6 }, (_, at) => 7 + at));
  expect(tail.stderr()).not.toContain("Warning");
});

test("[L5] if the output is full, tail disconnects, and buffers a bounded number of bytes", async ({
  server,
}) => {
  const terminal = { environment: {}, stdout: new PassThrough(), stderr: new PassThrough() };
  const ended = run(["tail", server.url, "--json"], terminal);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  const left = once(socket, "close");
  for (let seq = 7; seq <= 3_000; seq++) send(socket, flareStarted(seq, "MORE"));
  await left;
  const { readableLength, writableLength } = terminal.stdout;
  expect(readableLength + writableLength).toBeLessThan(200_000);
  terminal.stdout.destroy(Object.assign(new Error("gone"), { code: "EPIPE" }));
  expect(await ended).toBe(0);
});

test("when the pipe's reader leaves, tail ends with 0 and prints no error", async ({ server }) => {
  await using tail = spawnCli(["tail", server.url]);
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  send(socket, flareStarted(7, "ONE"));
  await tail.said("stdout", "ONE");
  tail.child.stdout?.destroy();
  // A write fails only after the pipe has broken; the first one may still find it open.
  let seq = 8;
  const timer = setInterval(() => send(socket, flareStarted(seq++, "MORE")), 20);
  try {
    expect(await tail.ended()).toBe(0);
  } finally {
    clearInterval(timer);
  }
  expect(tail.stderr()).not.toMatch(/EPIPE|rror/);
});

test("the filter and channels of the URL are used, and --channels overrides its channels", async ({
  server,
}) => {
  const url = `${server.url}/?channels=flares.*&channels=status&symbols=CAKE`;
  await using _own = startInProcess(["tail", url]);
  const { query } = await server.next();
  expect([query.get("channels"), query.get("symbols")]).toEqual(["flares.*,status", "CAKE"]);
  await using _flagged = startInProcess(["tail", url, "--channels", "newest.bsc"]);
  expect((await server.next()).query.get("channels")).toBe("newest.bsc");
});

test("mode=latest in the URL is rejected", async () => {
  const { code, stderr } = await runInProcess(["tail", "http://127.0.0.1:9/?mode=latest"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('mode is "latest" in the URL, but tail prints every event; leave it out'),
  ]);
});

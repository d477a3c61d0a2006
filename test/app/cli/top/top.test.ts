import { test as base, describe, expect } from "vitest";
import { shareOf } from "../../../support/law-runs.ts";
import { eventually } from "../../../support/time/waiters.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../../support/world/samples.ts";
import { runInProcess, startInProcess } from "../run-in-process.ts";
import { greet, type ScriptedServer, send, startScriptedServer } from "../scripted-server.ts";
import { hasPty, type PtyCli, spawnPtyCli } from "../spawn-pty.ts";

const test = base.extend<{ server: ScriptedServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  server: async ({}, use) => {
    await using server = await startScriptedServer();
    await use(server);
  },
});

const freshness = {
  state: "live",
  reason: "",
  observed_at: "2017-11-12T08:33:00.000Z",
  data_age_ms: 0,
  last_success_at: "2017-11-12T08:33:00.000Z",
};
const flare = (symbol: string, change = 14) => ({
  ...SAMPLE_FLARE,
  id: `id-${symbol}`,
  recent_price_change: change,
  token: { ...SAMPLE_FLARE.token, symbol },
});
const snapshotOf = (...pro: readonly ReturnType<typeof flare>[]) => ({
  flares: { pro, free: [], finished_trending: [] },
  explanations: Object.fromEntries(pro.map(({ id }) => [id, { ...SAMPLE_EXPLANATION, warnings: [] }])),
});
const started = (seq: number, symbol: string) => ({
  type: "event",
  cursor: `abcd-${seq}`,
  seq,
  prev: seq - 1,
  name: "flare-started",
  channel: "flares.pro",
  observed_at: "2017-11-12T08:34:00.000Z",
  data: { op: "insert", index: 0, cause: "detected", flare: flare(symbol), why: SAMPLE_EXPLANATION },
});

/** Accepts the connection and sends these flares. */
async function welcome(server: ScriptedServer, ...symbols: readonly string[]) {
  const connection = await server.next();
  const snapshot = snapshotOf(...symbols.map((symbol, at) => flare(symbol, 10 * (at + 1))));
  greet(connection.socket, { cursor: "abcd-6", resumed: "reset", snapshot }, { freshness });
  return connection;
}

const RESTORED = "\u001B[?7h\u001B[?25h\u001B[?1049l";

/** Expects that the command ends with this code, with screen, cursor and keyboard restored. */
async function expectRestored(top: PtyCli, code: number): Promise<void> {
  expect([await top.ended(), top.stderr()]).toEqual([code, "echo True lines True\n"]);
  expect(top.stdout().split(RESTORED)).toHaveLength(2);
}

describe.skipIf(!hasPty)("top on a terminal (python3)", { concurrent: true }, () => {
  test("shows flares, sorts at a key press, and restores the terminal at q", async ({ server }) => {
    await using top = spawnPtyCli(["top", server.url]);
    const { socket, query } = await welcome(server, "SLOW", "FAST");
    expect(query.get("channels")).toBe("flares.*");
    await top.shows(/SLOW[\s\S]*FAST/);
    expect(top.lines()[0]).toMatch(
      /^\S*nothing missed, data live, \d+ s old {2}live by websocket {2}127\.0\.0\.1:\d+/,
    );
    expect(top.lines()[2]).toContain("2017-11-12 08:33:00 UTC  cursor abcd-6");
    // A screen may arrive in parts.
    await eventually(() => top.lines().length === 24, top.lines);
    top.send({ keys: "\u001B[B" });
    top.send({ keys: "c" });
    await top.shows(/FAST[\s\S]*SLOW/);
    top.send({ keys: "c" });
    await top.shows(/SLOW[\s\S]*FAST[\s\S]*sorted by change, reversed/);
    send(socket, started(7, "NEW"));
    await top.shows(/cursor abcd-7[\s\S]*NEW/);
    await top.shows("1 started");
    expect(top.stdout()).toContain("\u001B[32m");
    top.send({ keys: "q" });
    await expectRestored(top, 0);
  });

  for (const order of shareOf([{ signal: "SIGTERM" }, { signal: "SIGINT" }, { keys: "\u0003" }])) {
    test(`restores the terminal at ${JSON.stringify(order)}`, async ({ server }) => {
      await using top = spawnPtyCli(["top", server.url]);
      await welcome(server, "ONE");
      await top.shows("ONE");
      top.send(order);
      await expectRestored(top, 0);
    });
  }

  test("selects by row, by page, the last and the first flare, filters, and shows the reason", async ({
    server,
  }) => {
    await using top = spawnPtyCli(["top", server.url], [100, 12]);
    const { socket } = await welcome(server, ...Array.from({ length: 20 }, (_, at) => `T${at}.`));
    await top.shows(/T0\.[\s\S]*T4\.[\s\S]*\nand 15 more/);
    for (const [keys, shown] of [
      ["\u001B[B", /> +[^\n]*T1\./],
      ["\u001B[6~", /\n2 above, and 13 more/],
      ["\u001B[F", /T15\.[\s\S]*> +[^\n]*T19\.[^\n]*\n15 above, and 0 more/],
      ["k", /> +[^\n]*T18\.[\s\S]*\n15 above, and 0 more/],
      ["\u001B[5~\u001B[5~", /> +[^\n]*T8\.[\s\S]*\n8 above, and 7 more/],
      ["n", /sorted by symbol/],
      ["\u001B[H", /T0\.[\s\S]*\nand 15 more/],
      [" ", /> +[^\n]*T13\.[^\n]*\n1 above, and 14 more/],
      ["/t1\r", /"t1": 11 of 20 {2}/],
      ["\u001B", /\nand 15 more/],
      ["\r", /more\n\S*T0\. {2}/],
    ] as const) {
      top.send({ keys });
      await top.shows(shown);
    }
    send(socket, started(7, "NEW"));
    await top.shows("21 flaring");
    top.send({ size: [100, 40] });
    await top.shows(/NEW[\s\S]*T9\.[\s\S]*0x/);
    expect(top.lines().join()).not.toMatch(/\d above/);
    top.send({ keys: "q" });
    await expectRestored(top, 0);
  });

  test("[L3] restores the terminal when suspended by Ctrl-Z or SIGTSTP, and redraws with the latest flares when continued", async ({
    server,
  }) => {
    await using top = spawnPtyCli(["top", server.url]);
    const { socket } = await welcome(server, "ONE");
    await top.shows("ONE");
    const stops = [{ keys: "\u001A" }, { signal: "SIGTSTP" }, { signal: "SIGSTOP" }];
    for (const [at, order] of stops.entries()) {
      top.send(order);
      top.send({ stopped: true });
      const given = "signal" in order && order.signal === "SIGSTOP" ? "False" : "True";
      const line = `stopped True echo ${given} lines ${given}\n`;
      await top.said("stderr", new RegExp(`^(?:stopped .*\n){${at}}${line}`));
      if (given === "True") await top.said("stdout", new RegExp(`(?:1049l[\\s\\S]*){${at + 1}}`));
      send(socket, started(7 + at, `NEW${at}`));
      top.send({ signal: "SIGCONT" });
      await top.shows(new RegExp(`live by websocket[\\s\\S]*NEW${at}`));
    }
    top.send({ keys: "q" });
    expect([await top.ended(), top.stderr().split("\n").at(-2)]).toEqual([0, "echo True lines True"]);
    // The alternate screen was left as often as entered.
    expect(top.stdout().split(RESTORED)).toHaveLength(top.stdout().split("\u001B[?1049h").length);
  });

  test("restores the terminal when it crashes, before it prints the reason", async ({ server }) => {
    const crash = `data:text/javascript,process.on(%27SIGUSR2%27,()=>{throw%20new%20Error(%27crashed%27)})`;
    const environment = { NODE_OPTIONS: `--import ${crash}` };
    await using top = spawnPtyCli(["top", server.url], [100, 24], environment);
    await welcome(server, "ONE");
    await top.shows("ONE");
    top.send({ signal: "SIGUSR2" });
    await expectRestored(top, 1);
    expect(top.stdout().split(RESTORED)[1]).toContain("Error: crashed");
  });

  test("[L3] resumes from its cursor after a restart, marks old data while disconnected, and counts missed events", async ({
    server,
  }) => {
    await using top = spawnPtyCli(["top", server.url]);
    const first = await welcome(server, "ONE");
    await top.shows("ONE");
    first.socket.close(4_200);
    const second = await server.next();
    expect(second.query.get("after")).toBe("abcd-6");
    await top.shows("connecting by websocket");
    await top.shows("not connected, this is old");
    expect(top.lines().join()).toContain("ONE");
    greet(second.socket, { cursor: "abcd-6", resumed: "full" }, { freshness });
    send(second.socket, started(7, "TWO"));
    await top.shows(/nothing missed[\s\S]*live by websocket[\s\S]*TWO/);
    second.socket.terminate();
    const third = await server.next();
    expect(third.query.get("after")).toBe("abcd-7");
    const lost = { reason: "expired", events: 12 };
    const snapshot = snapshotOf(flare("THREE"));
    greet(third.socket, { cursor: "abcd-60", resumed: "reset", lost, snapshot }, { freshness });
    await top.shows(/12 events missed[\s\S]*THREE/);
    expect(top.lines().join()).not.toMatch(/ONE|TWO/);
  });

  test("resizing to a narrower terminal drops columns", async ({ server }) => {
    await using top = spawnPtyCli(["top", server.url]);
    await welcome(server, "ONE");
    await top.shows(/liquidity[\s\S]*ONE/);
    top.send({ size: [30, 8] });
    await top.shows(/age +5 min +symbol/);
    await top.shows("ONE");
    const isFitting = () => top.lines().length === 8 && top.lines().every(({ length }) => length <= 30);
    await eventually(isFitting, top.lines);
  });

  test("control characters in names are not written to the terminal, and NO_COLOR disables colors", async ({
    server,
  }) => {
    const top = spawnPtyCli(["top", server.url], [100, 24], { NO_COLOR: "1" });
    await using _top = top;
    await welcome(server, "\u001B[2J\u001B]0;x\u0007\u202EEVIL\r\n", "🚀狗");
    await top.shows("EVIL");
    await top.shows("🚀狗");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal interprets these.
    const ours = /\u001B\[(?:\d+;1H|K|2J|\?1049h|\?7l|\?25l)/g;
    expect(top.stdout().replace(ours, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test("a permanent rejection by the server is printed after the screen is restored, and ends top with 1", async ({
    server,
  }) => {
    await using top = spawnPtyCli(["top", server.url]);
    (await server.next()).socket.close(4_000);
    await expectRestored(top, 1);
    expect(top.stdout().split(RESTORED)[1]).toContain("flarewire top: the server refused");
  });
});

test("without a terminal, top prints the table once, without colors, and ends with 0", async ({ server }) => {
  const candle = { open_at: "2017-11-12T08:32:00.000Z", close: "1" };
  server.candles = { closed_at: "2017-11-12T08:33:00.000Z", bsc: { [SAMPLE_FLARE.token.address]: [candle] } };
  await using top = startInProcess([
    "top",
    `${server.url}/?symbols=ONE,TWO&min_liquidity=5&min_price_change=-3&min_age=60&min_locked=0.5`,
  ]);
  const { query } = await welcome(server, "ONE", "T\u001B[2JWO");
  expect(
    ["symbols", "min_liquidity", "min_price_change", "min_age", "min_locked"].map((name) => query.get(name)),
  ).toEqual(["ONE,TWO", "5", "-3", "60", "0.5"]);
  expect([await top.ended(), top.stderr()]).toEqual([0, ""]);
  const lines = top.stdout().split("\n");
  expect(lines.slice(3)).toEqual([
    "      age     5 min   last hour    buys   sells  liquidity  score  symbol            warnings",
    expect.stringMatching(/^ {3}12 min {5}\+10 % +▁ .* ONE$/),
    expect.stringMatching(/^ {3}12 min {5}\+20 % .* T\uFFFD\[2JWO$/),
    "",
  ]);
});

test("an unreachable server ends top with 75, one that rejects it with 1", async ({ server }) => {
  const gone = await startScriptedServer();
  await gone[Symbol.asyncDispose]();
  const away = await runInProcess(["top", gone.url]);
  expect([away.code, away.stdout, away.stderr]).toEqual([
    75,
    "",
    expect.stringContaining("could not reach the server"),
  ]);
  await using top = startInProcess(["top", server.url]);
  (await server.next()).socket.close(4_000);
  expect([await top.ended(), top.stdout()]).toEqual([1, ""]);
  expect(top.stderr()).toContain("flarewire top: the server refused the stream: close code 4000");
});

test("a server that is not Flarewire ends top with 1", async ({ server }) => {
  server.refuse = { status: 404, body: "<html>nothing here</html>" };
  const { code, stderr } = await runInProcess(["top", server.url]);
  expect([code, stderr]).toEqual([
    1,
    "flarewire top: refused: HTTP 404; check that the URL is a Flarewire server's\n",
  ]);
});

test("an invalid address is rejected with the reason, without its password", async () => {
  for (const [url, message] of [
    ["nowhere", "must start with http://, https://, ws:// or wss://"],
    ["http://user:secret@127.0.0.1", "must not contain a user or password"],
    ["http://127.0.0.1/?names=flare-started", '"names" must be one of tokens'],
    ["http://127.0.0.1/?min_price_change=x", 'min_price_change "x" must be a number'],
    ["http://127.0.0.1/?min_price_change=5x", 'min_price_change "5x" must be a number'],
    ["http://127.0.0.1/?min_price_change=", 'min_price_change "" must be a number'],
  ] as const) {
    const { code, stderr } = await runInProcess(["top", url]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toContain("secret");
  }
});

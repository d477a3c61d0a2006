import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { run } from "../../../../src/app/cli/run.ts";
import {
  channelWidth,
  eventLine,
  readEvent,
  runningFlares,
  screenLines,
  type TailEvent,
} from "../../../../src/app/cli/tail/event-lines.ts";
import { SymbolIndex } from "../../../../src/app/cli/tail/symbol-index.ts";
import { columns } from "../../../../src/app/cli/terminal/plain-text.ts";
import { flaresKeyOf, GROUPS } from "../../../../src/base/model/index.ts";
import { CHANNELS, flareChannelsOf, matchChannels } from "../../../../src/base/protocol/index.ts";
import { anyText } from "../../../support/random/any-text.ts";
import { SAMPLE_FLARE, SAMPLE_LISTING, SAMPLE_OUTCOME } from "../../../support/world/samples.ts";
import { flareStarted, greet, send, startScriptedServer } from "../scripted-server.ts";

const WHY =
  "9.3 times the usual buyers, buys outweigh sells at least 20:1, price 43 % above normal, about the usual volume; $9K liquidity is thin";
const plain = (_style: string, text: string) => text;
const symbols = new SymbolIndex();

function startOf(symbol: string, text = WHY): TailEvent {
  const frame = flareStarted(7, symbol);
  const event = readEvent({ ...frame, data: { ...frame.data, why: { ...frame.data.why, text } } });
  if (!event) throw new Error("unreadable");
  return event;
}
const linesAt = (width: number, symbol = "NOODA") => screenLines(startOf(symbol), symbols, plain, width);

test("at 80, 120 and 50 columns, tail prints the whole reason of a start, and breaks lines between words", () => {
  expect(linesAt(80)).toEqual([
    "08:21:00 started      +9 %  NOODA       9.3 times the usual buyers, buys",
    "         outweigh sells at least 20:1, price 43 % above normal, about the usual",
    "         volume; $9K liquidity is thin",
  ]);
  expect(linesAt(120)).toEqual([
    "08:21:00 started      +9 %  NOODA       9.3 times the usual buyers, buys outweigh sells at least 20:1, price 43 % above",
    "         normal, about the usual volume; $9K liquidity is thin",
  ]);
  expect(linesAt(50)).toEqual([
    "08:21:00 started      +9 %  NOODA",
    "  9.3 times the usual buyers, buys outweigh sells",
    "  at least 20:1, price 43 % above normal, about",
    "  the usual volume; $9K liquidity is thin",
  ]);
});

test("a line has the whole name of every channel, and lines of different channels have equal columns", () => {
  for (const patterns of [CHANNELS, ["flares.exchange.*", "status"], ["flares.*"]]) {
    const width = channelWidth(patterns);
    for (const channel of patterns.flatMap(matchChannels)) {
      const line = eventLine({ ...startOf("UNI"), channel }, symbols, plain, width);
      expect(line.slice(41).startsWith(`${channel.padEnd(width)} UNI `), line).toBe(true);
    }
  }
});

test("a running flare is printed with its age, and its whole reason with the warnings", () => {
  const flare = { ...SAMPLE_FLARE, started_trending_at: "2017-11-12T08:18:00.000Z" };
  const event = { ...startOf(""), name: "flare-running", data: { flare, why: { text: WHY } } };
  const lines = screenLines(event, symbols, plain, 80);
  expect(lines[0]).toMatch(/^08:21:00 running +\S+ % {2}UNI {9}flaring for 3 min; now: 9\.3 times the$/);
  expect(lines.join(" ").replace(/ +/g, " ")).toContain(WHY);
  expect(Math.max(...lines.map(columns))).toBeLessThanOrEqual(80);
});

test("a surge is printed with its number and its whole reason", () => {
  const surge = { number: 2, at: "2017-11-12T08:21:00.000Z", price: "0.3", score: 6.5 };
  const data = { op: "set", id: SAMPLE_FLARE.id, set: {}, flare: SAMPLE_FLARE, why: { text: WHY }, surge };
  expect(eventLine({ ...startOf(""), name: "flare-surged", data }, symbols, plain)).toBe(
    `2017-11-12 08:21:00  flare-surged        flares.pro         UNI            +14 %  surge 2: ${WHY}`,
  );
});

test("a start is printed with the locked liquidity and how flares like it went", () => {
  const share = { share: 0.09, low: 0.05, high: 0.15 };
  const none = { up_15m: null, up_60m: null, median_60m: null };
  const odds = { basis: "table", like: { form: "trades" }, n: 105, rug_60m: share, ...none };
  const locked = { burned: 0, held: 0.97, until: "2027-03-01T00:00:00.000Z" };
  const why = { text: WHY, odds, locked };
  const data = { op: "insert", index: 0, flare: SAMPLE_FLARE, why, cause: "detected" };
  expect(eventLine({ ...startOf(""), data }, symbols, plain)).toMatch(
    /; liquidity 97 % locked until 2027-03-01; like it: 9 % rugged within the hour \(n 105\)$/,
  );
});

describe("a reason that counts warnings is printed with each of them named once", () => {
  const locked = { burned: 0, held: 0, until: null };
  const unlocked = "unlocked-liquidity";
  test.each<[string, readonly string[], string]>([
    ["warning: liquidity not locked", [unlocked], "warning: liquidity not locked"],
    [
      "warning: liquidity not locked and 1 more",
      [unlocked, "unverified-source"],
      "warnings: liquidity not locked, unverified source",
    ],
    [
      "warning: nobody sells and 2 more",
      ["odd-one", "no-seller", "no-seller"],
      "warnings: odd one, nobody sells; liquidity not locked",
    ],
    ["warnings: 1", ["odd-one"], "warning: odd one; liquidity not locked"],
    ["warning: nobody sells and 1 more", [], "warning: nobody sells and 1 more; liquidity not locked"],
  ])("%s, of %j", (counted, warnings, printed) => {
    const why = { text: `${WHY}; ${counted}`, warnings, locked };
    const start = { op: "insert", index: 0, flare: SAMPLE_FLARE, why, cause: "detected" };
    expect(eventLine({ ...startOf(""), data: start }, symbols, plain).split(`${WHY}; `)[1]).toBe(printed);
    const said = printed.replace("; liquidity not locked", "");
    for (const name of ["flare-running", "flare-surged", "flare-updated"]) {
      const event = { ...startOf(""), name, data: { flare: SAMPLE_FLARE, why } };
      expect(eventLine(event, symbols, plain).split(`${WHY}; `)[1], name).toBe(said);
    }
  });
});

test("running flares are found in lists without explanations", () => {
  const view = JSON.parse(`{"flares":{"pro":[${JSON.stringify(SAMPLE_FLARE)}]}}`);
  const [event] = runningFlares(view, "2017-11-12T08:21:00.000Z");
  expect(event).toMatchObject({ channel: "flares.pro", data: { flare: SAMPLE_FLARE } });
});

test("running flares of every group are found, oldest first, in pro or else in free", () => {
  const at = (minute: number) => `2017-11-12T08:0${minute}:00.000Z`;
  const flareOf = (minute: number) => ({
    ...SAMPLE_FLARE,
    id: `f${minute}`,
    started_trending_at: at(minute),
  });
  const lists = GROUPS.map((group, index) => {
    const minute = GROUPS.length - index;
    return [flaresKeyOf(group), { [minute % 2 ? "pro" : "free"]: [flareOf(minute)] }];
  });
  const found = runningFlares(JSON.parse(JSON.stringify(Object.fromEntries(lists))), at(9));
  const channels = GROUPS.map((group, index) => {
    const list = (GROUPS.length - index) % 2 ? "pro" : "free";
    return flareChannelsOf(group).find((channel) => channel.endsWith(list));
  });
  expect(found.map(({ channel, data }) => [channel, Object(data.flare).id])).toEqual(
    channels.reverse().map((channel, index) => [channel, `f${index + 1}`]),
  );
});

test("a listing is printed with rounded price and liquidity; a zero, which means unknown, is left out", () => {
  const textOf = (price: string, liquidity: string) => {
    const listing = { ...SAMPLE_LISTING, liquidity, token: { ...SAMPLE_LISTING.token, price } };
    const event = { ...startOf(""), name: "token-listed", channel: "newest.bsc", data: { listing } };
    return screenLines(event, symbols, plain, 120)[0];
  };
  expect(textOf("0.0000123456789", "42010.0761")).toMatch(/ price 0\.00001235, liquidity \$42K$/);
  expect(textOf("0", "42010.0761")).toMatch(/UNI {9}liquidity \$42K$/);
  expect(textOf("0", "0")).toMatch(/no price yet$/);
});

test("a price fall is printed with the same minus sign as in outcomes", () => {
  const event = { ...startOf(""), name: "flare-updated", data: { set: { recent_price_change: -3.4 } } };
  expect(screenLines(event, symbols, plain, 80)[0]).toContain(" −3.4 %  ");
});

test("a finish is printed with the flare's duration in whole minutes, then its outcome, without the recent change", () => {
  const flare = {
    ...SAMPLE_FLARE,
    started_trending_at: "2017-11-12T08:18:00.000Z",
    finished_trending_at: "2017-11-12T08:21:50.000Z",
  };
  const outcome = { ...SAMPLE_OUTCOME, peak_change: 15, end_change: 15 };
  const event = { ...startOf(""), name: "flare-finished", data: { cause: "faded", flare, outcome } };
  expect(screenLines(event, symbols, plain, 120)).toEqual([
    "08:21:00 finished           UNI         lasted 3 min, +15 % peak, activity faded at +15 %",
  ]);
});

test("an item that left its list and has an unknown name is printed with its id alone", () => {
  const event = { ...startOf(""), name: "token-unlisted", channel: "newest.bsc", data: { id: "id-1" } };
  expect(eventLine(event, symbols, plain)).toMatch(/newest\.bsc {31}listing id-1$/);
});

test("a name that may render wider or right to left is printed last on its line", () => {
  for (const symbol of ["🇩🇪", "שלום", "狗狗币", "❤\uFE0F"]) {
    const [first = "", ...below] = linesAt(80, symbol);
    expect(first).toMatch(/^08:21:00 started {6}\+9 % {2}\S+$/);
    expect(below.join(" ").replace(/ +/g, " ").trim()).toBe(WHY);
  }
});

test("an update states the new values and the changed reason in words", () => {
  const textOf = (data: TailEvent["data"]) =>
    eventLine({ ...startOf(""), name: "flare-updated", data }, symbols, plain).slice(41);
  const set = { recent_price_change: 12, latest_buy_count: 61, liquidity: "9000", market_data: null };
  const values = "61 buys, $9K liquidity, market data";
  expect(textOf({ op: "set", id: "a", set })).toMatch(
    /\+12 % {2}flare a: 61 buys, \$9K liquidity, market data$/,
  );
  expect(textOf({ op: "set", id: "a", set, why: { text: WHY } })).toContain(`${values}; now: ${WHY}`);
  expect(textOf({ op: "set", id: "a", set: {}, why: { text: WHY } })).toContain(`flare a: now: ${WHY}`);
  expect(textOf({ op: "set", id: "a", set, why: null })).toMatch(/market data$/);
});

test("an event without a token is printed with its group, and an unknown event with its own name", () => {
  const event = { ...startOf(""), channel: "charts.exchange", data: { changes: [{ op: "set" }] } };
  const textOf = (name: string) => screenLines({ ...event, name }, symbols, plain, 80);
  expect(textOf("chart-updated")).toEqual(["08:21:00 chart              exchange    1 changed"]);
  expect(textOf("flare-exploded-again")[0]).toMatch(/^08:21:00 exploded…/);
});

const hostile = fc.oneof(
  anyText(),
  fc.string({
    unit: fc.constantFrom("\u001B[2J", "\u202E", "狗", "❤\uFE0F", "🇩🇪", "א", "\n", " ", "a\u0301"),
  }),
  fc.constant("x".repeat(10_000)),
);

test("[law] for any names and texts, no line is too wide or has control characters, and there are at most six", () => {
  fc.assert(
    fc.property(hostile, hostile, hostile, fc.constantFrom(50, 80, 120), (symbol, text, channel, width) => {
      const event = { ...startOf(symbol, text), channel };
      const running = screenLines({ ...event, name: "flare-running" }, symbols, plain, width);
      expect(running.length).toBeLessThanOrEqual(2);
      const lines = screenLines(event, symbols, plain, width);
      expect(lines.length).toBeLessThanOrEqual(6);
      for (const line of [...lines, ...running]) {
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(columns(line)).toBeLessThanOrEqual(width);
      }
    }),
    { numRuns: 100 },
  );
});

class ScreenUnderTest extends PassThrough {
  readonly isTTY = true;
  readonly columns = 80;
}

/** Runs tail with three finishes of one flare and a start, until the start is printed. */
async function printed(args: readonly string[], stdout: PassThrough): Promise<string> {
  await using server = await startScriptedServer();
  let text = "";
  const last = Promise.withResolvers<void>();
  stdout.on("data", (chunk: Buffer) => {
    text += chunk;
    if (text.includes("LAST")) last.resolve();
  });
  const ended = run(["tail", server.url, ...args], { environment: {}, stdout, stderr: new PassThrough() });
  const { socket } = await server.next();
  greet(socket, { cursor: "abcd-6", resumed: "reset" });
  const finish = flareStarted(7, "OVER");
  const ends = { cause: "canary", flare: { ...finish.data.flare, id: "id-1" } };
  for (const [at, channel] of ["flares.pro", "flares.free", "flares.finished"].entries()) {
    const seq = 7 + at;
    const data =
      channel === "flares.finished"
        ? { op: "insert", index: 0, ...ends }
        : { op: "remove", id: "id-1", ...ends };
    send(socket, {
      ...finish,
      cursor: `abcd-${seq}`,
      seq,
      prev: seq - 1,
      name: "flare-finished",
      channel,
      data,
    });
  }
  send(socket, flareStarted(10, "LAST"));
  await last.promise;
  stdout.destroy(Object.assign(new Error("gone"), { code: "EPIPE" }));
  expect(await ended).toBe(0);
  return text;
}

test("tail prints the three finishes of a flare as one line; --raw prints each, with full lines on a terminal too", async () => {
  expect(await printed([], new ScreenUnderTest())).toBe(
    "2017-11-12, UTC\n08:21:00 finished           OVER        possible rug\n08:21:00 started      +9 %  LAST        price 8.3 % above normal\n",
  );
  expect((await printed([], new PassThrough())).split("flare-finished")).toHaveLength(2);
  const raw = await printed(["--raw"], new ScreenUnderTest());
  expect(raw.match(/flare-finished +flares\.\w+/g)).toEqual([
    "flare-finished      flares.pro",
    "flare-finished      flares.free",
    "flare-finished      flares.finished",
  ]);
});

import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { InputError } from "../../../src/base/lib/input-error.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { closes, gzip, HEADER, LeapingClock, line, only, replay, T0, test } from "./replay-kit.ts";

const CSV = [HEADER, line(0), line(1)];
const TRADE = {
  kind: "trade",
  at: T0 + 250,
  group: "bsc",
  pool: "0xaa",
  token: "0xbb",
  side: "buy",
  price: "0.25",
  amount: "40",
  quoteUsd: "10",
  trader: "0xcc",
};
const NDJSON = [JSON.stringify(TRADE), JSON.stringify({ ...TRADE, at: T0 + 1_250, side: "sell" })];

function failureOf(path: string, format: "auto" | "csv" | "ndjson" = "auto"): string {
  try {
    new ReplayFeed({ path, format, clock: new LeapingClock() });
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    expect(error).toHaveProperty("file", path);
    return error instanceof InputError ? error.reason : "";
  }
  return "none";
}

describe("form", () => {
  test("the first bytes decide compression and format, not the file's name", async ({ write }) => {
    for (const path of [write(CSV, "a.gz"), write(gzip(CSV), "b.csv"), write(gzip(CSV), "c.ndjson")]) {
      expect(closes((await replay(path)).events)).toEqual([1, 2]);
    }
    for (const path of [write(NDJSON, "d.csv.gz"), write(gzip(NDJSON), "e.csv")]) {
      expect(only("trade", (await replay(path)).events).map(({ side }) => side)).toEqual(["buy", "sell"]);
    }
  });

  test("a missing header, a byte order mark, CRLF, blank lines and a missing last line end are accepted", async ({
    write,
  }) => {
    const forms = [
      [line(0), line(1)].join("\n"),
      `\uFEFF${CSV.join("\r\n")}\r\n`,
      `\n\n${CSV.join("\n\n")}\n \n`,
      HEADER.toUpperCase().replace(",", ", ").concat("\n", line(0), "\n", line(1)),
    ];
    for (const form of forms) {
      const { events, totals } = await replay(write(form));
      expect(closes(events)).toEqual([1, 2]);
      expect(totals).toEqual({});
    }
  });

  test("gzip of several members is one recording, even with padding after it", async ({ write }) => {
    const parts = [gzip(CSV), gzip([line(2)]), gzip([line(3)])];
    expect(closes((await replay(write(Buffer.concat(parts)))).events)).toEqual([1, 2, 3, 4]);
    expect(closes((await replay(write(Buffer.concat([...parts, Buffer.alloc(40_000)])))).events)).toEqual([
      1, 2, 3, 4,
    ]);
  });

  test("a file that cannot be replayed is rejected at once, with its name and the reason", ({ write }) => {
    const path = write("x", "real");
    expect(failureOf(`${path}-not`)).toBe("no such file");
    expect(failureOf(path.replace(/\/real$/, ""))).toBe(
      "expected a file or a recording's directory, got a directory without manifest.json",
    );
    expect(failureOf("/dev/null")).toContain("not a regular file");
    execFileSync("mkfifo", [`${path}-pipe`]);
    expect(failureOf(`${path}-pipe`)).toContain("write the pipe's output to a file first");
    expect(
      () => new ReplayFeed({ path: write(CSV), profilesPath: `${path}-pipe`, clock: new LeapingClock() }),
    ).toThrow("the profiles file must be a regular file");
    expect(failureOf(write(""))).toBe("the file is empty");
    expect(failureOf(write(gzipSync("")))).toBe("the unpacked file is empty");
    expect(failureOf(write("\n\n"))).toBe("the first 4 KiB of the file contain no line");
    expect(failureOf(write(["time,pair,open"]))).toContain(
      `the header is "time,pair,open", expected ${HEADER};`,
    );
    expect(failureOf(write(NDJSON), "csv")).toContain(`expected ${HEADER}`);
    expect(failureOf(write(CSV), "ndjson")).toContain("expected a JSON object");
    expect(failureOf(write(Buffer.from([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9])))).toContain(
      "the start of the file's packed data is damaged",
    );
  });

  test("an error's message names file, line and reason", ({ write }) => {
    const path = write(["a,b,c"]);
    expect(() => new ReplayFeed({ path, clock: new LeapingClock() })).toThrow(
      `${path}, line 1: the header is "a,b,c", expected ${HEADER}`,
    );
  });

  test("a file without a usable line ends with an error that gives the reason", async ({ write }) => {
    await expect(replay(write([HEADER]))).rejects.toHaveProperty(
      "reason",
      "no line of the file is usable; it contains no market events",
    );
    const { error } = await replay(write([HEADER, "1,2", "3,4"]), { loop: true });
    expect(error).toHaveProperty("reason", "no line of the file is usable; skipped: 2 bad-columns");
  });

  test("a feed is iterated at most once", async ({ write }) => {
    const feed = new ReplayFeed({
      path: write(CSV),
      clock: new LeapingClock(),
      speed: Number.POSITIVE_INFINITY,
    });
    const { signal } = new AbortController();
    for await (const _ of feed.events(signal)) break;
    await expect(async () => {
      for await (const _ of feed.events(signal)) break;
    }).rejects.toThrow("only once");
  });
});

describe("facts", () => {
  const clock = new LeapingClock();

  test("candles support no trades; profiles are supported with a profiles file", ({ write }) => {
    const path = write(CSV);
    const none = { trades: false, liquidity: false, listings: false, profiles: false };
    expect(new ReplayFeed({ path, clock })).toMatchObject({
      name: "replay",
      origin: "recorded",
      facts: none,
    });
    const profilesPath = write('{"tokens":{}}');
    expect(new ReplayFeed({ path, profilesPath, clock }).facts).toEqual({ ...none, profiles: true });
  });

  test("an event recording's facts come from its header, else from the kinds at its start", ({ write }) => {
    const facts = { trades: true, liquidity: true, listings: false, profiles: false };
    const header = { kind: "recording", version: 1, origin: "simulated", facts };
    const withHeader = new ReplayFeed({ path: write([JSON.stringify(header), ...NDJSON]), clock });
    expect(withHeader).toMatchObject({ origin: "simulated", facts });
    const live = new ReplayFeed({
      path: write([JSON.stringify({ ...header, origin: "live" }), ...NDJSON]),
      clock,
    });
    expect(live.origin).toBe("recorded");
    expect(new ReplayFeed({ path: write(NDJSON), clock }).facts).toEqual({ ...facts, liquidity: false });
    const { trader: _, ...anonymous } = TRADE;
    const ofExchange = write([JSON.stringify({ ...anonymous, group: "exchange", token: "SOL" })]);
    expect(new ReplayFeed({ path: ofExchange, clock }).facts).toMatchObject({ trades: false });
  });

  test("a recording of a later version is rejected with that version", ({ write }) => {
    expect(failureOf(write(['{"kind":"recording","version":2}', ...NDJSON]))).toContain("version 2");
  });
});

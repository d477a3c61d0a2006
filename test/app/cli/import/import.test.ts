import { linkSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { ReplayFeed } from "../../../../src/feeds/replay/replay-feed.ts";
import { createConfig, startGateway } from "../../../../src/index.ts";
import { test } from "../../../feeds/record/record-kit.ts";
import { runInProcess } from "../run-in-process.ts";

const START = Date.UTC(2024, 0, 2);
const MINUTE = 60_000;
const MINUTES = 30;

/** A row of each minute, with its time made by `time`. */
const rows = (row: (at: number) => string, step = MINUTE) =>
  Array.from({ length: MINUTES }, (_, index) => row(START + index * step));
const candle = (at: string | number) => `${at},10,11,9,10.5,300`;
const own = (at: string | number, pair = "CAKEUSDT") => `${at},${pair},10,11,9,10.5,300`;
const kline = (at: string | number) => `${candle(at)},${Number(at) + 59_999},3150,12,150,1575,0`;
const text = (lines: readonly string[]) => `${lines.join("\n")}\n`;
const OWN_HEADER = "time_ms,pair,open,high,low,close,volume";
const pairs = ["AUSDT", "BUSDT", "CUSDT"].flatMap((pair) => rows((at) => own(at, pair)));

/** Files as people have them; what `replay` says to each; and what `import` makes of it. */
const FILES: readonly (readonly [
  what: string,
  name: string,
  content: string | Uint8Array,
  replay: RegExp | "plays",
  imported: RegExp | "candles" | "trades",
])[] = [
  ["own candles", "own.csv", text(rows(own)), "plays", "candles"],
  ["own candles as gzip", "own.csv.gz", gzipSync(text(rows(own))), "plays", "candles"],
  ["own candles with a BOM", "bom.csv", `\uFEFF${text(rows(own))}`, "plays", "candles"],
  [
    "own candles in seconds",
    "s.csv",
    text(rows((at) => own(at / 1_000))),
    /seconds.*npm run flarewire -- import .*s\.csv --out recording/,
    "candles",
  ],
  ["own candles in microseconds", "us.csv", text(rows((at) => own(`${at}000`))), /microseconds/, "candles"],
  [
    "own candles, newest first",
    "down.csv",
    text(rows(own).toReversed()),
    /newest line comes first/,
    "candles",
  ],
  [
    "own candles in quotes",
    "quoted.csv",
    text(rows((at) => own(at).replaceAll(/[^,]+/g, '"$&"'))),
    /in quotes/,
    "candles",
  ],
  [
    "own candles, pair after pair",
    "pairs.csv",
    text(pairs),
    /not in the order of time, as if one pair followed another; convert it first: .* import .*pairs\.csv/,
    "candles",
  ],
  [
    "candles of five minutes",
    "m5.csv",
    text(rows(own, 5 * MINUTE)),
    /candles are of 5 min/,
    /candles are of 5 min/,
  ],
  ["candles of an hour", "h1.csv", text(rows(own, 60 * MINUTE)), /candles are of 1 h/, /candles are of 1 h/],
  ["Binance's archive of candles", "CAKEUSDT-1m-2024-01.csv", text(rows(kline)), /12 columns/, "candles"],
  [
    "Binance's archive in microseconds",
    "CAKEUSDT-1m-2025-01.csv",
    text(rows((at) => candle(`${at}000`).concat(`,${at}059999,3150,12,150,1575,0`))),
    /12 columns/,
    "candles",
  ],
  [
    "Binance's aggregated trades",
    "CAKEUSDT-aggTrades-2024-01.csv",
    text(rows((at) => `1,10,2,5,6,${at},False,True`)),
    /8 columns/,
    "trades",
  ],
  [
    "Binance's trades",
    "CAKEUSDT-trades-2024-01.csv",
    text(rows((at) => `1,10,2,20,${at},True,True`)),
    /import/,
    "trades",
  ],
  [
    "candles of freqtrade and ccxt",
    "CAKE_USDT-1m.json",
    JSON.stringify(rows(String).map((at) => [Number(at), 10, 11, 9, 10.5, 300])),
    /JSON list/,
    "candles",
  ],
  [
    "trades of ccxt",
    "trades.json",
    JSON.stringify(
      rows(String).map((at) => ({ timestamp: Number(at), side: "buy", price: 10, amount: 1e-7 })),
    ),
    /JSON list/,
    "trades",
  ],
  [
    "a vendor's candles, newest first, with a line above the header",
    "vendor.csv",
    text([
      "https://vendor.example",
      "Unix,Date,Symbol,Open,High,Low,Close,Volume CAKE,Volume USDT",
      ...rows((at) => `${at},2024-01-02,CAKE/USDT,10,11,9,10.5,300,3000`).toReversed(),
    ]),
    /header/,
    "candles",
  ],
  [
    "ISO times in UTC",
    "iso.csv",
    text(["date,open,high,low,close,volume", ...rows((at) => candle(new Date(at).toISOString()))]),
    /header/,
    "candles",
  ],
  [
    "a ZIP archive",
    "a.zip",
    Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0),
    /ZIP archive; unpack it first: unzip .*a\.zip/,
    /ZIP archive; unpack/,
  ],
  ["a Parquet file", "a.parquet", "PAR1....", /Parquet file; export/, /Parquet file; export/],
  [
    "UTF-16",
    "a.csv",
    Buffer.from(`\uFEFF${text(rows(own))}`, "utf16le"),
    /UTF-16; convert/,
    /UTF-16; convert/,
  ],
  [
    "a web page",
    "a.csv",
    "<!doctype html>\n<p>Not found</p>\n",
    /a web page; download/,
    /a web page; download/,
  ],
];

describe.each(FILES)("%s", (_what, name, content, replay, imported) => {
  test("is named by replay, with the cure, or played", async ({ directory }) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    const { code, stderr } = await runInProcess(["replay", path]);
    if (replay === "plays") expect([code, stderr]).toEqual([0, expect.not.stringContaining("skipped")]);
    else expect([code, stderr]).toEqual([1, expect.stringMatching(replay)]);
  });

  test("is converted into a recording that plays, or refused with the reason", async ({ directory }) => {
    const path = join(directory, name);
    const out = join(directory, "out");
    writeFileSync(path, content);
    const { code, stderr } = await runInProcess(["import", path, "--out", out]);
    if (imported instanceof RegExp)
      return expect([code, stderr]).toEqual([1, expect.stringMatching(imported)]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(new RegExp(`: (${MINUTES}|${3 * MINUTES}) ${imported}\\n`)),
    ]);
    const played = await runInProcess(["replay", out, "--group", "exchange"]);
    expect([played.code, played.stderr]).toEqual([0, expect.not.stringContaining("skipped")]);
  });
});

/** Candles of pairs, one pair after another. */
const inTurn = (minutes: readonly number[]) =>
  text(
    minutes.flatMap((length, pair) =>
      Array.from({ length }, (_, index) => own(START + index * MINUTE, `T${pair}USDT`)),
    ),
  );

test("a file with one pair after another is refused before anything is served: short, long, packed, of many equal pairs, and with a short last pair; so is one without candles", async ({
  directory,
}) => {
  const path = join(directory, "pairs.csv");
  const files = {
    short: inTurn([20, 20]),
    long: inTurn([5_000, 5_000]),
    packed: gzipSync(inTurn([5_000, 5_000])),
    "of many equal pairs": inTurn(Array.from({ length: 64 }, () => 500)),
    "with a short last pair": inTurn([5_000, 800]),
  };
  for (const [what, content] of Object.entries(files)) {
    writeFileSync(path, content);
    const config = createConfig({ file: path, port: 0, logLevel: "silent" });
    const refused = await startGateway(config).catch((error: unknown) => error);
    expect([what, refused]).toEqual([
      what,
      expect.objectContaining({ message: expect.stringMatching(/order of time.* import .*pairs\.csv/) }),
    ]);
  }
  writeFileSync(path, `${OWN_HEADER}\n`);
  await expect(startGateway(createConfig({ file: path, port: 0, logLevel: "silent" }))).rejects.toThrow(
    "no line of the file is usable; it contains no market events",
  );
  // Interleaved, with a few wrong times, it plays.
  const lines = Array.from({ length: 3_000 }, (_, index) =>
    own(START + (index >> 1) * MINUTE, `T${index % 2}`),
  );
  for (const at of [500, 1_500, 1_501, 1_502]) lines[at] = own(START + 90_000 * MINUTE, "T0");
  writeFileSync(path, text(lines));
  expect(() => new ReplayFeed({ path, clock: systemClock })).not.toThrow();
});

test("an input is never overwritten, not even by way of a link, and a missing one is named", async ({
  directory,
}) => {
  const path = join(directory, "own.csv");
  writeFileSync(path, text(rows(own)));
  symlinkSync(path, join(directory, "soft.csv"));
  linkSync(path, join(directory, "hard.csv"));
  for (const out of [path, join(directory, "soft.csv"), join(directory, "hard.csv")])
    expect(await runInProcess(["import", path, "--out", out])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("would overwrite an input"),
    });
  expect(readFileSync(path, "utf8")).toBe(text(rows(own)));
  expect(await runInProcess(["import", join(directory, "none.csv")])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no such file"),
  });
});

test.each([
  ["seconds", rows(own, 1_000), "candles are of 1 s"],
  [
    "minutes, then hours",
    [...rows(own), ...rows((at) => own(at + 86_400_000), 60 * MINUTE)],
    "candles are of 1 h",
  ],
])("candles of %s are refused: they would be lost, or stand as minutes", async (_what, lines, reason) => {
  const path = join(mkdtempSync(join(tmpdir(), "flarewire-import-")), "mixed.csv");
  writeFileSync(path, text(lines));
  expect(await runInProcess(["import", path])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(reason),
  });
});

test("without a file, or with an unknown flag, the command says so", async () => {
  expect(await runInProcess(["import"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no file"),
  });
  expect(await runInProcess(["import", "--par", "X", "a.csv"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--pair"),
  });
});

const HEADER = "time,open,high,low,close,volume";
const moving = (at: number) => `${at},10,11,9,10.5,300`;
const quietCoinbase = rows(String).map((at, index) =>
  index % 5 === 0 ? [Number(at), 9, 11, 10, 10.5, 3] : [Number(at), 10, 10, 10, 10, 1],
);

test.each([
  ["a quiet pair of Coinbase", "quiet.json", JSON.stringify(quietCoinbase)],
  ["pandas' index", "pandas.csv", text([`,${HEADER}`, ...rows((at) => `7,${moving(at)}`)])],
  ["a vendor's line with a comma", "vendor.csv", text(["Data by Foo, Inc.", HEADER, ...rows(moving)])],
  [
    "a name with a comma, but a pair column",
    "a,b.csv",
    text([`pair,${HEADER}`, ...rows((at) => `A,${moving(at)}`)]),
  ],
  [
    "a first line without its note",
    "short.csv",
    text([`${HEADER},note`, ...rows((at) => (at === START ? moving(at) : `${moving(at)},x`))]),
  ],
  ["a semicolon in a name", "semi.csv", text([`${HEADER},notes;x`, ...rows((at) => `${moving(at)},a;b`)])],
])("%s: every line is read", async (_what, name, content) => {
  const path = join(mkdtempSync(join(tmpdir(), "flarewire-import-")), name);
  writeFileSync(path, content);
  const { code, stderr } = await runInProcess(["import", path]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(new RegExp(`: ${MINUTES} candles\\n`))]);
});

test.each(["", '"B, x"'])("lines with the pair %j are counted and named, not written", async (pair) => {
  const path = join(mkdtempSync(join(tmpdir(), "flarewire-import-")), "pair.csv");
  writeFileSync(
    path,
    text([
      "time,pair,open,high,low,close,volume",
      own(START),
      own(START + MINUTE),
      own(START + 2 * MINUTE, pair),
    ]),
  );
  const { code, stderr } = await runInProcess(["import", path]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("2 candles, 1 line skipped, the first is ")]);
});

test.each([
  ["dots and commas", "1700000040;10,0;11,0;9,0;10,5;1.234", /without separators of thousands/],
  ["decimal commas between tabs", "1700000040\t10,0\t11,0\t9,0\t10,5\t7", /decimal comma; export/],
])("%s: the file is refused with the cure", async (_what, line, reason) => {
  const path = join(mkdtempSync(join(tmpdir(), "flarewire-import-")), "numbers.csv");
  writeFileSync(path, text([HEADER.replaceAll(",", line.includes(";") ? ";" : "\t"), line]));
  const { code, stderr } = await runInProcess(["import", path]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
});

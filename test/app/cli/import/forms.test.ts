import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { test } from "../../../feeds/record/record-kit.ts";
import { FILES } from "../../../tools/import-table/files.ts";
import { runInProcess } from "../run-in-process.ts";

/** How many candles or trades `import` makes of a file, or why it refuses it. */
const IMPORTED: Readonly<Record<string, number | string>> = {
  "own candles": 300,
  "Binance klines 1m, ms": 300,
  "Binance klines 1m, µs": 300,
  "Binance klines 1m, futures, with a header": 300,
  "Binance klines 5m": "candles are of 5 min",
  "Binance klines 1h": "candles are of 1 h",
  "own columns, but 5m": "candles are of 5 min",
  "Binance aggTrades, spot, µs": 300,
  "Binance aggTrades, futures, with a header": 300,
  "Binance trades, spot": 300,
  "Binance trades, futures, with a header": 300,
  "freqtrade candles, JSON": 300,
  "freqtrade candles, gzipped JSON": 300,
  "freqtrade trades, JSON": 300,
  "freqtrade feather": "freqtrade convert-data --format-from feather",
  Parquet: "export it as CSV",
  "HDF5 of freqtrade": "--format-from hdf5",
  "ccxt fetchOHLCV, JSON": 300,
  "ccxt fetchTrades, JSON": 300,
  "an API's JSON object with the list inside": "take the list out first",
  "CryptoDataDownload, newest first": 300,
  "Kraken OHLCVT, seconds": 300,
  "Kraken OHLCVT of 5 minutes": "candles are of 5 min",
  "Kraken trades, seconds, without a side": "a trade without its side",
  "Bitstamp, quoted, seconds": 300,
  "Bitstamp of Kaggle, minutes without trades as NaN": 120,
  "TradingView export": 300,
  "TradingView export without volume": "has no column volume",
  "Coinbase API, JSON, low first, newest first": 300,
  "Coinbase, CSV with a header": 300,
  "Excel in Europe: semicolons, decimal commas, CRLF": 300,
  "an Excel workbook": "save it as CSV",
  "tab-separated": 300,
  "own candles in UTF-16": "iconv -f UTF-16",
  "own candles with a BOM": 300,
  ZIP: "unzip ",
  "Binance klines as gzip": 300,
  "own candles, pair after pair": 900,
  "two archives joined, which do not name their pairs": "import a file of each pair",
  "truncated gzip": "truncated; download it again",
  "truncated in a line": 230,
  "an empty file": "is empty",
  "only a header": "no candles or trades",
  "a directory": "give its files",
  "binary garbage": "is binary",
  "a web page": "is a web page",
};

/** The forms that `replay` plays as they are. */
const PLAYED = new Set(["own candles", "own candles with a BOM"]);

test("every form in the table of imports has an expected outcome", () => {
  expect(FILES.map(({ what }) => what)).toEqual(Object.keys(IMPORTED));
});

for (const { what, name, content } of FILES) {
  test(`${what}: import makes a recording that plays without a skipped line, or names the cure, as replay does`, async ({
    directory,
  }) => {
    const [path, out] = [join(directory, name), join(directory, "out")];
    if (content === undefined) mkdirSync(path);
    else writeFileSync(path, content);
    const expected = IMPORTED[what];
    const imported = await runInProcess(["import", path, "--out", out]);
    if (typeof expected === "string")
      expect([imported.code, imported.stderr]).toEqual([1, expect.stringContaining(expected)]);
    else {
      expect([imported.code, imported.stderr]).toEqual([0, expect.stringContaining(`: ${expected} `)]);
      const { code, stderr } = await runInProcess(["replay", out]);
      expect([code, stderr]).toEqual([0, expect.stringContaining(`${expected} market events accepted`)]);
      expect(stderr).not.toContain("skipped");
    }
    const { code, stderr } = await runInProcess(["replay", path]);
    if (PLAYED.has(what)) expect([code, stderr]).toEqual([0, expect.not.stringContaining("skipped")]);
    else expect([code, stderr]).toEqual([1, expect.stringContaining(name)]);
  });
}

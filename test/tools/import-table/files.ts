import { gzipSync } from "node:zlib";

/** A file in the form in which people have it. */
export interface GivenFile {
  /** What it is. */
  readonly what: string;
  readonly name: string;
  /** `undefined`: a directory. */
  readonly content: string | Uint8Array | undefined;
}

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2024, 0, 2);
const MINUTES = 300;

interface Candle {
  readonly at: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

/** Returns candles of a price that wanders, the same at each call. */
function candles(stepMs = MINUTE_MS, from = 1.5): readonly Candle[] {
  let seed = 7;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31 - 0.5;
  };
  let price = from;
  return Array.from({ length: MINUTES }, (_, index) => {
    const open = price;
    price *= 1 + next() / 100;
    const [top, bottom] = [Math.max(open, price) * 1.001, Math.min(open, price) * 0.999];
    const text = (value: number) => value.toFixed(4);
    return {
      at: START_MS + index * stepMs,
      ...{ open: text(open), high: text(top), low: text(bottom), close: text(price) },
      volume: (500 + 400 * next()).toFixed(3),
    };
  });
}

const CANDLES = candles();
const lines = (rows: readonly string[], end = "\n") => `${rows.join(end)}${end}`;
const amounts = ({ open, high, low, close, volume }: Candle) => [open, high, low, close, volume].join(",");
const own = (pair: string, given = CANDLES) => given.map((one) => `${one.at},${pair},${amounts(one)}`);
const iso = (at: number) => new Date(at).toISOString();
const OWN_HEADER = "time_ms,pair,open,high,low,close,volume";

/** Binance's archive: 12 columns. `unit`: of the times, per ms. */
function klines(given: readonly Candle[], stepMs: number, unit = 1): readonly string[] {
  return given.map((one) => {
    const end = (one.at + stepMs) * unit - 1;
    return `${one.at * unit},${amounts(one)},${end},750.1,42,250.3,375.2,0`;
  });
}

const KLINES_HEADER =
  "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore";

const quoted = (row: string) => row.replaceAll(/[^,]+/g, '"$&"');
const numbers = ({ open, high, low, close, volume }: Candle) => [open, high, low, close, volume].map(Number);
const german = (text: string) => text.replace(".", ",");
const side = (index: number) => (index % 3 === 0 ? "sell" : "buy");

/** A day as Excel shows it in Europe. */
const dotted = (at: number) => {
  const [year, month, day] = iso(at).slice(0, 10).split("-");
  return `${day}.${month}.${year} ${iso(at).slice(11, 16)}`;
};

function garbage(): Uint8Array {
  let seed = 3;
  return Uint8Array.from({ length: 5_000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed >> 16;
  });
}

const archive = lines(klines(CANDLES, MINUTE_MS));

export const FILES: readonly GivenFile[] = [
  { what: "own candles", name: "own.csv", content: lines([OWN_HEADER, ...own("CAKEUSDT")]) },
  { what: "Binance klines 1m, ms", name: "CAKEUSDT-1m-2024-01.csv", content: archive },
  {
    what: "Binance klines 1m, µs",
    name: "CAKEUSDT-1m-2025-01.csv",
    content: lines(klines(CANDLES, MINUTE_MS, 1_000)),
  },
  {
    what: "Binance klines 1m, futures, with a header",
    name: "CAKEUSDT-1m-2024-02.csv",
    content: lines([KLINES_HEADER, ...klines(CANDLES, MINUTE_MS)]),
  },
  {
    what: "Binance klines 5m",
    name: "CAKEUSDT-5m-2024-01.csv",
    content: lines(klines(candles(5 * MINUTE_MS), 5 * MINUTE_MS)),
  },
  {
    what: "Binance klines 1h",
    name: "CAKEUSDT-1h-2024-01.csv",
    content: lines(klines(candles(60 * MINUTE_MS), 60 * MINUTE_MS)),
  },
  {
    what: "own columns, but 5m",
    name: "five.csv",
    content: lines([OWN_HEADER, ...own("CAKEUSDT", candles(5 * MINUTE_MS))]),
  },
  {
    what: "Binance aggTrades, spot, µs",
    name: "CAKEUSDT-aggTrades-2025-01.csv",
    content: lines(
      CANDLES.map(({ at, close }, index) => `${index},${close},2.5,${index},${index},${at}000,True,True`),
    ),
  },
  {
    what: "Binance aggTrades, futures, with a header",
    name: "CAKEUSDT-aggTrades-2024-02.csv",
    content: lines([
      "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker",
      ...CANDLES.map(({ at, close }, index) => `${index},${close},2.5,${index},${index},${at},true`),
    ]),
  },
  {
    what: "Binance trades, spot",
    name: "CAKEUSDT-trades-2024-01.csv",
    content: lines(CANDLES.map(({ at, close }, index) => `${index},${close},2.5,3.75,${at},False,True`)),
  },
  {
    what: "Binance trades, futures, with a header",
    name: "CAKEUSDT-trades-2024-02.csv",
    content: lines([
      "id,price,qty,quote_qty,time,is_buyer_maker",
      ...CANDLES.map(({ at, close }, index) => `${index},${close},2.5,3.75,${at},false`),
    ]),
  },
  {
    what: "freqtrade candles, JSON",
    name: "CAKE_USDT-1m.json",
    content: JSON.stringify(CANDLES.map((one) => [one.at, ...numbers(one)])),
  },
  {
    what: "freqtrade candles, gzipped JSON",
    name: "CAKE_USDT-1m.json.gz",
    content: gzipSync(JSON.stringify(CANDLES.map((one) => [one.at, ...numbers(one)]))),
  },
  {
    what: "freqtrade trades, JSON",
    name: "CAKE_USDT-trades.json",
    content: JSON.stringify(
      CANDLES.map(({ at, close }, index) => [at, `${index}`, null, side(index), Number(close), 2.5, 3.75]),
    ),
  },
  { what: "freqtrade feather", name: "CAKE_USDT-1m.feather", content: "ARROW1\0\0\xff\xff\xff\xff" },
  { what: "Parquet", name: "CAKE_USDT-1m.parquet", content: "PAR1\x15\x04\x15" },
  {
    what: "HDF5 of freqtrade",
    name: "CAKE_USDT-1m.h5",
    content: Uint8Array.from(Buffer.from("\x89HDF\r\n\x1a\n\0\0", "latin1")),
  },
  {
    what: "ccxt fetchOHLCV, JSON",
    name: "CAKEUSDT.json",
    content: JSON.stringify(
      CANDLES.map((one) => [one.at, ...numbers(one)]),
      undefined,
      2,
    ),
  },
  {
    what: "ccxt fetchTrades, JSON",
    name: "trades.json",
    content: JSON.stringify(
      CANDLES.map(({ at, close }, index) => ({
        ...{ id: `${index}`, timestamp: at, datetime: iso(at), symbol: "CAKE/USDT", side: side(index) },
        ...{ price: Number(close), amount: 2.5, cost: 3.75, fee: null },
      })),
    ),
  },
  {
    what: "an API's JSON object with the list inside",
    name: "klines.json",
    content: JSON.stringify({
      error: [],
      result: { CAKEUSD: CANDLES.map((one) => [one.at, ...numbers(one)]) },
    }),
  },
  {
    what: "CryptoDataDownload, newest first",
    name: "Binance_CAKEUSDT_2024_minute.csv",
    content: lines([
      "https://www.CryptoDataDownload.com",
      "Unix,Date,Symbol,Open,High,Low,Close,Volume CAKE,Volume USDT,tradecount",
      ...CANDLES.map(
        (one) => `${one.at},${iso(one.at).slice(0, 19).replace("T", " ")},CAKE/USDT,${amounts(one)},750.1,42`,
      ).toReversed(),
    ]),
  },
  {
    what: "Kraken OHLCVT, seconds",
    name: "CAKEUSD_1.csv",
    content: lines(CANDLES.map((one) => `${one.at / 1_000},${amounts(one)},42`)),
  },
  {
    what: "Kraken OHLCVT of 5 minutes",
    name: "CAKEUSD_5.csv",
    content: lines(candles(5 * MINUTE_MS).map((one) => `${one.at / 1_000},${amounts(one)},42`)),
  },
  {
    what: "Kraken trades, seconds, without a side",
    name: "CAKEUSD.csv",
    content: lines(CANDLES.map(({ at, close }) => `${at / 1_000},${close},2.50000000`)),
  },
  {
    what: "Bitstamp, quoted, seconds",
    name: "bitstamp.csv",
    content: lines([
      quoted("timestamp,open,high,low,close,volume"),
      ...CANDLES.map((one) => quoted(`${one.at / 1_000},${amounts(one)}`)),
    ]),
  },
  {
    what: "Bitstamp of Kaggle, minutes without trades as NaN",
    name: "bitstampUSD_1-min_data.csv",
    content: lines([
      "Timestamp,Open,High,Low,Close,Volume_(BTC),Volume_(Currency),Weighted_Price",
      ...CANDLES.map((one, index) =>
        index % 5 < 2
          ? `${one.at / 1_000},${amounts(one)},750.1,1.5`
          : `${one.at / 1_000},NaN,NaN,NaN,NaN,NaN,NaN,NaN`,
      ),
    ]),
  },
  {
    what: "TradingView export",
    name: "BINANCE_CAKEUSDT, 1.csv",
    content: lines([
      "time,open,high,low,close,Volume,Volume MA",
      ...CANDLES.map((one) => `${one.at / 1_000},${amounts(one)},480.5`),
    ]),
  },
  {
    what: "TradingView export without volume",
    name: "BINANCE_CAKEUSDT, 1 (2).csv",
    content: lines([
      "time,open,high,low,close",
      ...CANDLES.map((one) => `${iso(one.at).slice(0, 19)}Z,${amounts(one).split(",").slice(0, 4)}`),
    ]),
  },
  {
    what: "Coinbase API, JSON, low first, newest first",
    name: "coinbase.json",
    content: JSON.stringify(
      CANDLES.map((one) => {
        const [open = 0, high = 0, low = 0, close = 0, volume = 0] = numbers(one);
        return [one.at / 1_000, low, high, open, close, volume];
      }).toReversed(),
    ),
  },
  {
    what: "Coinbase, CSV with a header",
    name: "CAKE-USD.csv",
    content: lines([
      "time,low,high,open,close,volume",
      ...CANDLES.map((one) => [one.at / 1_000, one.low, one.high, one.open, one.close, one.volume].join(",")),
    ]),
  },
  {
    what: "Excel in Europe: semicolons, decimal commas, CRLF",
    name: "CAKEUSDT-excel.csv",
    content: lines(
      [
        "Date;Open;High;Low;Close;Volume",
        ...CANDLES.map((one) =>
          [dotted(one.at), ...[one.open, one.high, one.low, one.close, one.volume].map(german)].join(";"),
        ),
      ],
      "\r\n",
    ),
  },
  {
    what: "an Excel workbook",
    name: "CAKEUSDT.xlsx",
    content: Buffer.concat([
      Buffer.from("PK\x03\x04", "latin1"),
      Buffer.from("\x14\0\x06\0[Content_Types].xml xl/workbook.xml"),
    ]),
  },
  {
    what: "tab-separated",
    name: "CAKEUSDT-tabs.tsv",
    content: lines([
      "timestamp\topen\thigh\tlow\tclose\tvolume",
      ...CANDLES.map((one) => `${one.at}\t${amounts(one).replaceAll(",", "\t")}`),
    ]),
  },
  {
    what: "own candles in UTF-16",
    name: "utf16.csv",
    content: Buffer.from(`\uFEFF${lines(own("CAKEUSDT"))}`, "utf16le"),
  },
  {
    what: "own candles with a BOM",
    name: "bom.csv",
    content: `\uFEFF${lines([OWN_HEADER, ...own("CAKEUSDT")])}`,
  },
  {
    what: "ZIP",
    name: "CAKEUSDT-1m-2024-01.zip",
    content: Buffer.from("PK\x03\x04\x14\0\0\0\x08\0CAKEUSDT-1m-2024-01.csv", "latin1"),
  },
  { what: "Binance klines as gzip", name: "CAKEUSDT-1m-2024-03.csv.gz", content: gzipSync(archive) },
  {
    what: "own candles, pair after pair",
    name: "pairs.csv",
    content: lines([OWN_HEADER, ...["AUSDT", "BUSDT", "CUSDT"].flatMap((pair) => own(pair))]),
  },
  {
    what: "two archives joined, which do not name their pairs",
    name: "joined.csv",
    content: lines([...klines(CANDLES, MINUTE_MS), ...klines(candles(MINUTE_MS, 300), MINUTE_MS)]),
  },
  {
    what: "truncated gzip",
    name: "CAKEUSDT-1m-2024-04.csv.gz",
    content: gzipSync(archive).subarray(0, 3_000),
  },
  { what: "truncated in a line", name: "CAKEUSDT-1m-2024-05.csv", content: archive.slice(0, 20_030) },
  { what: "an empty file", name: "empty.csv", content: "" },
  { what: "only a header", name: "header.csv", content: `${OWN_HEADER}\n` },
  { what: "a directory", name: "directory", content: undefined },
  { what: "binary garbage", name: "garbage.csv", content: garbage() },
  { what: "a web page", name: "page.csv", content: "<!doctype html>\n<p>Not found</p>\n" },
];

import type { MarketEvent, Trade, Window } from "../../src/base/market/index.ts";
import { crowdOf, playScripts, type Script } from "./trade-market.ts";
import {
  address,
  candle,
  candlePath,
  createRandom,
  decimal,
  liquidity,
  listing,
  MINUTE,
  profile,
  report,
  SECOND,
  START,
  trade,
} from "./trend-kit.ts";

/** Length of the market in minutes. */
export const BUSY_MINUTES = 130;
const at = (minute: number, second = 0) => START + minute * MINUTE + second * SECOND;
const between = (minute: number, from: number, to: number) => minute >= from && minute < to;
/** Returns the names of a few wallets that trade again and again. */
const fewWallets = (count: number) => (random: number) => `0xf${Math.floor(random * count)}`;

/** The actors of BSC, each with its trades, by the number of their address. */
const SCRIPTS: readonly Script[] = [
  // 1: two pumps, the second with a surge.
  {
    token: address(1),
    rate: (minute) => (between(minute, 70, 82) ? 50 : between(minute, 30, 36) ? 25 : 2),
    buyShare: (minute) => (between(minute, 30, 36) || between(minute, 70, 82) ? 0.8 : 0.5),
  },
  // 2: the liquidity of a pump is removed.
  {
    token: address(2),
    rate: (minute) => (minute >= 40 ? 25 : 2),
    buyShare: (minute) => (minute >= 40 ? 0.8 : 0.5),
  },
  // 3: a pump is sold at once.
  {
    token: address(3),
    rate: (minute) => (between(minute, 45, 58) ? 30 : 2),
    buyShare: (minute) => (between(minute, 45, 52) ? 0.85 : between(minute, 52, 58) ? 0.05 : 0.5),
  },
  // 4: a pump that goes silent.
  {
    token: address(4),
    rate: (minute) => (minute >= 58 ? 0 : minute >= 50 ? 25 : 2),
    buyShare: (minute) => (minute >= 50 ? 0.8 : 0.5),
  },
  // 5: nobody can sell.
  {
    token: address(5),
    rate: (minute) => (between(minute, 35, 50) ? 12 : 1),
    buyShare: (minute) => (minute >= 20 ? 1 : 0.5),
  },
  // 6: a few wallets trade with each other.
  {
    token: address(6),
    rate: (minute) => (minute >= 25 ? 15 : 2),
    buyShare: (minute) => (minute >= 25 ? 0.55 : 0.5),
    trader: fewWallets(3),
  },
  // 7: one wallet buys nearly everything.
  {
    token: address(7),
    rate: (minute) => (between(minute, 60, 75) ? 8 : 2),
    buyShare: (minute) => (between(minute, 60, 75) ? 0.9 : 0.5),
    trader: (random, count) => (random < 0.7 ? "0xwhale" : `0x7${count}`),
    usd: 200,
  },
  // 8: the quote token of the pools.
  {
    token: address(8),
    rate: (minute) => (minute >= 60 ? 25 : 2),
    buyShare: (minute) => (minute >= 60 ? 0.8 : 0.5),
  },
];

/** A launch at minute 55: a first block of ten wallets that sell soon, and a program that buys. */
function launch(): MarketEvent[] {
  const token = address(9);
  const random = createRandom(9);
  const first = Array.from({ length: 10 }, (_, n) =>
    trade(at(55, 5) + n * 100, token, { trader: `0xb${n}`, quoteUsd: "300", price: decimal(1 + n / 100) }),
  );
  const sold = first.map((bought, n) => ({ ...bought, at: at(58) + n * 700, side: "sell" as const }));
  const equal = Array.from({ length: 60 }, (_, n) =>
    trade(at(56) + n * 5 * SECOND, token, {
      trader: `0xe${n}`,
      quoteUsd: "100",
      price: decimal(1.1 + n / 500),
    }),
  );
  const crowd = Array.from({ length: 300 }, () => trade(at(62) + Math.floor(random() * 25 * MINUTE), token));
  const named = crowd.map((bought, n) => ({
    ...bought,
    trader: `0xc${n}`,
    price: decimal(1.22 + (bought.at - at(62)) / (40 * MINUTE)),
    side: n % 4 === 0 ? ("sell" as const) : ("buy" as const),
    quoteUsd: decimal(40 + 60 * random()),
  }));
  return [
    profile(at(54), token, { createdAt: at(50), contractSource: "unverified" }),
    listing(at(55), token),
    {
      kind: "locks",
      at: at(57),
      group: "bsc",
      token,
      pool: `pool-${token}`,
      burned: 0.1,
      held: [
        { share: 0.2, until: at(600) },
        { share: 0.01, until: at(90) },
        { share: 0.1, until: null },
      ],
    },
    ...first,
    ...sold,
    ...equal,
    ...named,
  ];
}

/** A token whose price moves to a second, deeper pool, and whose past trades come later. */
function twoPools(): MarketEvent[] {
  const token = address(10);
  const random = createRandom(10);
  const trades = Array.from({ length: 700 }, (_, n): Trade => {
    // Many trades have the same time, as those of one block.
    const second = n < 300 ? Math.floor(random() * 7_200) : 5_100 + Math.floor(random() * 1_200);
    const moment = at(5, second - (second % 15));
    const isOther = moment > at(98) && n % 4 !== 0;
    const rise = moment > at(90) ? Math.min(0.6, (moment - at(90)) / (20 * MINUTE)) : 0;
    return trade(moment, token, {
      pool: isOther ? "pool-other" : `pool-${token}`,
      side: random() < (rise > 0 ? 0.85 : 0.5) ? "buy" : "sell",
      price: decimal((isOther ? 3.18 : 3) * (1 + rise + (random() - 0.5) / 100)),
      quoteUsd: decimal(30 + 100 * random()),
      trader: `0x${n % 300}`,
    });
  });
  const past = Array.from({ length: 40 }, (_, n) =>
    trade(at(4) + n * 50, token, {
      tradedAt: at(-50) + n * MINUTE,
      price: decimal(2.7 + n / 130),
      trader: `0x${n % 25}`,
      side: n % 3 === 0 ? "sell" : "buy",
    }),
  );
  return [
    profile(at(0), token),
    liquidity(at(1), token, "60000"),
    ...past,
    liquidity(at(95), token, "350000", "sync", "pool-other"),
    liquidity(at(50), token, "20000", "add", "pool-shallow"),
    trade(at(60), token, { pool: "pool-shallow", price: "3", quoteUsd: "900" }),
    trade(at(61), token, { pool: "pool-unknown", price: "3" }),
    ...trades,
  ];
}

/** A crowd whose wallets each buy once, and sell all of it a minute later. */
function washers(): MarketEvent[] {
  const token = address(11);
  const trades = Array.from({ length: 200 }, (_, n) => {
    const moment = at(65) + n * 5_300;
    const [bought, sold] = [moment, moment + MINUTE];
    const price = decimal(1 + n / 500);
    const one = { trader: `0xa${n}`, quoteUsd: "80", price };
    return [trade(bought, token, one), trade(sold, token, { ...one, side: "sell" })];
  }).flat();
  return [profile(at(10), token), liquidity(at(10), token, "30000"), ...trades];
}

/** What else happens on BSC: facts that change, removed liquidity, and events that are refused. */
function incidents(): MarketEvent[] {
  const facts = { forumPost: null, socialData: null } as const;
  const links = { chat_url: "https://chat.example/1", microblog_url: "javascript:1", website_url: null };
  return [
    profile(at(0), address(8), { quote: true }),
    profile(at(10), address(1), { socialData: links, name: "First", symbol: "ONE" }),
    profile(at(33), address(1), facts),
    profile(at(90), address(104), { marketData: null }),
    profile(at(45), address(3), { contractSource: "verified" }),
    liquidity(at(46, 30), address(2), "400", "remove"),
    liquidity(at(57), address(4), "20000", "remove"),
    liquidity(at(57, 20), address(4), "49000", "add"),
    liquidity(at(64), address(101), "3000", "remove"),
    listing(at(20), address(30)),
    listing(at(20), address(31)),
    listing(at(20, 1), address(30)),
    { ...listing(at(22), address(32)), listedAt: at(12) } as MarketEvent,
    listing(at(80), address(105), "pool-late"),
    trade(at(21), address(100), { quoteUsd: "0.01" }),
    trade(at(23), address(101).toUpperCase().replace("X", "x")),
    trade(at(24), "nonsense"),
    trade(at(25), address(102), { price: "-1" }),
  ];
}

/** Pairs of the exchange: three with trades by the second, six with candles, some of them late. */
function exchange(): MarketEvent[] {
  const random = createRandom(3);
  const events: MarketEvent[] = [];
  for (let n = 0; n < 6; n++) {
    const token = `C${n}USDT`;
    const isPump = (minute: number) => n === 1 && between(minute, 60, 75);
    const path = (minute: number) =>
      isPump(minute) ? 1 + (minute - 59) / 60 : n === 1 && minute >= 75 ? 1.1 : 1;
    const volume = (minute: number) => (isPump(minute) ? 9 : n === 2 && minute % 7 === 0 ? 0 : 1);
    const candles = candlePath(token, BUSY_MINUTES, random, path, volume, { group: "exchange" });
    // A pair misses every seventh candle, another has each tenth two seconds late.
    for (const [minute, one] of candles.entries()) {
      if (n === 3 && minute % 7 === 3) continue;
      events.push(n === 4 && minute % 10 === 5 ? { ...one, at: one.at } : one);
    }
    events.push(
      profile(START, token, { group: "exchange", market: { exchange: "binance", pair: `C${n}/USDT` } }),
    );
  }
  for (let n = 0; n < 3; n++) {
    const token = `Q${n}`;
    const quick = (moment: number, side: Trade["side"], price: number, money: number): Trade => {
      const { trader, ...rest } = trade(moment, token, {
        group: "exchange",
        pool: token,
        side,
        price: decimal(price),
      });
      return { ...rest, amount: decimal(money / price), quoteUsd: decimal(money) };
    };
    for (let moment = START; moment < at(BUSY_MINUTES); moment += 4_000 + Math.floor(random() * 3_000)) {
      const rise = n > 0 || moment < at(70) ? 0 : moment < at(110) ? 0.04 : 0.09;
      events.push(
        quick(moment, random() < 0.5 ? "buy" : "sell", 1 + rise + random() / 500, 10 + 5 * random()),
      );
    }
    if (n > 1) continue;
    // The second flare of the first pair surges like its first.
    if (n === 0)
      for (const minute of [110, 113])
        for (let fill = 0; fill < 160; fill++)
          events.push(
            quick(
              at(minute, 10) + Math.floor(fill / 4) * 100,
              "buy",
              1.04 + (minute - 110) / 60 + fill / 3_500,
              110,
            ),
          );
    for (let fill = 0; fill < 160; fill++)
      events.push(quick(at(70 + 30 * n, 10) + Math.floor(fill / 4) * 100, "buy", 1 + fill / 3_500, 100));
    events.push(
      ...Array.from({ length: 40 }, (_, fill) =>
        quick(at(73, 10) + fill * 90, "buy", 1.05 + fill / 900, 130),
      ),
    );
  }
  return events;
}

/** Pools of Avalanche, which an aggregator reports on once a minute, with an outage. */
function reports(): MarketEvent[] {
  const events: MarketEvent[] = [];
  for (let n = 0; n < 7; n++) {
    const random = createRandom(50 + n);
    const usualPrice = 1 + n;
    let price = usualPrice;
    for (let minute = 0; minute < BUSY_MINUTES; minute++) {
      if (between(minute, 85, 90)) continue;
      const isSold = n === 5 && between(minute, 70, 80);
      const burst = isSold
        ? 12
        : n === 1 && between(minute, 30, 40)
          ? 10
          : n === 2 && between(minute, 50, 60)
            ? 30
            : 0;
      price *= 1 + (random() - 0.5) / 200 + (burst > 0 ? 0.025 : 0);
      const usual = report(at(minute, 1 + n), address(200 + n));
      const plus = ({ m5, h1, h24 }: Window["counts"]): Window["counts"] => {
        const buyers = n === 2 ? Math.floor(burst / 8) : burst * 5;
        const more = (one: Window["counts"]["m5"]) => ({
          buys: one.buys + burst * 6 + (minute % 3),
          sells: one.sells + burst * (isSold ? 7 : 1),
          buyers: one.buyers + buyers,
          sellers: one.sellers + burst,
          usd: String(Number(one.usd) + burst * 400),
        });
        return { m5: more(m5), h1: more(h1), h24: more(h24) };
      };
      const usd = n === 3 && minute >= 70 ? 4_000 : 100_000 * Math.sqrt(price / usualPrice);
      events.push({
        ...usual,
        group: "avalanche",
        price: decimal(price),
        past: { m5: decimal(price * 0.995), m30: decimal(price * 1.002), h1: decimal(usualPrice) },
        liquidity: decimal(usd),
        counts: plus(usual.counts),
        ...(n === 4 ? { createdAt: at(-100) } : {}),
      });
    }
    events.push(profile(START, address(200 + n), { group: "avalanche" }));
  }
  return events;
}

/** Tokens of Polygon with candles: silent ones, late candles, and past ones after a gap. */
function polygon(): MarketEvent[] {
  const random = createRandom(4);
  const events: MarketEvent[] = [{ kind: "observed", at: at(0, 1), group: "matic", since: at(0) }];
  for (let n = 0; n < 6; n++) {
    const token = address(300 + n);
    const path = (minute: number) => (n === 0 && minute >= 80 ? 0.05 : n === 1 && minute >= 65 ? 1.3 : 1);
    const volume = (minute: number) => (n === 1 && between(minute, 65, 70) ? 8 : 1);
    for (const [minute, one] of candlePath(token, BUSY_MINUTES, random, path, volume, {
      group: "matic",
    }).entries()) {
      if (n === 2 && between(minute, 60, 70)) continue;
      if (n === 5 && minute > 20) continue;
      events.push(one);
    }
    events.push(profile(START, token, { group: "matic" }));
  }
  const late = Array.from({ length: 5 }, (_, n) =>
    candle(at(62 + n), address(302), 1 + n / 50, 1.02 + n / 50, { group: "matic", volume: "150" }),
  );
  // A look-up after a gap brings them at once, in the order of their minutes.
  events.push(...late.map((one) => ({ ...one, at: at(70, 20) })));
  return events;
}

/**
 * Returns a market of all forms of data, in which whatever the engine tells happens at least once.
 */
export function busyMarket(): MarketEvent[] {
  return [
    ...playScripts([...crowdOf(8), ...SCRIPTS], BUSY_MINUTES),
    ...launch(),
    ...twoPools(),
    ...washers(),
    ...incidents(),
    ...exchange(),
    ...reports(),
    ...polygon(),
  ];
}

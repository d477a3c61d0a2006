import { expect, test } from "vitest";
import { Snapshot } from "../../../src/base/model/index.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { MOMENT, PUMP_AT, playPump, TOKEN } from "../pump-market.ts";
import type { Script } from "../trade-market.ts";
import { decimal, liquidity, listing, MINUTE, SECOND, START, trade } from "../trend-kit.ts";

const QUIET: Script = { token: TOKEN, rate: () => 3, buyShare: () => 0.5 };
const HONEST = playPump();
const priceOf = ({ running }: ReturnType<typeof playPump>) => Number(running[0]?.token.price);

/** Returns trades of an attacker back and forth in their own pool. */
const wash = (atMs: number, usd: string, prices: readonly string[]) =>
  prices.map((price, n) =>
    trade(atMs, TOKEN, {
      pool: "own",
      price,
      quoteUsd: usd,
      trader: `0xabc${n}`,
      side: n % 2 === 0 ? "buy" : "sell",
    }),
  );

test("an attacker's pool that sets the price for one transaction or block neither ends a flare nor raises its price", () => {
  const price = priceOf(playPump({ minutes: PUMP_AT + 6 }));
  const same = Array.from({ length: 20 }, () => decimal(price));
  for (const factor of [0.05, 40]) {
    const last = wash(MOMENT, "100", [decimal(price * factor)]);
    const unparked = [
      { ...listing(MOMENT, TOKEN, "own"), liquidity: "12000" },
      ...wash(MOMENT, "60000", same.slice(0, 2)),
    ];
    const parked = [
      liquidity(MOMENT - 3 * MINUTE, TOKEN, "12000", "add", "own"),
      ...wash(MOMENT, "6000", same),
    ];
    for (const [attack, untilMs] of [
      [unparked, MOMENT],
      [parked, MOMENT + 3 * SECOND],
      ...(IS_SOAK
        ? ([
            [unparked, MOMENT + 3 * SECOND],
            [parked, MOMENT],
          ] as const)
        : []),
    ] as const) {
      const extra = [...attack, ...last, liquidity(untilMs, TOKEN, "0", "remove", "own")];
      const played = playPump({ extra });
      expect(played).toMatchObject({ causes: [], warnings: [], canarySeconds: 0 });
      expect(priceOf(played)).toBe(priceOf(HONEST));
    }
  }
});

test("an attacker's pool that is huge for one transaction changes neither price nor chart, even repeatedly", () => {
  const at = START + 66 * MINUTE + 300;
  const honest = playPump({ script: QUIET, minutes: 75 });
  for (const last of ["900000", "0.000001"]) {
    const extra = Array.from({ length: 60 }, () => [
      liquidity(at, TOKEN, "560000", "add", "own"),
      ...wash(at, "100", ["1", last]),
      liquidity(at, TOKEN, "0", "remove", "own"),
      trade(at, TOKEN, { price: "1", quoteUsd: "0.3", trader: "0xabc" }),
    ]).flat();
    let invalid = 0;
    const onSnapshot = (snapshot: unknown) => {
      if (!Snapshot.safeParse(snapshot).success) invalid += 1;
    };
    const { last: end } = playPump({ extra, script: QUIET, minutes: 75, onSnapshot });
    expect(invalid).toBe(0);
    const changes = ({ charts }: Snapshot) =>
      charts.bsc.map(({ flare, price_change_from_average }) => [
        flare.token.address,
        Math.round(price_change_from_average * 10),
      ]);
    expect(changes(end)).toEqual(changes(honest.last));
  }
});

test("a trade counts for at most its pool's liquidity", () => {
  const pool = liquidity(START + 40 * MINUTE, TOKEN, "2", "add", "own");
  const pumpMs = START + PUMP_AT * MINUTE;
  const volumeOf = ({ engine }: ReturnType<typeof playPump>) =>
    engine.readingOf("bsc", TOKEN)?.terms.find(({ name }) => name === "volume")?.raw ?? 0;
  const tiny = playPump({ extra: [pool, ...wash(MOMENT, "60000", ["2", "1.9", "2", "1.9"])] });
  expect(Math.abs(volumeOf(tiny) / volumeOf(HONEST) - 1)).toBeLessThan(0.02);
  expect(tiny.warnings).toEqual([]);
  // If the sale counted in full, it would raise the usual volume and prevent the flare.
  const before = pumpMs - 20 * MINUTE + 300;
  const sale = [
    liquidity(before, TOKEN, "3000000", "add", "own"),
    trade(before, TOKEN, { pool: "own", side: "sell", quoteUsd: "1000000", trader: "0xabc" }),
    liquidity(before, TOKEN, "0", "remove", "own"),
  ];
  expect(playPump({ extra: sale }).running).toHaveLength(1);
});

test("an attacker's sales in their own pool do not prevent the flare of a pump", () => {
  const extra = [
    liquidity(START + 36 * MINUTE, TOKEN, "500", "add", "own"),
    ...Array.from({ length: 40 }, () =>
      trade(START + 55 * MINUTE, TOKEN, {
        pool: "own",
        side: "sell",
        quoteUsd: "500",
        trader: "0xabc",
      }),
    ),
  ];
  expect(playPump({ extra }).running).toHaveLength(1);
});

test("an attacker's trades with themselves in a shallow pool do not turn the token's canary on", () => {
  for (const [usd, atMinute, count] of [
    ["1900", 65, 40],
    ["500", 55, 400],
  ] as const) {
    const extra = [
      liquidity(START + 36 * MINUTE, TOKEN, usd, "add", "own"),
      ...Array.from({ length: count }, (_, n) =>
        trade(START + atMinute * MINUTE, TOKEN, {
          pool: "own",
          side: n % 2 === 0 ? "buy" : "sell",
          quoteUsd: usd,
          trader: "0xabc",
        }),
      ),
    ];
    const { warnings, running } = playPump({ extra });
    expect(warnings).toEqual([]);
    expect(running).toHaveLength(1);
  }
});

test("a pool with a tenth of the depth does not freeze the price for long while the deep pool trades", () => {
  const parkedMs = START + 20 * MINUTE;
  const extra = [liquidity(parkedMs, TOKEN, "5600", "add", "own")];
  extra.push(...wash(parkedMs + MINUTE, "20000", ["1", "1"]));
  for (let at = parkedMs + 9 * MINUTE; at < START + 80 * MINUTE; at += 9 * MINUTE)
    extra.push(trade(at, TOKEN, { pool: "own", quoteUsd: "0.11", trader: "0xabc" }));
  const played = playPump({ extra });
  expect(played.running).toHaveLength(1);
  expect(priceOf(played)).toBe(priceOf(HONEST));
});

test("buyers in a shallow pool of one's own start no flare", () => {
  const script: Script = {
    token: TOKEN,
    rate: (minute) => (minute >= PUMP_AT ? 5 : 3),
    buyShare: (minute) => (minute >= PUMP_AT ? 0.56 : 0.5),
  };
  const crowd = Array.from({ length: 600 }, (_, n) =>
    trade(START + PUMP_AT * MINUTE + n * SECOND, TOKEN, { pool: "own", quoteUsd: "3", trader: `0xa${n}` }),
  );
  const extra = [liquidity(START + 36 * MINUTE, TOKEN, "500", "add", "own"), ...crowd];
  const { running, engine } = playPump({ script, minutes: 75, extra });
  expect(running).toEqual([]);
  expect(engine.readingOf("bsc", TOKEN)?.terms.find(({ name }) => name === "buyers")?.raw).toBeLessThan(25);
});

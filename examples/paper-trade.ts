// Paper trading: buys each token whose flare starts, with equal stakes, and sells when the flare
// finishes or after half an hour. Play it a recorded day:
//
//   npm run flarewire -- backtest examples/data/2017-11-12.csv.gz --group bsc \
//     --bot examples/paper-trade.ts
//
// A live bot calls the same function with a market of its own: `connect` of flarewire/client, and a
// `buy` and `sell` that place orders. Real markets may be worse than a backtest: a large order
// moves a thin market itself. One day proves nothing.

import type { Bot } from "flarewire";

const MAX_MS = 30 * 60_000;

export const bot: Bot = async ({ connect, buy, sell }) => {
  const boughtAtMs = new Map<string, number>();
  const close = (token: string, reason: string) => {
    if (boughtAtMs.delete(token)) sell({ group: "bsc", token }, reason);
  };
  for await (const event of connect({ channels: ["flares.pro"] })) {
    if (event.name === "reset") continue;
    const nowMs = Date.parse(event.observed_at);
    if (event.name === "flare-started") {
      const { address, symbol } = event.data.flare.token;
      // With a filter, a flare "starts" again when it passes the threshold. Do not buy again.
      if (event.data.cause === "passed" || boughtAtMs.has(address)) continue;
      boughtAtMs.set(address, nowMs);
      buy({ group: "bsc", token: address, symbol });
    } else if (event.name === "flare-finished") {
      close(event.data.flare.token.address, event.data.cause);
    }
    for (const [token, boughtMs] of boughtAtMs) if (nowMs - boughtMs >= MAX_MS) close(token, "time limit");
  }
};

import { expect, test } from "vitest";
import { eventsOf } from "../../market/collect.ts";
import { E18, Exchange } from "../../market/exchange.ts";
import { Ledger } from "../../market/ledger.ts";
import { describeOnAnvil } from "../../nodes/anvil.ts";
import { wallet } from "../../nodes/test-chain.ts";

describeOnAnvil("V2 pools on a real EVM", () => {
  test("[exact] listing, trades of many wallets, two legs at once, liquidity added and removed equal the ledger, to the last digit", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const ledger = new Ledger();
    const coin = exchange.coin;
    const alpha = await exchange.token("Alpha", "ALPHA");
    const beta = await exchange.token("Beta", "BETA", { decimals: 6 });
    for (const account of [1, 2, 3].map(wallet)) {
      for (const token of [coin, alpha, beta, exchange.usd]) await exchange.approve(account, token);
      await exchange.give(coin, account, 500n * E18);
      await exchange.give(alpha, account, 50_000n * E18);
    }
    await exchange.give(exchange.usd, wallet(1), 90_000n * E18);
    await chain.mine();

    let atMs = chain.nextAt * 1_000;
    await exchange.addV2(alpha, 1_000_000n * E18, coin, 100n * E18);
    await exchange.addV2(beta, 777_777_777_777n, coin, 33n * E18);
    await chain.mine(3);
    const bookOf = async (token: string, decimals: number, tokens: bigint, coins: bigint) => {
      const pool = await exchange.pairOf(token, coin);
      return { pool, token, decimals, tokens, coins };
    };
    ledger.list(atMs, await bookOf(alpha, 18, 1_000_000n * E18, 100n * E18), {
      symbol: "ALPHA",
      name: "Alpha",
    });
    ledger.list(atMs, await bookOf(beta, 6, 777_777_777_777n, 33n * E18), { symbol: "BETA", name: "Beta" });

    atMs = chain.nextAt * 1_000;
    await exchange.swapV2(wallet(1), 1_234_567_890_123_456_789n, [coin, alpha]);
    await exchange.swapV2(wallet(2), 17n, [coin, alpha]);
    await exchange.swapV2(wallet(3), 4_999n * E18, [alpha, coin]);
    await chain.mine();
    ledger.buy(atMs, alpha, 1_234_567_890_123_456_789n, wallet(1));
    ledger.buy(atMs, alpha, 17n, wallet(2));
    ledger.sell(atMs, alpha, 4_999n * E18, wallet(3));

    atMs = chain.nextAt * 1_000;
    await exchange.swapV2(wallet(2), 12_345n * E18, [alpha, coin, beta]);
    await chain.mine();
    ledger.inOneTransaction(() => {
      ledger.buy(atMs, beta, ledger.sell(atMs, alpha, 12_345n * E18, wallet(2)), wallet(2));
    });

    // The coin's price rises, and half a minute later the dollars of trades.
    atMs = chain.nextAt * 1_000;
    await exchange.swapV2(wallet(1), 60_000n * E18, [exchange.usd, coin]);
    await exchange.swapV2(wallet(1), 2n * E18, [coin, beta]);
    await chain.mine(30);
    ledger.buyCoins(atMs, 60_000n * E18);
    ledger.buy(atMs, beta, 2n * E18, wallet(1));
    for (const seconds of [1, 1, 1]) {
      atMs = chain.nextAt * 1_000;
      await exchange.swapV2(wallet(1), E18, [coin, beta]);
      await chain.mine(seconds);
      ledger.buy(atMs, beta, E18, wallet(1));
    }

    atMs = chain.nextAt * 1_000;
    const { tokens, coins } = ledger.book(alpha);
    await exchange.addV2(alpha, tokens, coin, coins);
    await chain.mine();
    ledger.move(atMs, alpha, tokens, coins);

    const before = await reservesOf(exchange, alpha);
    atMs = chain.nextAt * 1_000;
    await exchange.removeV2(alpha, coin, 9_000n);
    await chain.mine();
    const after = await reservesOf(exchange, alpha);
    ledger.move(atMs, alpha, after.tokens - before.tokens, after.coins - before.coins);

    expect(await eventsOf(exchange)).toEqual(ledger.events);
    const { tokens: tokensLeft, coins: coinsLeft } = ledger.book(alpha);
    expect(after).toEqual({ tokens: tokensLeft, coins: coinsLeft });
  });

  test("[anchor] a huge swap that is traded back in the next block changes no token's dollar value", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const { coin, usd } = exchange;
    const ledger = new Ledger();
    const token = await exchange.token("Calm", "CALM");
    for (const account of [wallet(1), wallet(2)])
      for (const one of [coin, usd]) await exchange.approve(account, one);
    await exchange.give(coin, wallet(1), 50n * E18);
    await exchange.give(usd, wallet(2), 6_000_000n * E18);
    let atMs = chain.nextAt * 1_000;
    await exchange.addV2(token, 2_000_000n * E18, coin, 100n * E18);
    await chain.mine();
    const pool = await exchange.pairOf(token, coin);
    const book = { pool, token, decimals: 18, tokens: 2_000_000n * E18, coins: 100n * E18 };
    ledger.list(atMs, book, { symbol: "CALM", name: "Calm" });
    const buy = async () => {
      await exchange.swapV2(wallet(1), E18, [coin, token]);
      ledger.buy(atMs, token, E18, wallet(1));
    };
    // Ten times the pool is paid in, so for one block the coin costs a hundred times as much.
    atMs = chain.nextAt * 1_000;
    await exchange.swapV2(wallet(2), 6_000_000n * E18, [usd, coin]);
    await buy();
    await chain.mine();
    const bought = ledger.buyCoins(atMs, 6_000_000n * E18);
    atMs = chain.nextAt * 1_000;
    await buy();
    await exchange.swapV2(wallet(2), bought, [coin, usd]);
    await buy();
    await chain.mine();
    ledger.sellCoins(atMs, bought);
    atMs = chain.nextAt * 1_000;
    await buy();
    await chain.mine();
    const events = await eventsOf(exchange);
    expect(events).toEqual(ledger.events);
    const paid = events.flatMap((event) => (event.kind === "trade" ? [event.quoteUsd] : []));
    expect(paid).toEqual(["600", "600", "600", "600"]);
  });

  test("[received] for a token with a transfer fee, the amount that the pool received counts, and the price follows from it", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const { coin } = exchange;
    const ledger = new Ledger();
    const token = await exchange.token("Toll", "TOLL", { fee: 500n });
    await exchange.approve(wallet(1), coin);
    await exchange.approve(wallet(1), token);
    await exchange.give(coin, wallet(1), 50n * E18);
    let atMs = chain.nextAt * 1_000;
    await exchange.addV2(token, 2_000_000n * E18, coin, 100n * E18);
    await chain.mine();
    const arrived = (units: bigint) => units - (units * 500n) / 10_000n;
    const pool = await exchange.pairOf(token, coin);
    const book = { pool, token, decimals: 18, tokens: arrived(2_000_000n * E18), coins: 100n * E18 };
    ledger.list(atMs, book, { symbol: "TOLL", name: "Toll" });

    atMs = chain.nextAt * 1_000;
    await exchange.swapV2(wallet(1), 3n * E18, [coin, token]);
    await chain.mine();
    const bought = ledger.buy(atMs, token, 3n * E18, wallet(1));
    expect(BigInt(await chain.read(token, "token", "balanceOf", [wallet(1)]))).toBe(arrived(bought));

    atMs = chain.nextAt * 1_000;
    await exchange.swapV2(wallet(1), 10_000n * E18, [token, coin]);
    await chain.mine();
    ledger.sell(atMs, token, arrived(10_000n * E18), wallet(1));
    expect(await eventsOf(exchange)).toEqual(ledger.events);
  });
});

/** Returns the reserves of the token's pool, by the tokens' own balances. */
async function reservesOf(exchange: Exchange, token: string) {
  const { chain, coin } = exchange;
  const pool = await exchange.pairOf(token, coin);
  const balanceOf = async (one: string) => BigInt(await chain.read(one, "token", "balanceOf", [pool]));
  return { tokens: await balanceOf(token), coins: await balanceOf(coin) };
}

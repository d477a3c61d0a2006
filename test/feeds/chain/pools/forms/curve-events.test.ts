import { expect, test } from "vitest";
import { eventsOf } from "../../market/collect.ts";
import { E18, Exchange } from "../../market/exchange.ts";
import { encodeLog } from "../../market/launchpad.ts";
import { divide, significant } from "../../market/ledger.ts";
import { describeOnAnvil } from "../../nodes/anvil.ts";
import { wallet } from "../../nodes/test-chain.ts";

/*
 * Uses a test contract on a real EVM. It emits the given logs, and returns the structures that
 * four.meme and flap publish.
 */

const NATIVE = `0x${"0".repeat(40)}`;

describeOnAnvil("launchpads as a node returns them", () => {
  test.each([
    ["four-meme", "the chain's own coin", true],
    ["four-meme", "a token", false],
    ["flap", "the chain's own coin", true],
  ] as const)(
    "[exact] %s: a curve for %s is identified by its contract's record",
    async (form, _, isNative) => {
      const exchange = await Exchange.open();
      await using chain = exchange.chain;
      const pad = await chain.deploy("launchpad");
      const token = await exchange.token("Meme", "MEME");
      const stranger = await exchange.token("Stranger", "STR");
      const quote = isNative ? NATIVE : exchange.coin;
      const account = wallet(1);
      const report = async (name: Parameters<typeof encodeLog>[0], args: Record<string, unknown>) => {
        const { topics, data } = encodeLog(name, args);
        await chain.send(account, pad, "launchpad", "report", [topics[0], data]);
      };
      const words = { name: "Meme", symbol: "MEME", meta: "cid", ts: 1n, nonce: 1n, requestId: 1n };
      const numbers = { totalSupply: E18, launchTime: 1n, launchFee: 1n, fee: 1n, price: 1n, offers: 1n };
      const create = (one: string) =>
        report(form === "flap" ? "TokenCreated" : "TokenCreate", {
          creator: account,
          token: one,
          ...words,
          ...numbers,
        });
      const [amount, cost] = [1_234_567n * E18 + 1n, E18 / 3n];
      // The price at which flap's curve has a third of a coin.
      const inside = (6_797_205_657_280_000_000_000_000_000n * E18) / (6_140_000_000_000_000_000n + cost);
      const postPrice = (6_797_205_657_280_000_000_000_000_000n * E18 * E18) / (inside * inside);
      const buy = (one: string) =>
        report(form === "flap" ? "TokenBought" : "TokenPurchase", {
          token: one,
          account,
          buyer: account,
          amount,
          cost,
          eth: cost,
          funds: cost,
          postPrice,
          ...words,
          ...numbers,
        });
      await chain.send(account, pad, "launchpad", "launch", [token, quote]);
      const at = chain.nextAt * 1_000;
      for (const one of [token, stranger]) {
        await create(one);
        await buy(one);
      }
      await chain.mine();
      const { network } = exchange;
      const events = await eventsOf({
        chain,
        network: {
          ...network,
          factories: [...network.factories, { name: "Launchpad", form, address: pad }],
          quotes: network.quotes.map((one) => ({ ...one, isWrappedCoin: !one.isStable })),
        },
      });
      const common = { at, group: "bsc", token } as const;
      const [listing, profile, liquidity, trade] = [
        { kind: "listing", ...common, pool: token, liquidity: "0" },
        { kind: "profile", ...common, symbol: "MEME", name: "Meme" },
        { kind: "liquidity", ...common, pool: token, cause: "sync" },
        {
          kind: "trade",
          ...common,
          pool: token,
          side: "buy",
          trader: account,
          price: significant(600n * cost, amount, 18),
          amount: divide(amount, E18, 18),
          quoteUsd: divide(600n * cost, E18, 18),
        },
      ];
      expect(events).toMatchObject([profile, listing, liquidity, trade]);
      const usd = events.flatMap((event) => (event.kind === "liquidity" ? [Number(event.usd)] : []));
      expect(usd[0]).toBeCloseTo(400, form === "flap" ? 4 : 12);
    },
  );
});

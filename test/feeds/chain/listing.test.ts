import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { eventsOf } from "./market/collect.ts";
import { E18, Exchange } from "./market/exchange.ts";
import { describeOnAnvil } from "./nodes/anvil.ts";
import { OWNER } from "./nodes/test-chain.ts";

/** Lists the liquidity events: the kind or cause, and the dollars. */
function summary(events: readonly MarketEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.kind === "listing") return [`listing ${event.liquidity}`];
    return event.kind === "liquidity" ? [`${event.cause} ${event.usd}`] : [];
  });
}

describeOnAnvil("the listing of a token", () => {
  test("[listing] is published once, when the pool first has real liquidity: not at its creation, and not again after it was emptied", async () => {
    const exchange = await Exchange.open();
    await using chain = exchange.chain;
    const { coin, v2Factory } = exchange;
    const token = await exchange.token("Slow", "SLOW");
    await chain.send(OWNER, v2Factory, "v2Factory", "createPair", [token, coin]);
    await chain.mine();
    const thousandth = E18 / 1_000n;
    // A quarter of a coin is 150 dollars, with as much on the other side.
    await exchange.addV2(token, 1_000n * E18, coin, 250n * thousandth);
    await chain.mine();
    await exchange.addV2(token, 2_000n * E18, coin, 500n * thousandth);
    await chain.mine();
    await exchange.addV2(token, 8_000n * E18, coin, 2_000n * thousandth);
    await chain.mine();
    await exchange.removeV2(token, coin, 10_000n);
    await chain.mine();
    await exchange.addV2(token, 80_000n * E18, coin, 20n * E18);
    await chain.mine();
    const lines = summary(await eventsOf(exchange));
    expect(lines.slice(0, 3)).toEqual(["add 300", "add 900", "listing 3300"]);
    expect(lines.slice(3).map((line) => line.split(" ")[0])).toEqual(["remove", "add"]);
  });
});

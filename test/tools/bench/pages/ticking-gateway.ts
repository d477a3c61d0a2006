import { createConfig, startGateway } from "../../../../src/index.ts";
import { TickingMarket } from "./ticking-market.ts";

/** Twenty times a second. */
const EVERY_MS = 50;

/**
 * Starts a gateway with this many flares. `changes` of them change twenty times a second, until the
 * gateway is disposed.
 */
export async function startTicking(count: number, changes: number) {
  const market = new TickingMarket(count);
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent" });
  const gateway = await startGateway(config, { source: market });
  const ticking = setInterval(() => market.tick(changes), EVERY_MS);
  return {
    url: gateway.url,
    [Symbol.asyncDispose]: async () => {
      clearInterval(ticking);
      await gateway.stop();
    },
  };
}

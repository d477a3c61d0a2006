import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import { ACCEPT, AGGREGATED, listUrl, readPools } from "./gecko-terminal.ts";

export function aggregatorProbes(url: string, clock: Clock): readonly Probe[] {
  const client = new ServiceClient({ clock, pauseMs: 500, headers: { accept: ACCEPT } });
  return AGGREGATED.map((network) => ({
    service: "geckoterminal",
    what: `${network.id} pools`,
    host: new URL(url).hostname,
    run: async (signal) => {
      const read = (body: unknown) => readPools(body, network, clock.now());
      const pools = await client.require({ url: listUrl(url, network, "trending"), read }, signal);
      if (pools.length === 0) throw new UnexpectedAnswer("lists no pool");
      return `${pools.length} trending pools`;
    },
  }));
}

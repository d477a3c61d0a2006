import type { Clock } from "../../lib/time/clock.ts";
import { ACCEPT, AGGREGATED, listUrl, readPools } from "../aggregator/gecko-terminal.ts";
import { ServiceClient, UnexpectedAnswer } from "../service/service-client.ts";
import type { Probe } from "./probe.ts";

export function aggregatorProbes(url: string, clock: Clock): readonly Probe[] {
  const client = new ServiceClient({ clock, pauseMs: 500, headers: { accept: ACCEPT } });
  return AGGREGATED.map((network) => ({
    service: "geckoterminal",
    what: `${network.id} pools`,
    host: new URL(url).hostname,
    run: async (signal) => {
      const asked = await client.ask(
        {
          url: listUrl(url, network, "trending"),
          read: (body) => readPools(body, network, clock.now()),
          tries: 1,
        },
        signal,
      );
      if (asked.kind === "absent") throw new UnexpectedAnswer("answered 404");
      if (asked.kind !== "ok") throw new UnexpectedAnswer(asked.reason);
      if (asked.value.length === 0) throw new UnexpectedAnswer("lists no pool");
      return `${asked.value.length} trending pools`;
    },
  }));
}

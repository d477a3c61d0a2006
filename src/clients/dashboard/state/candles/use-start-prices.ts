import { useEffect, useRef, useState } from "preact/hooks";
import type { GroupName } from "../../../../base/model/groups.ts";
import type { EventMessage } from "../../../sdk/index.ts";
import { eventPages } from "../feed/event-pages.ts";
import { key, server } from "../store.ts";

/** Maximum number of prices to remember, so that a page may stay open for weeks. */
const MAX_PRICES = 2_000;

/**
 * Returns the prices at the start of the flares whose start is in the server's log, by flare id.
 * Reads the log when the page opens, and its new part when the list begins with another flare. A
 * failed or refused request changes nothing.
 */
export function useStartPrices(
  group: GroupName,
  /** The id of the list's first flare; `undefined` if there is none. */
  newest: string | undefined,
): ReadonlyMap<string, number> {
  const [prices, setPrices] = useState<ReadonlyMap<string, number>>(new Map());
  const after = useRef("oldest");
  useEffect(() => {
    if (newest === undefined) return;
    const over = new AbortController();
    const read = async () => {
      const channels = group === "bsc" ? "flares.*" : `flares.${group}.*`;
      const chosen = { after: after.current, channels, names: "flare-started" };
      for await (const page of eventPages(server.value, key.value, over.signal, chosen)) {
        // A refusal may mean that the log has started over.
        after.current = page?.cursor ?? "oldest";
        const found = page?.events.flatMap(startOf) ?? [];
        if (found.length > 0) setPrices((before) => new Map([...before, ...found].slice(-MAX_PRICES)));
      }
    };
    read().catch(() => {});
    return () => over.abort();
  }, [key.value, group, newest]);
  return prices;
}

/** The free list has flares only minutes after their start. */
function startOf({ name, data }: EventMessage): readonly (readonly [id: string, price: number])[] {
  if (name !== "flare-started" || !("flare" in data) || !("cause" in data) || data.cause !== "detected")
    return [];
  const price = Number(data.flare.token.price);
  return price > 0 ? [[data.flare.id, price]] : [];
}

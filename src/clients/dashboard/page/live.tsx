import { render } from "preact";
import { GROUPS } from "../../../base/model/groups.ts";
import type { TokenDetails } from "../../../base/model/index.ts";
import { key, renderedMs, server } from "../state/store.ts";
import { fetchWithKey } from "../state/visitor/fetch-with-key.ts";
import { LiveToken } from "./live-token.tsx";

/*
 * Makes the page that the server rendered follow the market. If that fails, the page stays as it
 * is.
 */

const place = document.getElementById("live");
if (place) void start(place);

async function start(element: HTMLElement): Promise<void> {
  const { group: name, token = "", flare, root = "./", market, now } = element.dataset;
  const group = GROUPS.find((known) => known === name);
  if (group === undefined) return;
  server.value = new URL(root, location.href);
  renderedMs.value = Number(now);
  const url = new URL(`api/v1/tokens/${group}/${encodeURIComponent(token)}`, server.value);
  const response = await fetchWithKey(url, key.value, new AbortController().signal).catch(() => undefined);
  if (!response?.ok) return;
  const initial = (await response.json()) as TokenDetails;
  if (flare !== undefined && !initial.flares.some((record) => record.flare.id === flare)) return;
  render(
    <LiveToken group={group} tokenKey={token} flareId={flare} market={market} initial={initial} />,
    element,
  );
}

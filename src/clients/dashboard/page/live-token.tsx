import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AlertsButton, AlertsPanel } from "../parts/alerts/bell.tsx";
import { Announcer, Outage } from "../parts/notices.tsx";
import { Search } from "../parts/search.tsx";
import { StatusBar } from "../parts/status-bar.tsx";
import { Alerts, PageAlerts } from "../state/alerts/page-alerts.ts";
import type { RangeName } from "../state/candles/ranges.ts";
import { key, server, startFollowing } from "../state/store.ts";
import { TokenView, type TokenViewProps } from "../views/token.tsx";

type LiveTokenProps = Pick<TokenViewProps, "group" | "tokenKey" | "flareId" | "initial" | "market">;

/** A token's page outside the dashboard, with the dashboard's stream, keys and alerts. */
export function LiveToken({ group, ...token }: LiveTokenProps) {
  const [alerts] = useState(() => new PageAlerts(server.peek(), key.peek()));
  const [range, setRange] = useState<RangeName>();
  const [isPanelOpen, setPanelOpen] = useState(false);
  const [control] = useState(() => ({ alerts, openPanel: () => setPanelOpen(true) }));
  const shown = useSignal(group);
  useEffect(() => startFollowing(alerts, shown), []);
  useEffect(() => {
    // The header of the page is outside its content.
    const place = document.getElementById("tools");
    const tools = (
      <Alerts.Provider value={control}>
        <Search />
        <StatusBar />
        <AlertsButton label="Alerts" />
      </Alerts.Provider>
    );
    if (place) render(tools, place);
  }, []);
  return (
    <Alerts.Provider value={control}>
      <TokenView {...token} group={group} range={range} onRange={setRange} level={1} />
      <Outage />
      <Announcer />
      {isPanelOpen && <AlertsPanel query={undefined} onClose={() => setPanelOpen(false)} />}
    </Alerts.Provider>
  );
}

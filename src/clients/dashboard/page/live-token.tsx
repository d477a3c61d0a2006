import { useMemo, useState } from "preact/hooks";
import { eventTimeOf, useSeen } from "../app.tsx";
import { AlertsPanel } from "../parts/alerts/bell.tsx";
import { Announcer } from "../parts/announcer.tsx";
import { NowS } from "../parts/flare/age.tsx";
import { IsAnonymous, IsOld, Market, UNKNOWN_MARKET } from "../parts/market.ts";
import { Outage } from "../parts/outage.tsx";
import { Alerts, PageAlerts } from "../state/alerts/page-alerts.ts";
import type { RangeName } from "../state/candles/ranges.ts";
import { useGroupFlares } from "../state/group/use-group-flares.ts";
import { isOld } from "../state/judge.ts";
import { storedKey } from "../state/visitor/stored-key.ts";
import { TokenView, type TokenViewProps } from "../views/token.tsx";

interface LiveTokenProps
  extends Pick<TokenViewProps, "server" | "group" | "tokenKey" | "flareId" | "initial"> {
  readonly market: string | undefined;
  /** Event time of the page that the server rendered. */
  readonly renderedMs: number;
}

/** A token's page outside the dashboard, with the dashboard's stream, keys and alerts. */
export function LiveToken({ server, group, renderedMs, ...token }: LiveTokenProps) {
  const [key] = useState(storedKey);
  const [alerts] = useState(() => new PageAlerts(server, key));
  const [range, setRange] = useState<RangeName>();
  const [isPanelOpen, setPanelOpen] = useState(false);
  const seen = useSeen(server, key, alerts);
  const other = useGroupFlares(server, key, group === "bsc" ? "exchange" : group, alerts, group !== "bsc");
  const control = useMemo(() => ({ alerts, openPanel: () => setPanelOpen(true) }), [alerts]);
  const nowMs = seen?.view ? eventTimeOf(seen) : renderedMs;
  return (
    <Alerts.Provider value={control}>
      <NowS value={Math.floor(nowMs / 1_000)}>
        <Market.Provider value={seen?.access ?? UNKNOWN_MARKET}>
          <IsAnonymous.Provider value={key === undefined}>
            <IsOld.Provider value={seen !== undefined && isOld(seen)}>
              <TokenView
                {...token}
                server={server}
                group={group}
                range={range}
                nowMs={nowMs}
                onRange={setRange}
                view={seen?.view}
                lists={group === "bsc" ? seen?.view : other?.lists}
                apiKey={key}
                level={1}
              />
            </IsOld.Provider>
          </IsAnonymous.Provider>
        </Market.Provider>
      </NowS>
      {seen && <Outage seen={seen} />}
      <Announcer seen={seen} />
      {isPanelOpen && <AlertsPanel query={undefined} server={server} onClose={() => setPanelOpen(false)} />}
    </Alerts.Provider>
  );
}

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { GroupName } from "../../base/model/groups.ts";
import { OTHER_GROUPS } from "../../base/model/groups.ts";
import type { View } from "../sdk/index.ts";
import { Plan, Refused } from "./parts/access/access-panel.tsx";
import { AlertsButton, AlertsPanel } from "./parts/alerts/bell.tsx";
import { Announcer } from "./parts/announcer.tsx";
import { NowS } from "./parts/flare/age.tsx";
import { KnownGroups, knownGroups } from "./parts/groups.tsx";
import type { KeyListProps } from "./parts/keys.tsx";
import { IsAnonymous, IsOld, lackedFacts, Market, UNKNOWN_MARKET } from "./parts/market.ts";
import { Navigation, pageTitle } from "./parts/navigation.tsx";
import { onDemand } from "./parts/on-demand.tsx";
import { Outage, Waiting } from "./parts/outage.tsx";
import { Search } from "./parts/search.tsx";
import { StatusBar } from "./parts/status-bar.tsx";
import { type Route, tokenHash } from "./route.ts";
import { Alerts, PageAlerts } from "./state/alerts/page-alerts.ts";
import { DEFAULT_QUERY, shownQuery } from "./state/flare-query.ts";
import { type Following, follow } from "./state/follow.ts";
import type { FlareLists } from "./state/group/flare-lists.ts";
import { useGroupFlares } from "./state/group/use-group-flares.ts";
import { filledShare, isOld, withGroup } from "./state/judge.ts";
import type { Seen } from "./state/seen.ts";
import { type Go, useRoute } from "./state/use-route.ts";
import { storedKey, storeKey } from "./state/visitor/stored-key.ts";
import type { DevelopersViewProps } from "./views/developers.tsx";
import type { FeedViewProps } from "./views/feed.tsx";
import type { MarketsViewProps } from "./views/markets.tsx";
import { type FlaresViewProps, NowView } from "./views/now.tsx";
import type { RecordViewProps } from "./views/record.tsx";
import type { TokenView as LoadedTokenView } from "./views/token.tsx";

/** Event time is assumed to advance with the clock for at most this long without new data. */
const MAX_GUESSED_MS = 15_000;

const FeedView = onDemand<FeedViewProps>(async () => (await import("./views/feed.tsx")).FeedView);
const FinishedView = onDemand<FlaresViewProps>(
  async () => (await import("./views/finished.tsx")).FinishedView,
);
const MarketsView = onDemand<MarketsViewProps>(async () => (await import("./views/markets.tsx")).MarketsView);
const TokenView = onDemand<Parameters<typeof LoadedTokenView>[0]>(
  async () => (await import("./views/token.tsx")).TokenView,
);
const RecordView = onDemand<RecordViewProps>(async () => (await import("./views/record.tsx")).RecordView);
const DevelopersView = onDemand<DevelopersViewProps>(
  async () => (await import("./views/developers.tsx")).DevelopersView,
);
const KeyList = onDemand<KeyListProps>(async () => (await import("./parts/keys.tsx")).KeyList);

export function App({ server }: { readonly server: URL }) {
  const [key, setKey] = useState(storedKey);
  const [alerts] = useState(() => new PageAlerts(server, key));
  const [isPanelOpen, setPanelOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => {
    const over = new AbortController();
    // Not needed for the first picture.
    import("./parts/keys.tsx").then(
      ({ handleKeys }) => handleKeys(() => setHelpOpen(true), over.signal),
      () => {},
    );
    return () => over.abort();
  }, []);
  const followed = useSeen(server, key, alerts);
  const switchKey = (given: string | undefined, isStored = false) => {
    storeKey(isStored ? given : undefined);
    setKey(given);
    alerts.key = given;
  };
  // Wait for the visitor's access, which appears above the lists and would move them.
  const isReady =
    followed?.view !== undefined && followed.access !== undefined && followed.refused === undefined;
  const [route, go] = useRoute(isReady);
  const group = groupOf(route);
  const alerted = new Set(alerts.queries.map((query) => query.group));
  const others = OTHER_GROUPS.map((name) =>
    useGroupFlares(server, key, name, alerts, name === group || alerted.has(name)),
  );
  const other = others.find((one) => one?.group === group);
  const seen = withGroup(followed, other);
  const lists = group === "bsc" ? seen?.view : other?.lists;
  const title = pageTitle(route);
  useEffect(() => {
    if (title !== undefined) alerts.title = title;
  }, [title]);
  const market = seen?.access ?? UNKNOWN_MARKET;
  const lacked = lackedFacts(market);
  const panel = seen && { seen, hasKey: key !== undefined, onKey: switchKey };
  const control = useMemo(() => ({ alerts, openPanel: () => setPanelOpen(true) }), [alerts]);
  return (
    <Alerts.Provider value={control}>
      <header>
        <h1>
          <a href="#/now">
            <Flame />
            Flarewire
          </a>
        </h1>
        <Navigation route={route} group={group} lists={lists} />
        <Search view={seen?.view} others={others} />
        <StatusBar seen={seen} />
        <AlertsButton label="Alerts" />
      </header>
      <main id="content" tabIndex={-1} class={mainClass(seen, lacked)}>
        {panel && isReady && <Plan {...panel} />}
        {seen?.refused === undefined ? (
          <NowS value={Math.floor(eventTimeOf(followed) / 1_000)}>
            {seen?.view && isReady ? (
              <Market.Provider value={market}>
                <KnownGroups.Provider value={knownGroups(seen.view)}>
                  <IsAnonymous.Provider value={key === undefined}>
                    <IsOld.Provider value={isOld(seen)}>
                      <Page
                        route={route}
                        go={go}
                        seen={seen}
                        lists={lists}
                        server={server}
                        view={seen.view}
                        apiKey={key}
                      />
                    </IsOld.Provider>
                  </IsAnonymous.Provider>
                </KnownGroups.Provider>
              </Market.Provider>
            ) : (
              <Waiting seen={seen} />
            )}
          </NowS>
        ) : (
          panel && <Refused {...panel} server={server} />
        )}
      </main>
      {seen && <Outage seen={seen} />}
      {/* Remounts when the key changes, so that it forgets the flares that it announced. */}
      <Announcer key={key ?? ""} seen={seen} />
      {/* Appears with the page, which would otherwise push it down. */}
      <footer hidden={!isReady && seen?.refused === undefined}>
        <div class="site-links">
          <SiteLinks server={server} />
        </div>
        {seen?.access?.parts.includes("aggregator") && (
          <span>
            Pools: <a href="https://www.geckoterminal.com">GeckoTerminal</a>
          </span>
        )}
        <span>Not advice: a flare means that a market is moving, not where it is going.</span>
      </footer>
      {isHelpOpen && <KeyList onClose={() => setHelpOpen(false)} />}
      {isPanelOpen && (
        <AlertsPanel
          query={isOfFlares(route) ? shownQuery(route.query, lists) : undefined}
          server={server}
          onClose={() => setPanelOpen(false)}
        />
      )}
    </Alerts.Provider>
  );
}

/** The mark of the product, as in its icon. */
function Flame() {
  return (
    <svg class="flame" viewBox="3 0.5 10 14.5" aria-hidden="true">
      <path d="M8 1c.6 3 4.5 4.6 4.5 8.6A4.5 4.5 0 0 1 8 14.5a4.5 4.5 0 0 1-4.5-4.9C3.5 7.5 5 6.5 5.3 4.8 6.5 5.4 7 6.4 7.1 7.3 8.2 5.900 8.5 3.5 8 1z" />
    </svg>
  );
}

/** Links in the footer. */
function SiteLinks({ server }: { readonly server: URL }) {
  return (
    <>
      <a href={new URL("docs", server).pathname}>Docs</a>
      <a href={new URL("widgets", server).pathname}>Widgets</a>
      <a href={new URL("docs/source", server).pathname}>Source</a>
    </>
  );
}

/** Returns classes that gray old data and hide columns of facts that the source cannot know. */
function mainClass(seen: Seen | undefined, lacked: readonly string[]): string {
  return [...(seen && isOld(seen) ? ["old"] : []), ...lacked.map((fact) => `lacks-${fact}`)].join(" ");
}

/** Returns the group whose flares the page shows: of pages without flares, the default group. */
function groupOf(route: Route): GroupName {
  if (route.page === "token") return route.group;
  return isOfFlares(route) ? route.query.group : DEFAULT_QUERY.group;
}

function isOfFlares(route: Route): route is Extract<Route, { page: "now" | "finished" }> {
  return route.page === "now" || route.page === "finished";
}

interface PageProps {
  readonly route: Route;
  readonly go: Go;
  readonly seen: Seen;
  readonly view: View;
  /** The flares of the shown group; `undefined` before they load, an Error if they were refused. */
  readonly lists: FlareLists | Error | undefined;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

function Page({ route, go, seen, view, lists, server, apiKey }: PageProps) {
  switch (route.page) {
    case "now":
    case "finished": {
      if (lists instanceof Error)
        return (
          <p class="empty" role="status">
            These flares did not load: {lists.message}
          </p>
        );
      if (!lists) return <p class="empty">Loading…</p>;
      const View = route.page === "now" ? NowView : FinishedView;
      const { query } = route;
      const hasKeys = seen.access?.plan !== undefined;
      const filled = filledShare(seen.freshness);
      return (
        <View
          key={`${route.page} ${query.group}`}
          query={query}
          go={go}
          lists={lists}
          server={server}
          apiKey={apiKey}
          hasKeys={hasKeys}
          filled={filled}
        />
      );
    }
    case "markets":
      return (
        <MarketsView
          board={route.board}
          group={route.group}
          view={view}
          go={go}
          hasListings={!lackedFacts(seen.access ?? UNKNOWN_MARKET).includes("listings")}
        />
      );
    case "feed":
      return <FeedView hasUpdates={route.hasUpdates} go={go} seen={seen} server={server} apiKey={apiKey} />;
    case "developers":
      return <DevelopersView server={server} hasKeys={seen.access?.plan !== undefined} />;
    case "record":
      return (
        <RecordView
          group={route.group}
          window={route.window}
          go={go}
          server={server}
          apiKey={apiKey}
          isSimulated={seen?.access?.origin === "simulated"}
        />
      );
    case "token":
      return (
        <TokenView
          key={`${route.group} ${route.token}`}
          group={route.group}
          tokenKey={route.token}
          range={route.range}
          onRange={(range) => go(tokenHash(route.group, route.token, range), "push")}
          view={view}
          lists={lists}
          nowMs={eventTimeOf(seen)}
          server={server}
          apiKey={apiKey}
          level={2}
        />
      );
  }
}

/** Estimates the current event time. Before the first data, returns the clock's time. */
export function eventTimeOf(seen: Seen | undefined): number {
  const freshness = seen?.freshness;
  if (!freshness?.observedAt) return Date.now();
  return Date.parse(freshness.observedAt) + Math.min(freshness.ageMs, MAX_GUESSED_MS);
}

/**
 * Returns the page's state, updated at each change and each second. `undefined` until there is one
 * for this key, so that a form for a new key never shows, and then vanishes with what was typed.
 */
export function useSeen(server: URL, key: string | undefined, alerts: PageAlerts): Seen | undefined {
  const [latest, setLatest] = useState<{ readonly key: string | undefined; readonly seen: Seen }>();
  const following = useRef<Following>(undefined);
  useEffect(() => {
    const show = () => following.current && setLatest({ key, seen: following.current.now() });
    following.current = follow(server, key, alerts, show);
    return () => following.current?.stop();
  }, [server.href, key]);
  return latest?.key === key ? latest?.seen : undefined;
}

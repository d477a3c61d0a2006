import { useComputed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { AlertsButton, AlertsPanel } from "./parts/alerts/bell.tsx";
import { Navigation, pageTitle } from "./parts/navigation.tsx";
import { Announcer, Outage, Plan, Refused, Waiting } from "./parts/notices.tsx";
import { onDemand } from "./parts/on-demand.tsx";
import { Search } from "./parts/search.tsx";
import { StatusBar } from "./parts/status-bar.tsx";
import { type Route, tokenHash } from "./route.ts";
import { Alerts, PageAlerts } from "./state/alerts/page-alerts.ts";
import { shownQuery } from "./state/flare-query.ts";
import {
  access,
  isPast,
  key,
  lackedFacts,
  listsOf,
  seen,
  server,
  startFollowing,
  switchZone,
  view,
} from "./state/store.ts";
import { go, route, shownGroup, useScrollPosition } from "./state/use-route.ts";
import { zone } from "./text/format.ts";
import { NowView } from "./views/now.tsx";

const FeedView = onDemand(async () => (await import("./views/feed.tsx")).FeedView);
const FinishedView = onDemand(async () => (await import("./views/finished.tsx")).FinishedView);
const MarketsView = onDemand(async () => (await import("./views/markets.tsx")).MarketsView);
const TokenView = onDemand(async () => (await import("./views/token.tsx")).TokenView);
const RecordView = onDemand(async () => (await import("./views/record.tsx")).RecordView);
const DevelopersView = onDemand(async () => (await import("./views/developers.tsx")).DevelopersView);
const KeyList = onDemand(async () => (await import("./parts/keys.tsx")).KeyList);

export function App() {
  const [alerts] = useState(() => new PageAlerts(server.peek(), key.peek()));
  const [isPanelOpen, setPanelOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [control] = useState(() => ({ alerts, openPanel: () => setPanelOpen(true) }));
  useEffect(() => startFollowing(alerts, shownGroup), []);
  useEffect(() => {
    const over = new AbortController();
    // Not needed for the first picture.
    import("./parts/keys.tsx").then(
      ({ handleKeys }) => handleKeys(() => setHelpOpen(true), over.signal),
      () => {},
    );
    return () => over.abort();
  }, []);
  const isRefused = useComputed(() => seen.value?.refused !== undefined).value;
  // Wait for the visitor's access, which appears above the lists and would move them.
  const isReady =
    useComputed(() => view.value !== undefined && access.value !== undefined).value && !isRefused;
  useScrollPosition(isReady);
  const shown = route.value;
  const title = pageTitle(shown);
  useEffect(() => {
    if (title !== undefined) alerts.title = title;
  }, [title]);
  // Old data is gray, and facts that the source cannot know have no columns.
  const classes = [...(isPast.value ? ["old"] : []), ...lackedFacts.value.map((fact) => `lacks-${fact}`)];
  return (
    <Alerts.Provider value={control}>
      <header>
        <h1>
          <a href="#/now">
            <Flame />
            Flarewire
          </a>
        </h1>
        <Navigation />
        <Search />
        <StatusBar />
        <AlertsButton label="Alerts" />
      </header>
      <main id="content" tabIndex={-1} class={classes.join(" ")}>
        {isReady && <Plan />}
        {isRefused ? <Refused /> : isReady ? <Page shown={shown} /> : <Waiting />}
      </main>
      <Outage />
      <Announcer />
      {/* Appears with the page, which would otherwise push it down. */}
      <footer hidden={!isReady && !isRefused}>
        <div class="site-links">
          <SiteLinks />
        </div>
        <button type="button" class="plain" onClick={switchZone}>
          {zone.value === "UTC" ? "Times are UTC. Show local time" : "Times are local. Show UTC"}
        </button>
        {access.value?.parts.includes("aggregator") && (
          <span>
            Pools: <a href="https://www.geckoterminal.com">GeckoTerminal</a>
          </span>
        )}
        <span>Not advice: a flare means that a market is moving, not where it is going.</span>
      </footer>
      {isHelpOpen && <KeyList onClose={() => setHelpOpen(false)} />}
      {isPanelOpen && (
        <AlertsPanel
          query={"query" in shown ? shownQuery(shown.query, listsOf(shown.query.group)) : undefined}
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
function SiteLinks() {
  return ["Docs", "Widgets", "Source"].map((label) => {
    const path = label === "Source" ? "docs/source" : label.toLowerCase();
    return (
      <a key={path} href={new URL(path, server.value).pathname}>
        {label}
      </a>
    );
  });
}

function Page({ shown }: { readonly shown: Route }) {
  switch (shown.page) {
    case "now":
    case "finished": {
      const lists = listsOf(shown.query.group);
      if (lists instanceof Error)
        return (
          <p class="empty" role="status">
            These flares did not load: {lists.message}
          </p>
        );
      if (!lists) return <p class="empty">Loading…</p>;
      const View = shown.page === "now" ? NowView : FinishedView;
      return <View key={`${shown.page} ${shown.query.group}`} query={shown.query} lists={lists} />;
    }
    case "markets":
      return <MarketsView board={shown.board} group={shown.group} />;
    case "feed":
      return seen.value && <FeedView hasUpdates={shown.hasUpdates} seen={seen.value} />;
    case "developers":
      return <DevelopersView />;
    case "record":
      return <RecordView group={shown.group} window={shown.window} />;
    case "token":
      return (
        <TokenView
          key={`${shown.group} ${shown.token}`}
          group={shown.group}
          tokenKey={shown.token}
          range={shown.range}
          onRange={(range) => go(tokenHash(shown.group, shown.token, range), "push")}
          level={2}
        />
      );
  }
}

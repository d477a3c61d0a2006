import { useEffect, useRef, useState } from "preact/hooks";
import { type Following, follow, type Seen } from "./follow.ts";
import { Announcer } from "./parts/announcer.tsx";
import { KeyForm } from "./parts/key-form.tsx";
import { Navigation } from "./parts/navigation.tsx";
import { StatusBar } from "./parts/status-bar.tsx";
import { type Route, readRoute } from "./route.ts";
import { ChartsView } from "./views/charts.tsx";
import { EventsView } from "./views/events.tsx";
import { FlaresView } from "./views/flares.tsx";
import { LeaderboardsView } from "./views/leaderboards.tsx";
import { NewestView } from "./views/newest.tsx";
import { TokenView } from "./views/token.tsx";

/** Where a key that the visitor gave lies, until the tab is closed. */
const KEY = "flarewire-key";
/** How often what counts time is painted when nothing happens. */
const TICK_MS = 1_000;

/** The whole page: what the server at `server` says, live. */
export function App({ server }: { readonly server: URL }) {
  const [key, setKey] = useState(keptKey);
  const seen = useSeen(server, key);
  const route = useRoute();
  const giveKey = (given: string) => {
    keepKey(given);
    setKey(given);
  };
  return (
    <>
      <header>
        <h1>Flarewire</h1>
        <Navigation route={route} view={seen?.view} />
        <StatusBar seen={seen} />
      </header>
      <main id="content" tabIndex={-1}>
        {seen?.refused === undefined ? (
          <Page route={route} seen={seen} server={server} apiKey={key} />
        ) : (
          <KeyForm reason={seen.refused} onKey={giveKey} />
        )}
      </main>
      <Announcer seen={seen} />
      <footer>
        <a href={new URL("docs", server).pathname}>API and events</a>
        <span>Not advice: a flare says that a market moves, not where it goes.</span>
      </footer>
    </>
  );
}

/** The key that this tab was given; none where the browser keeps nothing, as a visitor may wish. */
function keptKey(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function keepKey(key: string): void {
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // It serves until the page is loaded again.
  }
}

interface PageProps {
  readonly route: Route;
  readonly seen: Seen | undefined;
  readonly server: URL;
  readonly apiKey: string | undefined;
}

function Page({ route, seen, server, apiKey }: PageProps) {
  if (!seen?.view) return <p class="empty">Waiting for the first answer of the server…</p>;
  const { view, freshness } = seen;
  const nowMs = freshness?.observedAt ? Date.parse(freshness.observedAt) : Date.now();
  switch (route.page) {
    case "flares":
      return <FlaresView view={view} nowMs={nowMs} />;
    case "newest":
      return <NewestView view={view} nowMs={nowMs} />;
    case "charts":
      return <ChartsView view={view} />;
    case "leaderboards":
      return <LeaderboardsView view={view} />;
    case "events":
      return <EventsView events={seen.events} count={seen.count} />;
    case "token":
      return (
        <TokenView
          key={route.address}
          address={route.address}
          view={view}
          nowMs={nowMs}
          server={server}
          apiKey={apiKey}
        />
      );
  }
}

/** What the server says, painted anew for each change and each second. */
function useSeen(server: URL, key: string | undefined): Seen | undefined {
  const [seen, setSeen] = useState<Seen>();
  const following = useRef<Following>(undefined);
  useEffect(() => {
    const show = () => setSeen(following.current?.now());
    following.current = follow(server, key, show);
    const tick = setInterval(show, TICK_MS);
    return () => {
      clearInterval(tick);
      following.current?.stop();
    };
  }, [server.href, key]);
  return seen;
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const look = () => {
      // The link to the content is an address of its own, and no page.
      if (location.hash === "#content") return;
      setRoute(readRoute(location.hash));
      document.getElementById("content")?.focus({ preventScroll: true });
      scrollTo(0, 0);
    };
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return route;
}

// For places without WebSocket: polls the list of flares over REST, and prints what is new, by
// flare id. An unchanged response costs next to nothing (304). A flare that starts and ends between
// two polls is reported too. Without a key, a server with keys has only the list `free`: flares
// that are five minutes old.
//
//   npx node examples/poll.ts http://127.0.0.1:8080 1
//
// The second argument is the number of seconds between polls.

import { setTimeout as sleep } from "node:timers/promises";

type Flare = {
  id: string;
  started_trending_at: string;
  finished_trending_at: string | null;
  token: { symbol: string };
};
type Flares = { pro: Flare[]; free: Flare[]; finished_trending: Flare[] };

const server = (process.argv[2] ?? "http://127.0.0.1:8080").replace(/\/$/, "");
const pauseMs = Number(process.argv[3] ?? 1) * 1_000;
if (!(pauseMs >= 100)) fail(`pause must be at least 0.1 seconds, got "${process.argv[3]}"`);

const key = process.env.FLAREWIRE_CLIENT_KEY;
const authorization = key ? { Authorization: `Bearer ${key}` } : {};
let etag: string | undefined;
let list: "pro" | "free" = "pro";
let running = new Map<string, Flare>();
let reported = new Set<string>();
let finished = new Set<string>();
let sourceState = "live";

for (let first = true, failures = 0; ; ) {
  let waitMs = pauseMs;
  try {
    const answer = await fetch(`${server}/api/v1/flares`, {
      headers: { ...authorization, ...(etag === undefined ? {} : { "If-None-Match": etag }) },
      signal: AbortSignal.timeout(10_000),
    });
    reportFreshness(answer.headers);
    if (answer.status === 200) {
      const flares: Flares = JSON.parse(await answer.text());
      const isLate = answer.headers.get("flarewire-plan") === "free";
      if (isLate && list === "pro") console.error("following flares.free: starts are 5 minutes late");
      list = isLate ? "free" : "pro";
      report(flares, first, answer.headers.get("flarewire-observed-at") ?? "");
      if (first) console.error(`running flares: ${running.size}; waiting for starts and finishes`);
      etag = answer.headers.get("etag") ?? undefined;
      first = false;
    } else if (answer.status !== 304) {
      const problem = (await answer.text()).slice(0, 300);
      if (answer.status < 500 && answer.status !== 408 && answer.status !== 429)
        fail(`${answer.status}: ${problem}`);
      // Busy or not ready: the server states when to retry.
      const afterS = Number(answer.headers.get("retry-after"));
      throw new Error(`${answer.status}: ${problem}`, {
        cause: Number.isFinite(afterS) ? afterS * 1_000 : 0,
      });
    }
    failures = 0;
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    const askedMs = typeof cause === "number" ? cause : 0;
    waitMs = Math.max(askedMs, 1_000) + Math.random() * Math.min(30_000, 1_000 * 2 ** failures);
    failures += 1;
    // "fetch failed" has its reason in the cause.
    const why = cause instanceof Error ? `${message} (${cause.message || cause})` : message;
    console.error(`request failed: ${why}; retrying in ${(waitMs / 1_000).toFixed(1)} s`);
  }
  await sleep(waitMs);
}

/**
 * Reports when the data stops being fresh, and when it is again. A 304 states the data's age too.
 */
function reportFreshness(headers: Headers): void {
  const state = headers.get("flarewire-source-state") ?? sourceState;
  const age = headers.get("flarewire-data-age") ?? "?";
  if (state !== sourceState) console.error(`the source is ${state}; the data is ${age} s old`);
  sourceState = state;
}

/** Prints the changes since the last poll. The first poll prints running flares only. */
function report(flares: Flares, first: boolean, at: string): void {
  const now = new Map(flares[list].map((flare) => [flare.id, flare]));
  const ended = flares.finished_trending.filter(({ id }) => !finished.has(id)).reverse();
  finished = new Set(flares.finished_trending.map(({ id }) => id));
  if (!first) {
    // Started and ended between two polls: report both.
    for (const flare of ended)
      if (!reported.has(flare.id)) print(flare.started_trending_at, "started", flare);
    for (const flare of ended) print(flare.finished_trending_at ?? "", "finished", flare);
    // It continues, but no longer in the list `free`: the token looks dangerous.
    for (const [id, flare] of running) if (!now.has(id) && !finished.has(id)) print(at, "withdrawn", flare);
  }
  for (const flare of [...now.values()].reverse())
    if (!running.has(flare.id)) print(flare.started_trending_at, "started", flare);
  running = now;
  reported = new Set([...reported, ...now.keys()].slice(-5_000));
}

function print(at: string, what: string, { id, token }: Flare): void {
  // Remove control characters: token names are untrusted.
  console.log(at, what, token.symbol.replace(/\p{C}/gu, "?"), id);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

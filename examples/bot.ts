// A bot's start: prints what flares now, every flare that starts, with its why, and every one that finishes. Misses none:
// after a lost connection it goes on from its cursor, or the server says how much is lost and what flares now. Needs Node only.
//
//   npx node examples/bot.ts http://127.0.0.1:8080      (with Node 22.18 or newer, npx is not needed)

type Why = { score: number; terms: { name: string; z: number }[] } | null;
type Flare = { started_trending_at: string; recent_price_change: number; token: { symbol: string } };
type Data = { cause: string; flare: Flare; why: Why };
type State = { flares: { pro: Flare[] } };
type Frame =
  | { type: "subscribed"; cursor: string; lost?: { events: number | null }; snapshot?: State }
  | { type: "event"; cursor: string; name: string; observed_at: string; data: Data }
  | { type: "heartbeat"; cursor: string }
  | { type: "hello" }
  | { type: "error" }
  | { type: "goaway" };

const server = (process.argv[2] ?? "http://127.0.0.1:8080").replace(/^http/, "ws").replace(/\/*$/, "");
const SILENCE_MS = 35_000; // The server beats every 15 s: nothing for so long means that the line is dead.
let cursor = "";

for (let failures = 0; ; failures += 1) {
  const { code, subscribed } = await follow();
  if (code >= 4000 && code < 4100) fail(`the server refuses this client: close code ${code}`);
  if (subscribed) failures = 0;
  // 42xx says: at once, with the cursor. All else: a second at least, and jitter, so that not all come back together.
  const backoffMs = 1_000 + Math.random() * Math.min(30_000, 1_000 * 2 ** failures);
  const waitMs = subscribed && code >= 4200 ? 0 : backoffMs;
  console.error(`disconnected (${code}); again in ${(waitMs / 1_000).toFixed(1)} s`);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** One connection, until it ends. */
function follow(): Promise<{ code: number; subscribed: boolean }> {
  const after = cursor && `&after=${cursor}`;
  const socket = new WebSocket(`${server}/api/v1/stream?channels=flares.pro${after}`, "flarewire.v1");
  return new Promise((resolve) => {
    let subscribed = false;
    const end = (code: number) => {
      clearTimeout(silence);
      socket.onmessage = null; // A dead line never answers a close: neither wait for it nor listen to it.
      socket.close();
      resolve({ code, subscribed });
    };
    let silence = setTimeout(end, SILENCE_MS, 4202);
    socket.onmessage = ({ data }) => {
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS, 4202);
      const frame: Frame = JSON.parse(String(data));
      if (frame.type === "hello" || frame.type === "error" || frame.type === "goaway") return;
      if (frame.type === "subscribed") subscribed = true;
      react(frame);
      cursor = frame.cursor; // Only now: what was not done with is asked for again.
    };
    socket.onclose = ({ code }) => end(code);
  });
}

function react(frame: Frame): void {
  if (frame.type === "subscribed") {
    const { lost, snapshot } = frame; // With a snapshot what was known is void: this runs now.
    if (lost) console.error(`missed ${lost.events ?? "some"} events`);
    else console.error(`${cursor ? "resumed" : "following"} at ${frame.cursor}`);
    for (const flare of snapshot?.flares.pro ?? []) print(flare.started_trending_at, "flare-running", flare);
  }
  if (frame.type !== "event" || !/^flare-(started|finished)$/.test(frame.name)) return;
  const { flare, cause, why } = frame.data;
  const terms = why?.terms.map(({ name, z }) => `${name} z=${z.toFixed(1)}`).join(" ");
  const reason = frame.name === "flare-started" && why ? `score ${why.score.toFixed(1)}: ${terms}` : cause;
  print(frame.observed_at, frame.name, flare, ` ${reason}`);
}

/** Names come from strangers: nothing that a terminal obeys may be in them. */
function print(at: string, what: string, { token, recent_price_change }: Flare, reason = ""): void {
  console.log(`${at} ${what} ${token.symbol.replace(/\p{C}/gu, "?")} ${recent_price_change} %${reason}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

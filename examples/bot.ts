// A bot to start from: prints the current flares, each start and surge with its reason, and each
// finish.
// It misses none: after a lost connection it resumes from its cursor, or reports the number of lost
// events and prints the current flares.
//
//   npx node examples/bot.ts http://127.0.0.1:8080
//
// This is the command in a clone. As a copy next to the installed package: node bot.ts …

import { connect } from "flarewire/client";

type Token = { readonly symbol: string };
type Flare = { readonly token: Token; readonly recent_price_change?: number };

// Without a key, a server with keys sends only flares.free: flares that are five minutes old.
const key = process.env.FLAREWIRE_CLIENT_KEY;
const server = process.argv[2] ?? "http://127.0.0.1:8080";

try {
  const stream = connect(server, { channels: ["flares.*"], ...(key ? { key } : {}) });
  let list: "pro" | "free" = "pro";
  const tokens = new Map<string, Token>();
  const reported = new Set<string>();
  stream.on("connection", ({ state, transport, reason }) => {
    // Until an attempt succeeds, each has a reason that one before it had.
    if (state === "live") reported.clear();
    // The error below says why the server closed the stream.
    if (reported.has(reason) || state === "closed") return;
    if (reason !== "") reported.add(reason);
    const advice = reason.startsWith("no answer") ? `; does a Flarewire server run at ${server}?` : "";
    console.error(`${state} by ${transport}${reason && ` after: ${reason}`}${advice}`);
  });

  for await (const event of stream) {
    if (event.name === "reset") {
      // A new state: at the start, or after lost events. Print the current flares.
      if (event.lost !== 0) console.error(`missed ${event.lost ?? "some"} events: ${event.reason}`);
      const { flares: { pro, free } = {}, explanations = {} } = event.view ?? {};
      list = pro ? "pro" : "free";
      const running = pro ?? free ?? [];
      if (!pro && free) console.error("following flares.free: starts are 5 minutes late");
      tokens.clear();
      for (const flare of running) {
        tokens.set(flare.id, flare.token);
        const why = explanations[flare.id];
        print(flare.started_trending_at, "flare-running", flare, why ? `: now ${why.text}` : "");
      }
      console.error(`running flares: ${running.length}; waiting for starts, surges and finishes`);
    } else if (event.channel !== `flares.${list}`) {
      // The other list has the same flares.
    } else if (event.name === "flare-started") {
      const { flare, why } = event.data;
      tokens.set(flare.id, flare.token);
      print(event.observed_at, event.name, flare, why ? `: ${why.text}` : "");
    } else if (event.name === "flare-surged") {
      // It surged while it was running.
      const { flare, why } = event.data;
      print(event.observed_at, event.name, flare, `: ${why.text}`);
    } else if (event.name === "flare-finished") {
      print(event.observed_at, event.name, event.data.flare, ` ${event.data.cause}`);
      tokens.delete(event.data.flare.id);
    } else if (event.name === "flare-withdrawn") {
      // It continues, but its finish is not sent. Cause `canary`: the token looks dangerous.
      const token = tokens.get(event.data.id);
      if (token) print(event.observed_at, event.name, { token }, ` ${event.data.cause}`);
      tokens.delete(event.data.id);
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Removes control characters: token names are untrusted. */
function print(at: string, what: string, { token, recent_price_change: pct }: Flare, reason = ""): void {
  const change = pct === undefined ? "" : ` (${pct} % in 5 min)`;
  console.log(`${at} ${what} ${token.symbol.replace(/\p{C}/gu, "?")}${change}${reason}`);
}

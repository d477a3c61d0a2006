// Posts each start of a flare with its reason, and each finish, to a Discord channel by a webhook.
// While Discord is slow or unavailable it waits, then resumes from its cursor. It repeats an
// unconfirmed message: better twice than never.
//
//   DISCORD_WEBHOOK_URL=https://discord.com/api/webhooks/ID/TOKEN \
//     npx node examples/discord.ts http://127.0.0.1:8080

import { setTimeout as sleep } from "node:timers/promises";
import { connect, type StreamItem } from "flarewire/client";

const webhook = process.env.DISCORD_WEBHOOK_URL ?? "";
if (!URL.canParse(webhook))
  fail("set DISCORD_WEBHOOK_URL: in Discord, channel settings, integrations, webhooks");
/** Do not unfurl links (SUPPRESS_EMBEDS). */
const NO_EMBEDS = 4;

const key = process.env.FLAREWIRE_CLIENT_KEY;
const stream = connect(process.argv[2] ?? "http://127.0.0.1:8080", {
  channels: ["flares.pro"],
  ...(key ? { key } : {}),
});
stream.on("connection", ({ state, reason }) => console.error(`Flarewire: ${state} ${reason}`));

try {
  for await (const event of stream) {
    if (event.name === "reset")
      console.error(
        `running flares: ${event.view?.flares?.pro?.length ?? 0}; waiting for starts and finishes`,
      );
    const text = textOf(event);
    if (text !== undefined) await send(text);
  }
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

function textOf(event: StreamItem): string | undefined {
  if (event.name === "reset") return event.lost === 0 ? undefined : `Missed ${event.lost ?? "some"} events.`;
  if (event.name !== "flare-started" && event.name !== "flare-finished") return undefined;
  if (!("flare" in event.data)) return undefined;
  const { flare, why, cause } = event.data;
  const warnings = why?.warnings.length ? `\n⚠ ${safe(why.warnings.join(", "))}` : "";
  // The sentence has no names, but a server could send anything.
  const reason = why?.text ? `: ${why.text.slice(0, 200).replace(/[^A-Za-z0-9 ,;:.$%+-]/g, "?")}` : "";
  // With a filter, a flare that began earlier starts for this client when it passes the threshold.
  const began = cause === "passed" ? ` since ${flare.started_trending_at.slice(11, 16)} UTC` : "";
  const what = event.name === "flare-started" ? `🔥 flares${began}` : `ended: ${safe(cause)}`;
  return `${safe(flare.token.symbol)} ${what}, ${flare.recent_price_change} % in 5 min${reason}${warnings}`;
}

/**
 * Formats untrusted text as code, in which Discord ignores Markdown, links and mentions. Only a
 * backtick could end the code.
 */
function safe(text: string): string {
  const shown = text
    .slice(0, 200)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?")
    .replaceAll("`", "'");
  return `\`${[...shown].slice(0, 40).join("").trim() || "?"}\``;
}

type Reply = { message?: string; retry_after?: number } | null;

/** Sends until Discord accepts. Never prints the URL, which is a secret. */
async function send(content: string): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    let waitSeconds = Math.min(60, 2 ** failures) * (0.5 + Math.random() / 2);
    try {
      const answer = await fetch(webhook, {
        method: "POST",
        headers: { "content-type": "application/json" },
        // No text may notify anyone.
        body: JSON.stringify({ content, allowed_mentions: { parse: [] }, flags: NO_EMBEDS }),
        signal: AbortSignal.timeout(10_000),
      });
      const reply = (await answer.json().catch(() => null)) as Reply;
      if (answer.ok) return;
      if (answer.status === 400) return console.error(`dropped: ${reply?.message}`);
      if (answer.status < 500 && answer.status !== 429) fail(`Discord: ${answer.status} ${reply?.message}`);
      waitSeconds = Math.max(waitSeconds, Number(reply?.retry_after) || 0);
    } catch {
      // No response: retry.
    }
    console.error(`Discord is not available; retrying in ${waitSeconds.toFixed(1)} s`);
    await sleep(waitSeconds * 1_000);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

// Sends each start of a flare with its reason, and each finish, to a Telegram chat. While Telegram
// is slow or unavailable it waits, then resumes from its cursor. It repeats an unconfirmed message:
// better twice than never.
//
//   TELEGRAM_BOT_TOKEN=123:abc TELEGRAM_CHAT_ID=-100123 \
//     npx node examples/telegram.ts http://127.0.0.1:8080
//
// TELEGRAM_API_URL: your own Bot API server; default https://api.telegram.org.

import { setTimeout as sleep } from "node:timers/promises";
import { connect, type StreamItem } from "flarewire/client";

const {
  TELEGRAM_BOT_TOKEN: token,
  TELEGRAM_CHAT_ID: chat,
  TELEGRAM_API_URL: api = "https://api.telegram.org",
} = process.env;
if (!token || !chat) fail("set TELEGRAM_BOT_TOKEN (from @BotFather) and TELEGRAM_CHAT_ID");

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
  return `<code>${safe(flare.token.symbol)}</code> ${what}, ${flare.recent_price_change} % in 5 min${reason}${warnings}`;
}

/** Escapes untrusted text for `code`, in which Telegram makes no links and no mentions. */
function safe(text: string): string {
  const shown = [...text.slice(0, 200).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?")].slice(0, 40).join("");
  return shown.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

type Reply = { description?: string; parameters?: { retry_after?: number } } | null;

/** Sends until Telegram accepts. Never prints the URL, which contains the token. */
async function send(text: string): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    let waitSeconds = Math.min(60, 2 ** failures) * (0.5 + Math.random() / 2);
    try {
      const answer = await fetch(`${api}/bot${token}/sendMessage`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          chat_id: chat,
          text,
          parse_mode: "HTML",
          link_preview_options: { is_disabled: true },
        }),
        signal: AbortSignal.timeout(10_000),
      });
      const reply = (await answer.json().catch(() => null)) as Reply;
      if (answer.ok) return;
      if (answer.status === 400) return console.error(`dropped: ${reply?.description}`);
      if (answer.status < 500 && answer.status !== 429)
        fail(`Telegram: ${answer.status} ${reply?.description}`);
      waitSeconds = Math.max(waitSeconds, Number(reply?.parameters?.retry_after) || 0);
    } catch {
      // No response: retry.
    }
    console.error(`Telegram is not available; retrying in ${waitSeconds.toFixed(1)} s`);
    await sleep(waitSeconds * 1_000);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

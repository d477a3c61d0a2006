import type { z } from "zod";
import { EMOJI, type MessageFormat, renderAlert } from "./alert-text.ts";
import { fieldOf, postToService } from "./service-post.ts";
import type { Target } from "./target.ts";
import type { ChannelWebhook } from "./target-fields.ts";

/** A webhook may send 30 messages per minute. */
const GAP_MS = 2_000;
/** Codes of a status 400 that every message would get: an archived or locked thread, or a forum. */
const OF_TARGET: ReadonlySet<unknown> = new Set([
  ...[40_058, 50_024, 50_083, 160_005],
  ...[220_001, 220_002, 220_003, 220_004],
]);
/** Codes of AutoMod and of the filters for explicit content and links, whatever the status. */
const OF_CONTENT: ReadonlySet<unknown> = new Set([20_009, 200_000, 200_001, 240_000]);
/** Do not unfurl links (SUPPRESS_EMBEDS). */
const NO_EMBEDS = 4;

/** In code, Discord ignores markup, links and mentions. Only a backtick could end it. */
const FORMAT: MessageFormat = {
  icons: EMOJI,
  text: (text) => text.replace(/[\\`*_~|<>[\]()#@:-]/g, "\\$&"),
  name: (name) => `\`${name.replaceAll("`", "'")}\``,
  link: (url) => `[Details](<${url}>)`,
};

/** Executes the channel's webhook. */
export function discordTarget({ id, rules, url, ...discord }: z.infer<typeof ChannelWebhook>): Target {
  const address = new URL(url);
  // Without this parameter, Discord also accepts messages that it then fails to store.
  address.searchParams.set("wait", "true");
  return {
    id,
    rules,
    identity: url,
    gapMs: GAP_MS,
    deliver: (alert, signal, { lateAtMs } = {}) =>
      postToService(signal, {
        service: "Discord",
        url: address.href,
        // No text may notify anyone.
        message: {
          content: renderAlert(alert, FORMAT, lateAtMs),
          allowed_mentions: { parse: [] },
          flags: NO_EMBEDS,
        },
        allowPrivateAddresses: discord.allow_private_addresses,
        secrets: [address.pathname, address.pathname.split("/").at(-1) || url],
        read: (reply) => ({
          isAccepted: typeof fieldOf(reply, "id") === "string",
          description: fieldOf(reply, "message"),
          retryAfterS: fieldOf(reply, "retry_after"),
          refuses: refusedBy(fieldOf(reply, "code")),
        }),
      }),
  };
}

function refusedBy(code: unknown): "message" | "target" | undefined {
  if (OF_CONTENT.has(code)) return "message";
  return OF_TARGET.has(code) ? "target" : undefined;
}

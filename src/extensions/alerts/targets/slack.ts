import type { z } from "zod";
import { type MessageFormat, renderAlert } from "./alert-text.ts";
import { postToService } from "./service-post.ts";
import type { Target } from "./target.ts";
import type { ChannelWebhook } from "./target-fields.ts";

/** Slack accepts one message per second. */
const GAP_MS = 1_000;

/** Reasons that every message would get, also with 400: the channel or the webhook is gone. */
const OF_TARGET =
  /^(no_service\w*|no_active_hooks|no_team|team_\w+|invalid_token|channel_\w+|user_not_found|action_prohibited|posting_to_\w+)$/;

const escapeControl = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** In code, Slack ignores markup and emoji. Links and mentions need `<`. */
const FORMAT: MessageFormat = {
  icons: {
    started: ":fire:",
    surged: ":chart_with_upwards_trend:",
    finished: ":checkered_flag:",
    listed: ":new:",
    notice: ":warning:",
  },
  text: escapeControl,
  name: (name) => `\`${escapeControl(name.replaceAll("`", "'"))}\``,
  link: (url) => `<${escapeControl(url)}|Details>`,
};

/** Posts to the incoming webhook, in mrkdwn. */
export function slackTarget({ id, rules, url, ...slack }: z.infer<typeof ChannelWebhook>): Target {
  return {
    id,
    rules,
    identity: url,
    gapMs: GAP_MS,
    deliver: (alert, signal, { lateAtMs } = {}) => {
      const text = renderAlert(alert, FORMAT, lateAtMs);
      return postToService(signal, {
        service: "Slack",
        url,
        message: {
          // For notifications. Channels show the block, in which plain text does not become a link
          // or mention.
          text,
          blocks: [{ type: "section", text: { type: "mrkdwn", text, verbatim: true } }],
          unfurl_links: false,
          unfurl_media: false,
        },
        allowPrivateAddresses: slack.allow_private_addresses,
        secrets: [url, new URL(url).pathname],
        read: (reply) => ({
          isAccepted: reply === "ok",
          // Slack's errors are words such as `no_service`; another server could respond anything.
          description: typeof reply === "string" && /^\w{1,64}$/.test(reply) ? reply : undefined,
          refuses: typeof reply === "string" && OF_TARGET.test(reply) ? "target" : undefined,
        }),
      });
    },
  };
}

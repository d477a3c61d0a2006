import { z } from "zod";
import { escapeHtml } from "../../../base/lib/text/escape-html.ts";
import { EMOJI, type MessageFormat, renderAlert } from "./alert-text.ts";
import { fieldOf, postToService } from "./service-post.ts";
import type { Target } from "./target.ts";
import { ALLOW_PRIVATE, COMMON, httpUrl } from "./target-fields.ts";

const CHAT = "a chat's number, or @ and a channel's name";

/** A chat to which a bot sends. */
export const Telegram = z.strictObject({
  id: COMMON.id,
  /** From @BotFather. */
  bot_token: z.string().regex(/^\d{1,20}:[\w-]{10,100}$/, "a bot's token, 123:abc, from @BotFather"),
  /** A number, or `@channel`. */
  chat_id: z.union([z.int(), z.string().regex(/^(-?\d{1,20}|@\w{1,64})$/, CHAT)], { error: CHAT }),
  /** A topic of the chat. Default: none. */
  thread_id: z.int().optional(),
  /** Your own Bot API server. Default: Telegram's. */
  api_url: httpUrl.default("https://api.telegram.org"),
  ...ALLOW_PRIVATE,
  rules: COMMON.rules,
});

/** Limits of a chat, in messages: one per second, and 20 per minute if it is a group. */
const GAP_MS = { person: 1_000, group: 3_000 };

/** Reasons of a 400 that every message would get: the chat or topic is gone or closed. */
const OF_TARGET =
  /^(?!.*(pars|entit)).*(not found|deactivated|upgraded|closed|deleted|rights|forbidden|restricted|private|peer|chat_id)/i;

/** Telegram turns plain text into links, mentions and commands, but not inside `code`. */
const FORMAT: MessageFormat = {
  icons: EMOJI,
  text: escapeHtml,
  name: (name) => `<code>${escapeHtml(name)}</code>`,
  link: (url) => `<a href="${escapeHtml(url)}">Details</a>`,
};

/** Sends with the Bot API's `sendMessage`. */
export function telegramTarget(telegram: z.infer<typeof Telegram>): Target {
  const { id, rules, bot_token: token, chat_id, thread_id, api_url } = telegram;
  return {
    id,
    rules,
    identity: `${api_url} ${token} ${chat_id}`,
    gapMs: /^[-@]/.test(String(chat_id)) ? GAP_MS.group : GAP_MS.person,
    deliver: (alert, signal, { lateAtMs, movedTo } = {}) =>
      postToService(signal, {
        service: "Telegram",
        url: `${api_url.replace(/\/+$/, "")}/bot${token}/sendMessage`,
        message: {
          chat_id: movedTo ?? chat_id,
          ...(thread_id === undefined ? {} : { message_thread_id: thread_id }),
          text: renderAlert(alert, FORMAT, lateAtMs),
          parse_mode: "HTML",
          link_preview_options: { is_disabled: true },
        },
        allowPrivateAddresses: telegram.allow_private_addresses,
        secrets: [token],
        read: (reply) => {
          const [description, parameters] = [fieldOf(reply, "description"), fieldOf(reply, "parameters")];
          return {
            isAccepted: fieldOf(reply, "ok") === true,
            description,
            retryAfterS: fieldOf(parameters, "retry_after"),
            refuses: typeof description === "string" && OF_TARGET.test(description) ? "target" : undefined,
            movedTo: chatIn(fieldOf(parameters, "migrate_to_chat_id")),
          };
        },
      }),
  };
}

/** Returns the id of the supergroup that a group has become, if it is one. */
function chatIn(id: unknown): string | undefined {
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

import { z } from "zod";
import { alertText, type Escapes, renderParts } from "./alert-text.ts";
import { fieldOf, postToService } from "./service-post.ts";
import type { Target } from "./target.ts";
import { ALLOW_PRIVATE, COMMON, httpUrl } from "./target-fields.ts";

/** A topic of ntfy.sh, or of another ntfy server. */
export const Ntfy = z.strictObject({
  id: COMMON.id,
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, "1 to 64 letters, digits, and _ -"),
  /** The server. Default: `https://ntfy.sh`. */
  url: httpUrl.default("https://ntfy.sh"),
  /** Access token. Default: none. */
  token: z
    .string()
    .regex(/^[\w.~+/-]{1,256}=*$/, "an access token")
    .optional(),
  /** From 1 to 5. Default: 3. */
  priority: z.int().min(1, "from 1 to 5").max(5, "from 1 to 5").optional(),
  ...ALLOW_PRIVATE,
  rules: COMMON.rules,
});

/** Notifications are plain text, in which apps turn addresses into links. */
const ESCAPES: Escapes = {
  text: (text) => text,
  name: (name) => name.replaceAll(".", "․").replaceAll(":", "꞉").replaceAll("@", "＠"),
};
/** Codes of a status 400 that every message would get: the priority or topic is not allowed. */
const OF_TARGET: ReadonlySet<unknown> = new Set([40_007, 40_009, 40_010]);
const TAGS = {
  started: "fire",
  surged: "chart_with_upwards_trend",
  finished: "checkered_flag",
  listed: "new",
  notice: "warning",
} as const;

/** Publishes as JSON to the server's root. */
export function ntfyTarget(ntfy: z.infer<typeof Ntfy>): Target {
  const { id, rules, topic, url, token, priority } = ntfy;
  return {
    id,
    rules,
    identity: `${url} ${topic} ${token}`,
    deliver: (alert, signal, { lateAtMs } = {}) => {
      const { kind, title, body, url: page } = alertText(alert, lateAtMs);
      const heading = renderParts(title, ESCAPES);
      return postToService(signal, {
        service: "ntfy",
        url,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        message: {
          topic,
          title: heading,
          message: renderParts(body, ESCAPES) || heading,
          tags: [TAGS[kind]],
          // A repeated message replaces the first one. Servers before 2.16 ignore it.
          sequence_id: alert.id,
          ...(priority === undefined ? {} : { priority }),
          ...(page === undefined ? {} : { click: page }),
        },
        allowPrivateAddresses: ntfy.allow_private_addresses,
        secrets: token === undefined ? [topic] : [token, topic],
        read: (reply) => ({
          isAccepted: typeof fieldOf(reply, "id") === "string",
          description: fieldOf(reply, "error"),
          refuses: OF_TARGET.has(fieldOf(reply, "code")) ? "target" : undefined,
        }),
      });
    },
  };
}

import { json, Refusal, type Service } from "./service-stand-in.ts";

/** A service with its published rules, and a target's configuration for a stand-in at `origin`. */
export interface TestedService {
  readonly service: Service;
  readonly config: (origin: string) => object;
  /** Every secret of the target. */
  readonly secrets: readonly string[];
}

const HTML_CHARACTERS: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  "#39": "'",
};
const unescapeHtml = (text: string) =>
  text.replace(/&(#?\w+);/g, (entity, name: string) => HTML_CHARACTERS[name] ?? entity);

function check(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refusal(reason);
}

/** Finds a pattern with one group. Returns the groups, and the text without the matches. */
function take(text: string, pattern: RegExp): { readonly taken: readonly string[]; readonly rest: string } {
  return {
    taken: [...text.matchAll(pattern)].map(([, group = ""]) => group),
    rest: text.replace(pattern, "\u0000"),
  };
}

const BOT = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

const telegram: TestedService = {
  secrets: [BOT],
  config: (origin) => ({ bot_token: BOT, chat_id: 5, api_url: origin }),
  service: {
    gapMs: 1_000,
    finds: /\w\.[a-z]{2}|:\/\/|[@#/]\w/i,
    read: ({ url, method }, body) => {
      check(method === "POST" && url === `/bot${BOT}/sendMessage`, "Not Found");
      check(body.chat_id === 5, "Bad Request: chat not found");
      check(body.parse_mode === "HTML", "markup would be shown");
      const raw = String(body.text);
      check(!/&(?!(lt|gt|amp|quot|#\d+);)/.test(raw), "Bad Request: can't parse entities: unknown entity");
      const code = take(raw, /<code>([^<>]*)<\/code>/g);
      const links = take(code.rest, /<a href="([^"<>]*)">[^<>]*<\/a>/g);
      check(!/[<>]/.test(links.rest), "Bad Request: can't parse entities: unsupported start tag");
      const shown = unescapeHtml(raw.replace(/<[^>]*>/g, ""));
      check(shown.trim() !== "" && shown.length <= 4_096, "Bad Request: message is too long");
      return {
        raw,
        literals: code.taken.map(unescapeHtml),
        links: links.taken.map(unescapeHtml),
        rest: unescapeHtml(links.rest),
      };
    },
    accept: (response, { raw }) => json(response, 200, { ok: true, result: { message_id: 1, text: raw } }),
    refuse: (response, description) => json(response, 400, { ok: false, error_code: 400, description }),
    limit: (response, seconds) =>
      json(response, 429, {
        ok: false,
        error_code: 429,
        description: `Too Many Requests: retry after ${seconds}`,
        parameters: { retry_after: seconds },
      }),
  },
};

const DISCORD = "/api/webhooks/165176875973476352/tok-En_0123456789";

const discord: TestedService = {
  secrets: [DISCORD, "tok-En_0123456789"],
  config: (origin) => ({ url: `${origin}${DISCORD}` }),
  service: {
    gapMs: 2_000,
    finds: /:\/\/|@\w|<[@#!]/,
    read: ({ url }, body) => {
      check(url === `${DISCORD}?wait=true`, "Unknown Webhook");
      const raw = String(body.content);
      check(raw.length > 0 && raw.length <= 2_000, "Must be 2000 or fewer in length.");
      check(JSON.stringify(body.allowed_mentions) === '{"parse":[]}', "it may mention people");
      check(body.flags === 4, "it may embed pages");
      // The match that begins first counts: in code, a backslash is only a backslash.
      const tokens = take(raw, /\\[^0-9A-Za-z\s]|`([^`]*)`/g);
      const code = { taken: tokens.taken.filter((text) => text !== ""), rest: tokens.rest };
      const links = take(code.rest, /\[[^[\]]*\]\(<([^<>]*)>\)/g);
      check(!/[`*_~|<>[\]#]/.test(links.rest), `markup in ${links.rest}`);
      return { raw, literals: code.taken, links: links.taken, rest: links.rest };
    },
    accept: (response, { raw }) => json(response, 200, { id: "1", type: 0, content: raw }),
    refuse: (response, message) => json(response, 400, { message, code: 50_035 }),
    limit: (response, seconds) =>
      json(
        response,
        429,
        { message: "You are being rate limited.", retry_after: seconds + 0.337, global: false },
        { "retry-after": String(seconds) },
      ),
  },
};

const SLACK = "/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx";

const slack: TestedService = {
  secrets: [SLACK],
  config: (origin) => ({ url: `${origin}${SLACK}` }),
  service: {
    gapMs: 1_000,
    // Only control sequences make links and mentions in a verbatim block.
    finds: /<[!@#h]/,
    read: ({ url }, body) => {
      check(url === SLACK, "no_service");
      const raw = String(body.text);
      check(raw !== "", "no_text");
      const block = { type: "section", text: { type: "mrkdwn", text: raw, verbatim: true } };
      check(JSON.stringify(body.blocks) === JSON.stringify([block]), "invalid_blocks");
      check(raw.length <= 3_000, "invalid_blocks");
      check(body.unfurl_links === false && body.unfurl_media === false, "it may embed pages");
      const code = take(raw, /`([^`]*)`/g);
      const links = take(code.rest, /<([^<>|]*)\|[^<>]*>/g);
      check(!/[<>]/.test(`${links.rest}${code.taken.join("")}`), "markup");
      check(!/&(?!(lt|gt|amp);)/.test(raw), "an unescaped &");
      return {
        raw,
        literals: code.taken.map(unescapeHtml),
        links: links.taken.map(unescapeHtml),
        rest: links.rest,
      };
    },
    accept: (response) => void response.writeHead(200).end("ok"),
    refuse: (response, reason) => void response.writeHead(400).end(reason),
    limit: (response, seconds) =>
      void response.writeHead(429, { "retry-after": String(seconds) }).end("rate_limited"),
  },
};

const NTFY_TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";

const ntfy: TestedService = {
  secrets: [NTFY_TOKEN, "flares-9f8a7b"],
  config: (origin) => ({ url: origin, topic: "flares-9f8a7b", token: NTFY_TOKEN, priority: 4 }),
  service: {
    gapMs: 0,
    finds: /\w\.[a-z]{2}|:\/\//i,
    read: ({ url, headers }, body) => {
      check(url === "/", "page not found");
      check(headers.authorization === `Bearer ${NTFY_TOKEN}`, "forbidden");
      check(body.topic === "flares-9f8a7b", "forbidden");
      check(body.priority === 4, "invalid request: invalid priority");
      check(String(body.sequence_id).startsWith("msg_"), "invalid request: sequence ID invalid");
      const text = `${body.title}\n${body.message}`;
      check(Buffer.byteLength(text) <= 4_096, "it would become an attachment");
      const raw = JSON.stringify(body);
      return { raw, literals: [], links: body.click ? [String(body.click)] : [], rest: text };
    },
    accept: (response) => json(response, 200, { id: "hwQ2YpKdmg", event: "message" }),
    refuse: (response, error) => json(response, 403, { code: 40_301, http: 403, error }),
    limit: (response) => json(response, 429, { code: 42_901, http: 429, error: "limit reached" }),
  },
};

export const SERVICES = { telegram, discord, slack, ntfy };
export type ServiceName = keyof typeof SERVICES;

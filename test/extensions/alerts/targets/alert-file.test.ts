import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { parseAlertFile, readAlertFile } from "../../../../src/extensions/alerts/targets/alert-file.ts";
import { newDirectory } from "../../../support/servers/edges.ts";
import { SECRET } from "../webhook-fixture.ts";

const rule = { name: "all" };
const webhook = { id: "desk", url: "https://example.org/hook", secret: SECRET, rules: [rule] };
const withRule = (more: object) => ({ webhooks: [{ ...webhook, rules: [{ ...rule, ...more }] }] });
const withHook = (more: object) => ({ webhooks: [{ ...webhook, ...more }] });
const edge = { field: "liquidity", above: 2, below: 1 };

const reasonOf = (content: unknown): string => {
  try {
    parseAlertFile(typeof content === "string" ? content : JSON.stringify(content), "alerts.json");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "accepted";
};

test("omitted fields get their defaults: every flare, no quiet time, public addresses only", () => {
  expect(parseAlertFile(JSON.stringify({ webhooks: [webhook] }), "alerts.json").webhooks).toEqual([
    {
      ...webhook,
      allow_private_addresses: false,
      rules: [{ name: "all", channels: ["flares.pro"], quiet_seconds: 0 }],
    },
  ]);
});

const BOT_TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const chat = { id: "chat", bot_token: BOT_TOKEN, chat_id: 5, rules: [rule] };
const withChat = (more: object) => ({ telegram: [{ ...chat, ...more }] });
const broker = { id: "home", url: "mqtt://x", rules: [rule] };
const topic = { id: "phone", topic: "flares", rules: [rule] };

const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  ["", /alerts\.json: it is empty/],
  ["{", /it is not JSON \(line 1, column 2: Expected property name or '\}'\); it must be \{"webhooks"/],
  [
    '\uFEFF{\n  "secret": "hunter2",\n}',
    /it is not JSON \(line 3, column 1: Expected double-quoted property name\)/,
  ],
  ['{\n  "secret":\n    hunter2 }', /it is not JSON \(line 3, column 5: Unexpected character\)/],
  ['["hunter2", true,\n "hunter2", ]', /it is not JSON \(line 2, column 13: Unexpected character\)/],
  // A text of the file is no position, and an emoji has two code units.
  ['{"position 3": hunter2}', /it is not JSON \(line 1, column 16: Unexpected character\)/],
  ['{"a\\"": [[], 1, {"b": 😀}]}', /it is not JSON \(line 1, column 23: Unexpected character\)/],
  ['{"a":\n "hunter2\\😀"}', /it is not JSON \(line 2, column 11: Unexpected character\)/],
  ["undefined", /it is not JSON \(line 1, column 1: Unexpected character\)/],
  ['{"webhooks": [\n', /it is not JSON \(line 2, column 1: Unexpected end of JSON input\)/],
  ['{"webhooks": []}\n}', /it is not JSON \(line 2, column 1: Unexpected non-whitespace character\)/],
  [{ slack: ["https://hooks.slack.com/hunter2"] }, /slack\[0\] is a text; it must be an object$/],
  [{ discord: { url: "https://discord.com/hunter2" } }, /discord is an object; it must be a list$/],
  [{ telegram: ["123:hunter2"] }, /telegram\[0\] is a text; it must be an object$/],
  [{ webhooks: [[SECRET]] }, /webhooks\[0\] is a list; it must be an object$/],
  [withHook({ rules: { secret: SECRET } }), /rules is an object; it must be/],
  [withHook({ id: { secret: SECRET } }), /id is an object; it must be/],
  [withHook({ id: `${SECRET}/` }), /id is "\*\*\*"; it must be/],
  [withChat({ bot_token: 123 }), /bot_token is a number; it must be a text$/],
  [withRule({ channels: [{ url: "hunter2" }] }), /channels\[0\] is an object; it must be a text$/],
  [withHook({ [SECRET]: 1 }), /unknown key "\*\*\*" in webhooks\[0\]/],
  [withHook({ [`${" ".repeat(60)}https://me:hunter2@x`]: 1 }), /unknown key " {60}\*\*\*" in/],
  [withHook({ "see hooks.slack.com/hunter2": 1 }), /unknown key "see \*\*\*" in/],
  [withHook({ "me:hunter2@x.example/y": 1 }), /unknown key "\*\*\*" in/],
  [withHook({ id: "host:8123/hunter2 x.example:99/hunter2 x.example?k=hunter2" }), /id is "(\*{3} ?){3}"/],
  [withHook({ "110201543:AAHdqT-hunter2": 1, tk_hunter2: 1 }), /unknown key "\*\*\*" in/],
  [{ webhooks: [webhook, 5], extra: 1 }, /webhooks\[1\] is a number; it must be an/],
  [
    { webhooks: [{ ...webhook, url: 5 }], telegram: [{ ...chat, colour: 1 }] },
    /webhooks\[0\]\.url is a number/,
  ],
  [withRule({ names: ["flare-started"] }), /unknown key "names" in .*rules\[0\] \(it belongs in filter\); /],
  [[], /the file is \[\]/],
  [{}, /the file is \{\}; it must be .*at least one target: webhooks, telegram, discord/],
  [{ webhooks: [] }, /at least one target/],
  [{ webhooks: [webhook, webhook] }, /two targets have the id desk/],
  [withHook({ id: "a b" }), /webhooks\[0\]\.id is "a b"; it must be 1 to 64 letters/],
  [withHook({ url: "ftp://example.org" }), /url is malformed; .* http or https URL/],
  [withHook({ url: "https://me:hunter2@example.org" }), /without user name and password/],
  [withHook({ secret: "whsec_c2hvcnQ=" }), /secret is malformed; .*24 to 64 bytes.*openssl rand/],
  [withHook({ secret: SECRET.slice(6) }), /whsec_ and the base64/],
  [
    withHook({ colour: 1 }),
    /unknown key "colour" in webhooks\[0\]; known keys: id, url, secret, allow_private_addresses, rules$/,
  ],
  [
    { webhooks: [{ ...webhook, rules: undefined, rule: [] }] },
    /unknown key "rule" in webhooks\[0\] \(did you mean rules\?\); known keys: id/,
  ],
  [{ webhook: [webhook] }, /unknown key "webhook" in the file \(did you mean webhooks\?\); known keys: web/],
  [
    withHook({ allow_private_addresses: "yes" }),
    /allow_private_addresses is "yes"; it must be true or false/,
  ],
  [withHook({ rules: [] }), /at least one rule/],
  [withHook({ rules: [rule, rule] }), /two rules of target desk have the name all/],
  [{ webhooks: [webhook], telegram: [{ ...chat, id: "desk" }] }, /two targets have the id desk/],
  [withChat({ bot_token: "hunter2" }), /telegram\[0\]\.bot_token is malformed; .*BotFather/],
  [withChat({ chat_id: "my chat" }), /chat_id is "my chat"; it must be a chat's number, or @/],
  [withChat({ rules: undefined }), /telegram\[0\]\.rules is missing/],
  [{ discord: [{ id: "d", url: "hunter2", rules: [rule] }] }, /discord\[0\]\.url is malformed/],
  [{ slack: [{ id: "s", url: "ftp://hunter2", rules: [rule] }] }, /slack\[0\]\.url is malformed/],
  [{ ntfy: [{ ...topic, topic: "hunter2?" }] }, /ntfy\[0\]\.topic is malformed/],
  [{ ntfy: [{ ...topic, token: "hunter2 x" }] }, /ntfy\[0\]\.token is malformed/],
  [{ ntfy: [{ ...topic, priority: 6 }] }, /ntfy\[0\]\.priority is 6; it must be from 1 to 5/],
  [{ mqtt: [{ ...broker, url: "mqtt://me:hunter2@x" }] }, /mqtt\[0\]\.url is malformed; .*without user name/],
  [{ mqtt: [{ ...broker, url: "https://x" }] }, /mqtt\[0\]\.url is malformed; .*mqtt:\/\/HOST or mqtts/],
  [{ mqtt: [{ ...broker, topic: "a/#" }] }, /topic is malformed; .*without #, \+ and empty levels/],
  [{ mqtt: [{ ...broker, discovery: "a//b" }] }, /discovery is "a\/\/b"; .*empty levels/],
  [withRule({ name: "" }), /rules\[0\]\.name is ""/],
  [
    withRule({ channels: ["flares.por"] }),
    /channels\[0\] is "flares\.por"; it must be one of flares\.free.* \(did you mean flares\.pro\?\)$/,
  ],
  [
    withRule({ channels: "flares.pr" }),
    /channels is "flares\.pr"; it must be a list such as \["flares\.pro"\]$/,
  ],
  [withRule({ channels: 5 }), /channels is 5; it must be a list such as \["flares\.pro"\]$/],
  [withRule({ channels: { toString: 1 } }), /channels is an object; it must be a list such as/],
  [withRule({ filter: { names: [{ toString: 1 }] } }), /names\[0\] is an object; it must be one of/],
  [withRule({ channels: ["charts.bsc"] }), /channels with starts, finishes or listings/],
  [
    withRule({ channels: ["status"], filter: { names: ["flare-started"] } }),
    /channels with starts, finishes or listings/,
  ],
  [
    withRule({ filter: { names: ["flare-updated"] } }),
    /one of flare-started, flare-surged, flare-finished, token-listed, source-status; use an edge/,
  ],
  [
    withRule({ filter: { names: ["flare-finished", "flare-start"] } }),
    /names\[1\] is "flare-start"; it must be one of flare-started, flare-surged, flare-finished, token-listed, source-status \(did you mean flare-started\?\)$/,
  ],
  [
    withRule({ filter: { names: "flare-started" } }),
    /names is "flare-started"; it must be a list of some of flare-started, flare-surged, flare-finished, token-listed, source-status$/,
  ],
  [withRule({ filter: { min_liquidity: -1 } }), /filter\.min_liquidity is -1; it must be from 0 on/],
  [
    withRule({ channels: ["flares.exchange.pro"], filter: { min_liquidity: 5 } }),
    /rules\[0\]\.filter\.min_liquidity is 5; it must be absent in a rule for exchanges, which report no/,
  ],
  [
    withRule({ edge, channels: ["flares.exchange.*"] }),
    /edge\.field is "liquidity"; it must be another field in a rule for exchanges, which report no/,
  ],
  [withRule({ filter: { colour: "red" } }), /unknown key "colour" in .*filter/],
  [withRule({ quiet_seconds: -1 }), /quiet_seconds is -1; it must be 0 or more/],
  [withRule({ quiet_seconds: 604_801 }), /at most 604800 \(a week\)/],
  [withRule({ edge: { ...edge, below: 3 } }), /edge\.below is 3; it must be at most edge\.above/],
  [withRule({ edge: { ...edge, on: "up" } }), /edge\.on is "up"; it must be one of rise, fall, both/],
  [
    withRule({ edge: { ...edge, field: "streak" } }),
    /edge\.field is "streak"; it must be one of score, price, liquidity/,
  ],
  [withRule({ edge, channels: ["status"] }), /must be a numeric field of every channel; status has none/],
  [withRule({ edge, filter: { names: ["flare-started"] } }), /filter\.names .*absent in a rule with an edge/],
];

test.each(REFUSED.map(([content, reason]) => ({ content, reason })))(
  "an invalid file is rejected with $reason",
  ({ content, reason }) => {
    const message = reasonOf(content);
    expect(message).toMatch(reason);
    expect(message).not.toContain(SECRET.slice(6));
    expect(message).not.toContain("hunter2");
  },
);

test("the place of a fault is found without parsing the file again, because that can take seconds", ({
  onTestFinished,
}) => {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  const brokenAtEnd = `[${"[1],\n".repeat(1_000)}]`;
  expect(reasonOf(brokenAtEnd)).toContain("(line 1001, column 1: Unexpected character)");
  expect(parse).toHaveBeenCalledTimes(1);
});

test("a rule for exchanges and others may have a minimum liquidity", () => {
  const channels = ["flares.pro", "flares.exchange.pro"];
  expect(reasonOf(withRule({ channels, filter: { min_liquidity: 5 } }))).toBe("accepted");
  expect(reasonOf(withRule({ channels, edge }))).toBe("accepted");
});

const JUNK: readonly unknown[] = [null, true, 1.5, -1, 5, "", "x", [], ["x", 5], {}, { x: 1 }];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  file: ["webhooks", "telegram", "discord", "slack", "ntfy", "mqtt"],
  chat: ["bot_token", "chat_id", "thread_id", "api_url"],
  topic: ["topic", "url", "token", "priority"],
  broker: ["url", "username", "password", "topic", "client_id", "discovery"],
  webhook: ["id", "url", "secret", "allow_private_addresses", "rules"],
  rule: ["name", "channels", "filter", "edge", "quiet_seconds"],
  edge: ["field", "above", "below", "on"],
  filter: ["tokens", "symbols", "min_liquidity", "min_price_change", "min_age", "sticky", "names"],
};

test("a target at a private address is an error of the file, unless it allows private addresses", () => {
  const refused =
    /^alerts\.json: target (desk|chat|phone): (127\.0\.0\.1|localhost|::1|10\.0\.0\.7) is not a public address; set allow_private_addresses to allow it$/;
  const files = (more: object) => [
    withHook({ url: "http://127.0.0.1:9000/hook", ...more }),
    withHook({ url: "http://LOCALHOST/hook", ...more }),
    { slack: [{ id: "desk", url: "https://[::1]/x", rules: [rule], ...more }] },
    withChat({ api_url: "http://10.0.0.7", ...more }),
    { ntfy: [{ ...topic, url: "http://127.1", ...more }] },
  ];
  for (const file of files({})) expect(reasonOf(file)).toMatch(refused);
  for (const file of files({ allow_private_addresses: true })) expect(reasonOf(file)).toBe("accepted");
  for (const file of [withHook({}), { mqtt: [broker] }, withHook({ url: "http://desk.internal/" })])
    expect(reasonOf(file)).toBe("accepted");
});

test("no message contains the schema library's own words", () => {
  const put: Readonly<Record<string, (more: object) => unknown>> = {
    file: (more) => ({ webhooks: [webhook], ...more }),
    webhook: withHook,
    chat: withChat,
    topic: (more) => ({ ntfy: [{ ...topic, ...more }] }),
    broker: (more) => ({ mqtt: [{ ...broker, ...more }] }),
    rule: withRule,
    edge: (more) => withRule({ edge: { ...edge, ...more } }),
    filter: (more) => withRule({ filter: more }),
  };
  const messages = Object.entries(FIELDS).flatMap(([of, names]) =>
    names.flatMap((name) => [...JUNK, undefined].map((value) => reasonOf(put[of]?.({ [name]: value })))),
  );
  messages.push(reasonOf(5), reasonOf([]), reasonOf({ webhooks: [5] }), reasonOf(withHook({ rules: [5] })));
  expect(messages.filter((message) => message !== "accepted").length).toBeGreaterThan(100);
  expect(
    messages.filter((message) => /invalid|expected|received|too (small|big)|>=|<=/i.test(message)),
  ).toEqual([]);
});

test("a missing, too large or irregular file is rejected with the reason", async ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  await expect(readAlertFile(join(directory, "none.json"))).rejects.toThrow(
    /none\.json: there is no such file/,
  );
  const big = join(directory, "big.json");
  writeFileSync(big, " ".repeat(1_048_577));
  await expect(readAlertFile(big)).rejects.toThrow(/it has 1048577 bytes; the limit is 1048576/);
  await expect(readAlertFile("/dev/zero")).rejects.toThrow(/it is not a regular file/);
});

test("a file that any user can write is rejected, as it could redirect messages; its group may write it", async ({
  onTestFinished,
}) => {
  const file = join(newDirectory(onTestFinished), "alerts.json");
  writeFileSync(file, JSON.stringify({ webhooks: [webhook] }));
  chmodSync(file, 0o666);
  await expect(readAlertFile(file)).rejects.toThrow(/any user on this machine can write to it.*chmod 600/);
  chmodSync(file, 0o660);
  expect((await readAlertFile(file)).webhooks).toHaveLength(1);
});

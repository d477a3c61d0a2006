import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAlertFile, readAlertFile } from "../../src/alerts/rules/alert-file.ts";
import { newDirectory } from "../support/edges.ts";
import { SECRET } from "./webhook-fixture.ts";

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
  return "taken";
};

test("what is left out has its default: every flare, at once, on a public address", () => {
  expect(parseAlertFile(JSON.stringify({ webhooks: [webhook] }), "alerts.json")).toEqual([
    {
      ...webhook,
      allow_private_addresses: false,
      rules: [{ name: "all", channels: ["flares.pro"], quiet_seconds: 0 }],
    },
  ]);
});

const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  ["", /alerts\.json: it is empty/],
  ["{", /it is not JSON/],
  [[], /the file is \[\]/],
  [{}, /webhooks is missing; it must be a list/],
  [{ webhooks: [] }, /at least one webhook/],
  [{ webhooks: [webhook, webhook] }, /two webhooks have the id desk/],
  [withHook({ id: "a b" }), /webhooks\[0\]\.id is "a b"; it must be 1 to 64 letters/],
  [withHook({ url: "ftp://example.org" }), /url is of another form; .* http or https URL/],
  [withHook({ url: "https://me:hunter2@example.org" }), /without user name and password/],
  [withHook({ secret: "whsec_c2hvcnQ=" }), /secret is of another form; .*24 to 64 bytes.*openssl rand/],
  [withHook({ secret: SECRET.slice(6) }), /whsec_ and the base64/],
  [withHook({ colour: 1 }), /webhooks\[0\] has "colour", which nobody knows/],
  [
    withHook({ allow_private_addresses: "yes" }),
    /allow_private_addresses is "yes"; it must be true or false/,
  ],
  [withHook({ rules: [] }), /at least one rule/],
  [withHook({ rules: [rule, rule] }), /two rules of the webhook desk have the name all/],
  [withRule({ name: "" }), /rules\[0\]\.name is ""/],
  [withRule({ channels: ["flares.por"] }), /channels\[0\] is "flares\.por"; it must be one of flares\.free/],
  [withRule({ channels: ["charts.bsc"] }), /channels that carry news/],
  [withRule({ channels: ["status"], filter: { names: ["flare-started"] } }), /channels that carry news/],
  [
    withRule({ filter: { names: ["flare-updated"] } }),
    /of flare-started, flare-finished, token-listed, source-status/,
  ],
  [withRule({ filter: { min_liquidity: -1 } }), /filter\.min_liquidity is -1; it must be from 0 on/],
  [withRule({ filter: { colour: "red" } }), /filter has "colour"/],
  [withRule({ quiet_seconds: -1 }), /quiet_seconds is -1; it must be 0 or more/],
  [withRule({ quiet_seconds: 604_801 }), /at most 604800, a week/],
  [withRule({ edge: { ...edge, below: 3 } }), /edge\.below is 3; it must be at most above/],
  [withRule({ edge: { ...edge, on: "up" } }), /edge\.on is "up"; it must be one of rise, fall, both/],
  [
    withRule({ edge: { ...edge, field: "streak" } }),
    /edge\.field is "streak"; it must be one of score, price, liquidity/,
  ],
  [withRule({ edge, channels: ["status"] }), /left out: status has no numbers to watch/],
  [
    withRule({ edge, filter: { names: ["flare-started"] } }),
    /filter\.names .*left out where there is an edge/,
  ],
];

test.each(REFUSED.map(([content, reason]) => ({ content, reason })))(
  "what is refused says $reason",
  ({ content, reason }) => {
    const message = reasonOf(content);
    expect(message).toMatch(reason);
    expect(message).not.toContain(SECRET.slice(6));
    expect(message).not.toContain("hunter2");
  },
);

const JUNK: readonly unknown[] = [null, true, 1.5, -1, 5, "", "x", [], ["x", 5], {}, { x: 1 }];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  file: ["webhooks"],
  webhook: ["id", "url", "secret", "allow_private_addresses", "rules"],
  rule: ["name", "channels", "filter", "edge", "quiet_seconds"],
  edge: ["field", "above", "below", "on"],
  filter: ["tokens", "symbols", "min_liquidity", "min_price_change", "sticky", "names"],
};

test("no value of any field is refused in the words of the schema library", () => {
  const put: Readonly<Record<string, (more: object) => unknown>> = {
    file: (more) => ({ webhooks: [webhook], ...more }),
    webhook: withHook,
    rule: withRule,
    edge: (more) => withRule({ edge: { ...edge, ...more } }),
    filter: (more) => withRule({ filter: more }),
  };
  const messages = Object.entries(FIELDS).flatMap(([of, names]) =>
    names.flatMap((name) => [...JUNK, undefined].map((value) => reasonOf(put[of]?.({ [name]: value })))),
  );
  messages.push(reasonOf(5), reasonOf([]), reasonOf({ webhooks: [5] }), reasonOf(withHook({ rules: [5] })));
  expect(messages.filter((message) => message !== "taken").length).toBeGreaterThan(100);
  expect(
    messages.filter((message) => /invalid|expected|received|too (small|big)|>=|<=/i.test(message)),
  ).toEqual([]);
});

test("a file that is not there, or endless, is refused by name", async ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  await expect(readAlertFile(join(directory, "none.json"))).rejects.toThrow(
    /none\.json: it cannot be read \(ENOENT\)/,
  );
  const big = join(directory, "big.json");
  writeFileSync(big, " ".repeat(1_048_577));
  await expect(readAlertFile(big)).rejects.toThrow(/it has 1048577 bytes; 1048576 is the most/);
  await expect(readAlertFile("/dev/zero")).rejects.toThrow(/it is no regular file/);
});

test("a file that everybody can write is refused, for whoever can write it can have secrets sent anywhere", async ({
  onTestFinished,
}) => {
  const file = join(newDirectory(onTestFinished), "alerts.json");
  writeFileSync(file, JSON.stringify({ webhooks: [webhook] }));
  chmodSync(file, 0o666);
  await expect(readAlertFile(file)).rejects.toThrow(/everybody on this machine can write it.*chmod 600/);
  chmodSync(file, 0o660);
  expect(await readAlertFile(file)).toHaveLength(1);
});

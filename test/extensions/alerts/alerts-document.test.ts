import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { AlertRule, NEWS } from "../../../src/extensions/alerts/rules/alert-rule.ts";
import { edgeFieldsOf } from "../../../src/extensions/alerts/rules/edge-field.ts";
import { openTargets, parseAlertFile } from "../../../src/extensions/alerts/targets/alert-file.ts";
import { Mqtt } from "../../../src/extensions/alerts/targets/mqtt/mqtt-target.ts";
import { Ntfy } from "../../../src/extensions/alerts/targets/ntfy.ts";
import { ATTEMPT_TIMEOUT_MS, QUEUE_LIMITS } from "../../../src/extensions/alerts/targets/target.ts";
import { ChannelWebhook } from "../../../src/extensions/alerts/targets/target-fields.ts";
import { Telegram } from "../../../src/extensions/alerts/targets/telegram.ts";
import { Webhook } from "../../../src/extensions/alerts/targets/webhook.ts";

const DOCUMENT = readFileSync(new URL("../../../src/extensions/alerts/ALERTS.md", import.meta.url), "utf8");

/** Returns the fields in the table under a heading. */
function fieldsUnder(heading: string): readonly string[] {
  const [, part = ""] = DOCUMENT.split(`# ${heading}\n`);
  const [table = ""] = part.split("\n#");
  return [...table.matchAll(/^\| (`\w+`(?:, `\w+`)*)/gm)].flatMap(
    ([, names = ""]) => names.match(/\w+/g) ?? [],
  );
}

const KINDS = {
  Webhooks: Webhook,
  Telegram,
  Discord: ChannelWebhook,
  Slack: ChannelWebhook,
  ntfy: Ntfy,
  MQTT: Mqtt,
};

test("the document has a valid example of each kind of target", () => {
  const examples = [...DOCUMENT.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const files = examples.filter((text) => text.includes('"rules"'));
  const kinds = files.flatMap((text) => Object.keys(JSON.parse(text)));
  expect(kinds.sort()).toEqual(
    Object.keys(KINDS)
      .map((kind) => kind.toLowerCase())
      .sort(),
  );
  for (const file of files)
    expect(openTargets(parseAlertFile(file, "ALERTS.md"), systemClock)).toHaveLength(1);
});

test.each(Object.entries(KINDS))("the document lists the fields of %s, and no others", (heading, kind) => {
  expect(fieldsUnder(heading).toSorted()).toEqual(Object.keys(kind.shape).sort());
});

test("the document lists the fields of rules, and no others", () => {
  expect(fieldsUnder("Rules")).toEqual(Object.keys(AlertRule.shape));
});

test("the document names the events, the fields of an edge, and the limits", () => {
  for (const name of NEWS) expect(DOCUMENT).toContain(`\`${name}\``);
  for (const resource of ["flares.pro", "newest.bsc", "charts.bsc"])
    for (const field of edgeFieldsOf(resource)) expect(DOCUMENT).toContain(`\`${field}\``);
  const { maxAgeMs, maxCount } = QUEUE_LIMITS;
  expect(DOCUMENT).toContain(`${maxAgeMs / 3_600_000} hours`);
  expect(DOCUMENT).toContain(maxCount.toLocaleString("en"));
  expect(DOCUMENT).toContain(`${ATTEMPT_TIMEOUT_MS / 1_000} seconds`);
});

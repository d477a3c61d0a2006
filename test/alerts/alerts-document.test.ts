import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AlertRule, NEWS } from "../../src/alerts/rules/alert-rule.ts";
import { edgeFieldsOf } from "../../src/alerts/rules/edge-field.ts";
import { parseAlertFile } from "../../src/alerts/targets/alert-file.ts";
import { ATTEMPT_TIMEOUT_MS, QUEUE_LIMITS } from "../../src/alerts/targets/target.ts";
import { Webhook } from "../../src/alerts/targets/webhook.ts";

const DOCUMENT = readFileSync(new URL("../../src/alerts/ALERTS.md", import.meta.url), "utf8");

/** The first cell of each row under a heading. */
function fieldsUnder(heading: string): readonly string[] {
  const [, part = ""] = DOCUMENT.split(`## ${heading}\n`);
  const [table = ""] = part.split("\n## ");
  return [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
}

test("the document's example is a valid file", () => {
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(DOCUMENT) ?? [];
  expect(parseAlertFile(example, "ALERTS.md").webhooks).toHaveLength(1);
});

test("the document lists the fields of webhooks and rules, and no others", () => {
  expect(fieldsUnder("Webhooks")).toEqual(Object.keys(Webhook.shape));
  expect(fieldsUnder("Rules")).toEqual(Object.keys(AlertRule.shape));
});

test("the document names the events, the fields of an edge, and the bounds", () => {
  for (const name of NEWS) expect(DOCUMENT).toContain(`\`${name}\``);
  for (const resource of ["flares.pro", "newest.bsc", "charts.bsc"])
    for (const field of edgeFieldsOf(resource)) expect(DOCUMENT).toContain(`\`${field}\``);
  const { maxAgeMs, maxCount } = QUEUE_LIMITS;
  expect(DOCUMENT).toContain(`${maxAgeMs / 3_600_000} hours, the last ${maxCount.toLocaleString("en")}`);
  expect(DOCUMENT).toContain(`within ${ATTEMPT_TIMEOUT_MS / 1_000} seconds`);
});

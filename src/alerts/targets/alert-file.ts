import { z } from "zod";
import { InputError } from "../../lib/input-error.ts";
import { describeIssue, expectedInWords, parseJsonText, readTrustedText } from "../../lib/io/json-file.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Target } from "./target.ts";
import { Webhook, webhookTarget } from "./webhook.ts";

const MAX_BYTES = 1_048_576;
const MAX_TARGETS = 100;

const list = <T extends z.ZodType>(target: T, what: string) =>
  z
    .array(target, { error: "a list" })
    .min(1, `a list of at least one ${what}`)
    .max(MAX_TARGETS, `a list of at most ${MAX_TARGETS} ${what}s`);

const AlertFile = z.strictObject({
  webhooks: list(Webhook, "webhook"),
});
export type AlertFile = z.infer<typeof AlertFile>;

/** Reads a file of targets. Rejects with InputError, which contains no secret and no query. */
export async function readAlertFile(file: string): Promise<AlertFile> {
  return parseAlertFile(await readTrustedText(file, MAX_BYTES), file);
}

export function parseAlertFile(text: string, file: string): AlertFile {
  const content = parseJsonText(text, file, '{"webhooks": [...]}');
  const parsed = AlertFile.safeParse(content, { error: expectedInWords });
  if (!parsed.success) throw new InputError(file, describeIssue(parsed.error.issues, content, { veil }));
  const { data } = parsed;
  const { webhooks } = data;
  const twice = repeated(webhooks.map(({ id }) => id));
  if (twice !== undefined) throw new InputError(file, `two webhooks have the id ${twice}; give each its own`);
  for (const { id, rules } of webhooks) {
    const name = repeated(rules.map((rule) => rule.name));
    if (name !== undefined)
      throw new InputError(file, `two rules of webhook ${id} have the name ${name}; give each its own`);
  }
  return data;
}

/** Returns the targets of a file, in its order. */
export function openTargets({ webhooks }: AlertFile, clock: Clock): readonly Target[] {
  return webhooks.map((webhook) => webhookTarget(webhook, clock));
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at);
}

/** Hides a secret and a URL, which may contain one. */
function veil(name: PropertyKey | undefined): string | undefined {
  return name === "secret" || name === "url" ? "malformed" : undefined;
}

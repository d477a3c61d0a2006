import { z } from "zod";
import { InputError } from "../../../base/lib/input-error.ts";
import {
  describeIssue,
  expectedInWords,
  parseJsonText,
  readTrustedText,
} from "../../../base/lib/io/json-file.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { Filter } from "../../../base/protocol/index.ts";
import { checkHost } from "../delivery/public-address.ts";
import { discordTarget } from "./discord.ts";
import { clientIdOf, Mqtt, mqttTargets } from "./mqtt/mqtt-target.ts";
import { Ntfy, ntfyTarget } from "./ntfy.ts";
import { slackTarget } from "./slack.ts";
import type { Target } from "./target.ts";
import { ChannelWebhook } from "./target-fields.ts";
import { Telegram, telegramTarget } from "./telegram.ts";
import { Webhook, webhookTarget } from "./webhook.ts";

const MAX_BYTES = 1_048_576;
const MAX_TARGETS = 100;
const KINDS_IN_WORDS = "webhooks, telegram, discord, slack, ntfy, mqtt";
/** Keys whose values are no secrets. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["id", "allow_private_addresses", "chat_id", "thread_id", "priority", "discovery"],
  ...["name", "channels", "quiet_seconds", "field", "above", "below", "on"],
  ...Object.keys(Filter.shape),
]);
/** Webhook secrets, access tokens of ntfy, bot tokens, and URLs, also without their scheme. */
const SECRET = new RegExp(
  [
    /(?:whsec|tk)_[\w+/=]*|\d+:[\w-]{10,}/,
    // A scheme, a user, a host name or a port, and the rest of the URL.
    /(?:\w+:\/\/|[^\s"@]+@|(?:[\w-]+\.[\w.-]+|[\w\]-]+:\d+)(?::\d+)?[/?])[^\s"]*/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

const list = <T extends z.ZodType>(target: T) =>
  z
    .array(target, { error: "a list" })
    .max(MAX_TARGETS, `a list of at most ${MAX_TARGETS} targets`)
    .default([]);

/** The targets by kind, each with its rules. */
const AlertFile = z
  .strictObject({
    webhooks: list(Webhook),
    telegram: list(Telegram),
    discord: list(ChannelWebhook),
    slack: list(ChannelWebhook),
    ntfy: list(Ntfy),
    mqtt: list(Mqtt),
  })
  .refine(
    (file) => allOf(file).length > 0,
    `an object with a list of at least one target: ${KINDS_IN_WORDS}`,
  );
type AlertFile = z.infer<typeof AlertFile>;

/**
 * Reads a file of targets. Rejects with InputError, which contains no value of a secret's key, and
 * of a URL at most the host. A secret in a wrong place is hidden if it has a known form.
 */
export async function readAlertFile(file: string): Promise<AlertFile> {
  return parseAlertFile(await readTrustedText(file, MAX_BYTES), file);
}

export function parseAlertFile(text: string, file: string): AlertFile {
  const content = parseJsonText(text, file, `{"webhooks": [...]} or another of ${KINDS_IN_WORDS}`);
  const parsed = AlertFile.safeParse(content, { error: expectedInWords });
  if (!parsed.success) {
    const words = { harmless: HARMLESS, hide: (part: string) => part.replace(SECRET, "***") };
    throw new InputError(file, describeIssue(parsed.error.issues, content, words));
  }
  const { data } = parsed;
  const all = allOf(data);
  const twice = repeated(all.map(({ id }) => id));
  if (twice !== undefined) throw new InputError(file, `two targets have the id ${twice}; give each its own`);
  const client = repeated(data.mqtt.map((broker) => `${clientIdOf(broker)} at ${broker.url}`));
  if (client !== undefined)
    throw new InputError(file, `two targets have the client_id ${client}; give each its own`);
  for (const { id, rules, ...target } of all) {
    checkAddress(id, target, file);
    const name = repeated(rules.map((rule) => rule.name));
    if (name !== undefined)
      throw new InputError(file, `two rules of target ${id} have the name ${name}; give each its own`);
  }
  return data;
}

/** Returns the targets of a file. */
export function openTargets(
  { webhooks, telegram, discord, slack, ntfy, mqtt }: AlertFile,
  clock: Clock,
): readonly Target[] {
  return [
    ...webhooks.map((webhook) => webhookTarget(webhook, clock)),
    ...telegram.map(telegramTarget),
    ...discord.map(discordTarget),
    ...slack.map(slackTarget),
    ...ntfy.map(ntfyTarget),
    ...mqttTargets(mqtt, clock),
  ];
}

interface Addressed {
  /** Undefined for a target whose address may always be private. */
  readonly allow_private_addresses?: boolean;
  readonly url?: string;
  readonly api_url?: string;
}

function allOf(file: Readonly<Record<string, readonly (Pick<Target, "id" | "rules"> & Addressed)[]>>) {
  return Object.values(file).flat();
}

/** Throws InputError if no alert could ever be sent, because the target's address is private. */
function checkAddress(id: string, target: Addressed, file: string): void {
  const { allow_private_addresses, url, api_url = url } = target;
  if (allow_private_addresses !== false || api_url === undefined) return;
  try {
    checkHost(new URL(api_url).hostname);
  } catch (error) {
    throw new InputError(file, `target ${id}: ${messageOf(error)}`, { cause: error });
  }
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

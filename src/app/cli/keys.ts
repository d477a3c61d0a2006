import { statSync } from "node:fs";
import { InputError } from "../../base/lib/input-error.ts";
import { NO_FILE } from "../../base/lib/io/json-file.ts";
import { ownCommand } from "../../base/lib/own-command.ts";
import { suggestion } from "../../base/lib/text/nearest.ts";
import { parseDuration } from "../../base/lib/text/quantity.ts";
import { systemClock } from "../../base/lib/time/clock.ts";
import { FlarewireError, PLANS, type Plan } from "../../base/protocol/index.ts";
import {
  hideSecrets,
  idOf,
  isExpired,
  Key,
  mintSecret,
  readKeyFile,
  readKeyUses,
} from "../../gateway/keys/index.ts";
import { type FlagDefinition, flagText, type ParsedFlags, parseFlags } from "../config/flags.ts";
import { editKeyFile } from "./edit-key-file.ts";
import { EXIT, type ExitCode } from "./shutdown.ts";
import { unknownChannels } from "./stream-address.ts";
import { say, type Terminal } from "./terminal/terminal.ts";
import { keyTable } from "./top/key-table.ts";

const VALUE: FlagDefinition = { type: "string" };

/** The flags of each action besides `--file`, and its number of other arguments. */
const ACTIONS = {
  add: {
    flags: {
      plan: VALUE,
      channels: VALUE,
      name: VALUE,
      expires: VALUE,
      connections: VALUE,
      "requests-per-minute": VALUE,
    },
    words: 0,
  },
  list: { flags: { json: { type: "boolean" } }, words: 0 },
  rotate: { flags: { until: VALUE }, words: 1 },
  revoke: { flags: {}, words: 1 },
} as const;
type Action = keyof typeof ACTIONS;

const MAX_COUNT = 1_000_000;
/** How long a replaced key stays valid without `--until`. */
const DEFAULT_OVERLAP = "24h";
const END_BOUND =
  "a duration from now, or a future time with a time zone, for example 90d or 2027-01-31T00:00:00Z";
const SAMPLE_ID = "3f9a1c2e";

export function keysHelp(): string {
  return `Usage: flarewire keys add    --file FILE [--plan PLAN] [--name NAME] [--expires WHEN] [limits]
       flarewire keys list   --file FILE [--json]
       flarewire keys rotate --file FILE [--until WHEN] ID
       flarewire keys revoke --file FILE ID

Edits the file that flarewire serve --keys FILE reads. A running server picks up a change within two seconds. The file
holds the SHA-256 of each key, not the key.

  add     creates a key and prints it, once, as the only line on standard output; creates a missing file
  list    prints all keys, without secrets
  rotate  creates a key like the one with this id, and prints it; the old one ends at --until
  revoke  removes the key with this id; the server closes its connections

Options:
  --file FILE                 the file; default: FLAREWIRE_KEYS
  --plan PLAN                 ${PLANS.join(" or ")}; default pro
  --channels CHANNELS         limit to these channels, such as flares.pro,charts.*; default: all of the plan
  --name NAME                 name of the holder, for people
  --expires WHEN              a duration from now such as 90d, or a time such as 2027-01-31T00:00:00Z; default: never
  --until WHEN                when the replaced key ends, as in --expires; default: 24h
  --connections N             limit of open streams and waiting polls, 1 to ${MAX_COUNT}; default: the server's limits
  --requests-per-minute N     limit of requests, 1 to ${MAX_COUNT}; default: none
  --json                      print each key as a JSON object on its own line

Exit codes: 0 done, 1 fix the reported problem first.`;
}

export async function keys(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { action, file, flags, word } = readArguments(args, terminal);
  if (action === "add") await add(file, readKey(flags), terminal);
  else if (action === "list") await list(file, flags.get("json") === true, terminal);
  else if (action === "rotate") await rotate(file, word, flags, terminal);
  else await revoke(file, word, terminal);
  return EXIT.clean;
}

async function add(file: string, wanted: WantedKey, terminal: Terminal): Promise<void> {
  let text = "";
  await editKeyFile(file, (existing) => {
    const made = createKey(existing, wanted);
    text = made.text;
    return [...existing, made.key];
  });
  terminal.stdout.write(`${text}\n`);
  say(terminal, `flarewire keys: created this key with the ${wanted.plan} plan; it is not shown again`);
}

/** Creates a key with an id that no other has. */
function createKey(
  existing: readonly Key[],
  wanted: WantedKey,
): { readonly text: string; readonly key: Key } {
  let secret = mintSecret("fw");
  while (existing.some(({ id }) => id === secret.id)) secret = mintSecret("fw");
  const { text, id, digest } = secret;
  const created_at = new Date(systemClock.now()).toISOString();
  return { text, key: { ...wanted, id, sha256: digest.toString("hex"), created_at } };
}

/**
 * Replaces a key with one of the same rights. The old one stays valid until `--until`, or its
 * earlier end.
 */
async function rotate(file: string, word: string, flags: Flags, terminal: Terminal): Promise<void> {
  const until = String(flags.get("until") ?? DEFAULT_OVERLAP);
  const nowMs = systemClock.now();
  const endMs = readEnd(until, nowMs);
  if (Number.isNaN(endMs)) throw wrong([`--until ${JSON.stringify(until)} must be ${END_BOUND}`]);
  let [text, id, ends] = ["", "", ""];
  await editExisting(file, word, (existing, old) => {
    if (isExpired(old, nowMs)) throw wrong([`the key ${old.id} has ended; add a new one instead`]);
    const made = createKey(existing, old);
    text = made.text;
    id = old.id;
    // A key that ends earlier anyway does not get more time.
    ends = (isExpired(old, endMs) && old.expires_at) || new Date(endMs).toISOString();
    const ending = { ...old, expires_at: ends };
    return [...existing.map((key) => (key === old ? ending : key)), made.key];
  });
  terminal.stdout.write(`${text}\n`);
  say(
    terminal,
    `flarewire keys: created this key in place of ${id}, which ends at ${ends}; it is not shown again`,
  );
}

async function list(file: string, json: boolean, terminal: Terminal): Promise<void> {
  const { keys: existing } = await readKeyFile(file);
  const uses = readKeyUses(file);
  const lines = json
    ? existing.map(({ sha256: _secret, ...shown }) =>
        JSON.stringify({ ...shown, last_used_at: uses[shown.id] }),
      )
    : keyTable(existing, uses, systemClock.now());
  for (const line of lines) terminal.stdout.write(`${line}\n`);
}

async function revoke(file: string, word: string, terminal: Terminal): Promise<void> {
  let id = "";
  await editExisting(file, word, (existing, old) => {
    id = old.id;
    return existing.filter((key) => key !== old);
  });
  say(terminal, `flarewire keys: revoked ${id}`);
}

/** Edits the file, which must exist and contain the key that `word` names. */
async function editExisting(
  file: string,
  word: string,
  edit: (existing: readonly Key[], old: Key) => readonly Key[],
): Promise<void> {
  // Also accepts the whole key, or its form in the log.
  const id = idOf("fw", word) ?? /^(?:fw_)?([0-9a-f]{8})(?:_\*\*\*)?$/.exec(word)?.[1];
  if (!statSync(file, { throwIfNoEntry: false })) throw new InputError(file, NO_FILE);
  await editKeyFile(file, (existing) => {
    const old = existing.find((key) => key.id === id);
    if (old) return edit(existing, old);
    const shown = JSON.stringify(hideSecrets(word).slice(0, 64));
    throw wrong([
      `${file} has no key with the id ${shown}; ${ownCommand(`keys list --file ${file}`)} prints the ids`,
    ]);
  });
}

type WantedKey = Omit<Key, "id" | "sha256">;
type Flags = ParsedFlags["flags"];

function readArguments(args: readonly string[], terminal: Terminal) {
  const [action = "", ...rest] = args;
  if (!isAction(action)) {
    const given = action === "" ? "no action given" : `unknown action ${JSON.stringify(hideSecrets(action))}`;
    const known = Object.keys(ACTIONS);
    throw wrong([`${given}${suggestion(action, known)}; known actions: ${known.join(", ")}`]);
  }
  const { flags: forms, words } = ACTIONS[action];
  const { flags, positionals, problems } = parseFlags(rest, { file: VALUE, ...forms }, words);
  const missing: string[] = [];
  const file = flags.get("file") ?? (terminal.environment.FLAREWIRE_KEYS || undefined);
  if (file === undefined) missing.push("--file is missing, for example --file keys.json");
  const [word = ""] = positionals;
  if (words > 0 && word === "" && problems.length === 0)
    missing.push(`the key's ID is missing, for example ${SAMPLE_ID}`);
  if (problems.length > 0 || missing.length > 0) throw wrong([...problems, ...missing].map(hideSecrets));
  return { action, file: String(file), flags, word };
}

/** Reads a new key's properties, and reports all invalid flags at once. */
function readKey(flags: Flags): WantedKey {
  const problems: string[] = [];
  const text = (name: string) => flagText(flags, name);
  const refuse = (name: string, bound: string, example: string, near = "") =>
    void problems.push(
      `--${name} ${JSON.stringify(hideSecrets(text(name) ?? ""))}${near} must be ${bound}, for example ${example}`,
    );
  const plan = text("plan") ?? "pro";
  if (!isPlan(plan)) refuse("plan", PLANS.join(" or "), "pro", suggestion(plan, PLANS));
  const name = text("name");
  if (name !== undefined && !/^[^\p{Cc}]{1,64}$/u.test(name))
    refuse("name", "1 to 64 characters, without control characters", '"trading desk"');
  const channels = text("channels")?.split(",");
  const unknown = unknownChannels(channels ?? []).map(hideSecrets);
  problems.push(...unknown);
  if (channels && unknown.length === 0 && !Key.shape.channels.safeParse(channels).success)
    refuse("channels", "channels or patterns, separated by commas", "flares.pro,charts.*");
  const count = (flag: string) => {
    const value = text(flag);
    if (value === undefined || (/^[1-9]\d{0,6}$/.test(value) && Number(value) <= MAX_COUNT)) return value;
    refuse(flag, `a whole number from 1 to ${MAX_COUNT}`, "10");
    return undefined;
  };
  const [connections, perMinute] = [count("connections"), count("requests-per-minute")];
  const expires = text("expires");
  const expiresAtMs = expires === undefined ? undefined : readEnd(expires, systemClock.now());
  if (Number.isNaN(expiresAtMs))
    problems.push(`--expires ${JSON.stringify(hideSecrets(expires ?? ""))} must be ${END_BOUND}`);
  if (problems.length > 0) throw wrong(problems);
  return {
    plan: isPlan(plan) ? plan : "free",
    ...(name === undefined ? {} : { name }),
    ...(channels === undefined ? {} : { channels }),
    ...(expiresAtMs === undefined ? {} : { expires_at: new Date(expiresAtMs).toISOString() }),
    ...(connections === undefined ? {} : { connections: Number(connections) }),
    ...(perMinute === undefined ? {} : { requests_per_minute: Number(perMinute) }),
  };
}

/** Reads a duration from now or a time, in milliseconds since 1970; NaN unless in the future. */
function readEnd(text: string, nowMs: number): number {
  const durationMs = parseDuration(text);
  const hasZone = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text);
  const endMs = durationMs === undefined ? (hasZone ? Date.parse(text) : Number.NaN) : nowMs + durationMs;
  // The file's format has only years of four digits.
  return endMs > nowMs && endMs < Date.parse("9999-12-31T00:00:00Z") ? endMs : Number.NaN;
}

function isAction(word: string): word is Action {
  return Object.hasOwn(ACTIONS, word);
}

function isPlan(word: string): word is Plan {
  return (PLANS as readonly string[]).includes(word);
}

function wrong(problems: readonly string[]): FlarewireError {
  return new FlarewireError("invalid-setting", problems.join("\n  "));
}

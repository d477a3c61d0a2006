import { formatDuration } from "../../../../base/lib/text/quantity.ts";
import { byForm, GROUP_FACTS } from "../../../../base/model/groups.ts";
import { END_TEXTS } from "../../../../base/model/text/end-texts.ts";
import { channelOf, type FlareQuery, filterOf } from "../../state/flare-query.ts";
import { causeOf } from "../../state/select-flares.ts";

/** The environment variable that the clients read a key from. */
const KEY_VARIABLE = "FLAREWIRE_CLIENT_KEY";

export const SAMPLE_KINDS = ["curl", "typescript", "python", "telegram", "webhook"] as const;
export type SampleKind = (typeof SAMPLE_KINDS)[number];

interface Sample {
  readonly title: string;
  readonly text: string;
  readonly note: string;
}

const EVENTS = {
  "flares.pro": ["flare-started", "flare-surged", "flare-finished"],
  "flares.free": ["flare-started", "flare-surged", "flare-finished"],
  "flares.finished": ["flare-finished"],
} as const;

/** If the search is a whole address, the server can filter by it. */
const WHOLE_ADDRESS = /^0x[0-9a-f]{40}$/;

/** Splits the query into the server's filter and the tests that a bot must make itself. */
function splitQuery(query: FlareQuery) {
  const search = query.search.trim().toLowerCase();
  const isAddress = WHOLE_ADDRESS.test(search) && query.tokens.length === 0;
  const filter = filterOf(isAddress ? { ...query, tokens: [search] } : query);
  return { filter, search: isAddress ? "" : search, names: EVENTS[query.channel] };
}

/** Returns the tests that the server's filters cannot make, in each language. */
function ownTests(query: FlareQuery) {
  const { search } = splitQuery(query);
  const cause = causeOf(query);
  const text = JSON.stringify(search);
  // A warning must not hide the end of a flare whose start was reported.
  const unlessEnd = (test: string) => (hasStarts(query) ? test : "");
  const inPython = (path: readonly string[]) => `flare${path.map((part) => `["${part}"]`).join("")}`;
  const tests = [
    cause && [
      `.data.cause == "${cause}"`,
      `event.data.cause !== "${cause}"`,
      `event["data"]["cause"] != "${cause}"`,
    ],
    query.hidesWarned && [
      `(${unlessEnd('.name == "flare-finished" or ')}(.data.why.warnings // [] | length == 0))`,
      `${unlessEnd('event.name !== "flare-finished" && ')}why?.warnings.length`,
      `${unlessEnd('event["name"] != "flare-finished" and ')}why.get("warnings")`,
    ],
    search !== "" && [
      `([.data.flare | ${pathsOf(query, (path) => `.${path.join(".")}`)} | strings | ascii_downcase] | any(contains(${text})))`,
      `![${pathsOf(query, (path) => `flare.${path.join(".")}`)}].some((text) => text?.toLowerCase().includes(${text}))`,
      `not any(${text} in (text or "").lower() for text in (${pathsOf(query, inPython)}))`,
    ],
  ];
  const of = (language: 0 | 1 | 2) => tests.flatMap((test) => (test ? (test[language] ?? []) : []));
  // In jq, whether the bot wants the event; in the others, whether it skips the event.
  return { jq: of(0), typescript: of(1), python: of(2) };
}

/** Whether the samples report starts, and not only ends. */
function hasStarts({ channel }: FlareQuery): boolean {
  return channel !== "flares.finished";
}

/** Describes what the samples select. */
export function describeQuery(query: FlareQuery): string {
  return describeStarts(query, hasStarts(query) ? ", its surges and its end" : "");
}

/**
 * Describes what an alert of this page selects: starts or, in the list of finished flares, ends.
 * `end` is added to starts.
 */
export function describeStarts(query: FlareQuery, end = ""): string {
  const { filter, search } = splitQuery(query);
  const cause = causeOf(query);
  const label = query.group === "exchange" ? "exchanges" : GROUP_FACTS[query.group].label;
  const of = query.group === "bsc" ? "" : ` on ${label}`;
  const what = {
    "flares.pro": `Every flare${of} as soon as it starts${end}`,
    "flares.free": `Every flare${of} that is at least 5 minutes old and has no warning${end}`,
    "flares.finished": `Every flare${of} that ends, with what its price did`,
  }[query.channel];
  const limits = [
    filter.tokens && `${filter.tokens.length} chosen tokens`,
    filter.symbols && `symbol ${filter.symbols.join(" or ")}`,
    filter.min_liquidity !== undefined &&
      `liquidity of at least $${filter.min_liquidity.toLocaleString("en")}`,
    filter.min_price_change !== undefined && `at least ${filter.min_price_change} % in 5 minutes`,
    filter.min_age !== undefined && `token at least ${formatDuration(filter.min_age * 1_000)} old`,
    filter.min_locked !== undefined &&
      `at least ${Math.round(100 * filter.min_locked)} % of the liquidity locked`,
    search !== "" &&
      `“${search}” in ${FIELDS[query.group].slice(0, -1).join(", ")} or ${FIELDS[query.group].at(-1)}`,
    query.hidesWarned && (end === "" ? "no warning" : "no warning at the start"),
    cause && `ended as “${END_TEXTS[cause]}”`,
  ].filter((limit) => typeof limit === "string");
  return `${what}${limits.length > 0 ? `: ${limits.join(", ")}` : ""}.`;
}

/**
 * Returns programs that follow the flares that the query selects. The webhook's rule selects more
 * if the query searches or tests warnings or causes. If the server `hasKeys`, the programs send the
 * key in the environment variable FLAREWIRE_CLIENT_KEY, if it is set. They never contain a key.
 */
export function botSamples(
  query: FlareQuery,
  server: URL,
  hasKeys = false,
): Readonly<Record<SampleKind, Sample>> {
  const address = server.href.replace(/\/$/, "");
  const url = eventsUrl(query, address);
  const python = pythonText(query, url, address, hasKeys);
  const key = hasKeys ? ` Sends the key in the environment variable ${KEY_VARIABLE}, if it is set.` : "";
  return {
    curl: {
      title: "curl",
      text: curlText(query, url, hasKeys),
      note: `One JSON object a line, until you stop it.${key}`,
    },
    typescript: {
      title: "TypeScript",
      text: typescriptText(query, address, hasKeys),
      note: `Reconnects and resumes by itself. Misses nothing, or says what it missed.${key}`,
    },
    python: {
      title: "Python",
      text: python(`    print(event["name"], text)`),
      note: `Needs no package. To resume after a lost connection, add the last event's cursor as after=.${key}`,
    },
    telegram: {
      title: "Telegram",
      text: python(TELEGRAM, ["os", "urllib.parse"]),
      note: `Set TELEGRAM_BOT_TOKEN (from @BotFather) and TELEGRAM_CHAT_ID.${key} A server with serve --alerts also retries.`,
    },
    webhook: {
      title: "Webhook",
      text: webhookText(query),
      note: `A rule for the file of serve --alerts. The server stores and retries what your receiver does not accept.${ownTests(query).jq.length > 0 ? " A rule cannot search, or look at warnings and causes: your receiver must." : ""}`,
    },
  };
}

function eventsUrl(query: FlareQuery, address: string): string {
  const { filter, names } = splitQuery(query);
  const parameters = { channels: channelOf(query), names, ...filter };
  const text = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return `${address}/api/v1/events?${text.toString().replaceAll("%2C", ",")}`;
}

function curlText(query: FlareQuery, url: string, hasKeys: boolean): string {
  const tests = ownTests(query).jq;
  const only =
    tests.length === 0 ? "" : ` \\\n  | jq -c --unbuffered ${quoteShell(`select(${tests.join(" and ")})`)}`;
  // curl ignores the empty field of an unset variable. A refusal's body is one line of JSON.
  const key = hasKeys ? `\n  -H "\${${KEY_VARIABLE}:+Authorization: Bearer $${KEY_VARIABLE}}" \\` : "";
  return `curl -sSN --fail-with-body -H 'Accept: text/event-stream' \\${key}
  ${quoteShell(url)} \\
  | sed -un '/^{/p; s/^data: //p'${only}`;
}

function typescriptText(query: FlareQuery, address: string, hasKeys: boolean): string {
  const { filter, names } = splitQuery(query);
  const isExchange = query.group === "exchange";
  const skips = [...(isExchange ? ['!("pair" in flare)'] : []), ...ownTests(query).typescript];
  // A surge has no cause.
  const reason = hasStarts(query) ? '"cause" in event.data ? event.data.cause : "again"' : "event.data.cause";
  const name = isExchange ? "flare.pair, flare.exchange" : "flare.token.symbol, flare.token.address";
  const page = query.group === "bsc" ? `, \`${address}/flare/\${flare.id}\`` : "";
  return `import { connect } from "flarewire/client";

const stream = connect(${JSON.stringify(address)}, {
  channels: ["${channelOf(query)}"],
  filter: ${JSON.stringify({ ...filter, names })},${hasKeys ? `\n  key: process.env.${KEY_VARIABLE} || undefined,` : ""}
});
for await (const event of stream) {
  if (${names.map((one) => `event.name !== "${one}"`).join(" && ")}) continue;
  const { flare, why } = event.data;
${skips.map((skip) => `  if (${skip}) continue;\n`).join("")}  console.log(event.name, ${reason}, ${name}, why?.text${page});
}`;
}

const TELEGRAM = `    fields = {"chat_id": os.environ["TELEGRAM_CHAT_ID"], "text": event["name"] + " " + text}
    address = "https://api.telegram.org/bot" + os.environ["TELEGRAM_BOT_TOKEN"] + "/sendMessage"
    urllib.request.urlopen(address, urllib.parse.urlencode(fields).encode()).close()`;

function pythonText(query: FlareQuery, url: string, address: string, hasKeys: boolean) {
  const title =
    query.group === "exchange" ? '(flare["pair"] or flare["token"]["symbol"])' : 'flare["token"]["symbol"]';
  const cause = hasStarts(query) ? 'event["data"].get("cause", "again")' : 'event["data"]["cause"]';
  const page = query.group === "bsc" ? ` + " " + ${JSON.stringify(`${address}/flare/`)} + flare["id"]` : "";
  const key = `if key := os.environ.get("${KEY_VARIABLE}"):\n    headers["Authorization"] = "Bearer " + key\n`;
  return (action: string, imports: readonly string[] = []) => {
    const modules = ["json", "urllib.error", "urllib.request", ...(hasKeys ? ["os"] : []), ...imports];
    return `import ${[...new Set(modules)].sort().join(", ")}

headers = {"Accept": "text/event-stream"}
${hasKeys ? key : ""}request = urllib.request.Request(${JSON.stringify(url)}, headers=headers)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    raise SystemExit(error.read().decode())
for line in response:
    if not line.startswith(b"data: "):
        continue
    event = json.loads(line[6:])
    if "flare" not in event.get("data", {}):
        continue
    flare, why = event["data"]["flare"], event["data"]["why"] or {}
${ownTests(query)
  .python.map((test) => `    if ${test}:\n        continue\n`)
  .join("")}    text = ${cause} + " " + ${title} + ": " + why.get("text", "")${page}
${action}`;
  };
}

/** The fields of a flare that are searched, as on the page. */
const FIELDS = byForm(
  ["symbol", "name", "address"],
  ["symbol", "name", "pair", "exchange"],
  ["symbol", "name", "address"],
);

/** Returns the paths of these fields in a flare, each formatted by `write`. */
function pathsOf({ group }: FlareQuery, write: (path: readonly string[]) => string): string {
  const isOwn = (field: string) => field === "pair" || field === "exchange";
  return FIELDS[group].map((field) => write(isOwn(field) ? [field] : ["token", field])).join(", ");
}

function webhookText(query: FlareQuery): string {
  const { filter, names } = splitQuery(query);
  const isFinish = query.channel === "flares.finished";
  const rule = {
    name: "my-view",
    channels: [channelOf(query)],
    filter: { ...filter, ...(isFinish ? { names } : {}) },
  };
  return JSON.stringify(
    Object.keys(rule.filter).length === 0 ? { ...rule, filter: undefined } : rule,
    null,
    2,
  );
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

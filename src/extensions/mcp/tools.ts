import { z } from "zod";
import {
  AnyFlare,
  Explanation,
  FlareRecord,
  GROUPS,
  type Group,
  Odds,
  Outcome,
  RecordWindow,
  Surge,
  TokenDetails,
  TrackRecord,
} from "../../base/model/index.ts";
import { endReason, nowReason } from "../../base/model/text/reason-text.ts";
import { flarePatternOf, Lost } from "../../base/protocol/index.ts";
import { ApiProblem, type ApiResponse, dataState, type RequestApi, read, withQuery } from "./market-api.ts";
import { showFlare, showOutcome, showRecord } from "./shown-flare.ts";
import { untrusted } from "./untrusted.ts";

/** What an agent can call. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /**
   * Resolves with the answer as a JSON object. Rejects with `ApiProblem` if the server rejects the
   * request.
   */
  run(request: RequestApi, input: z.infer<Input>, signal: AbortSignal): Promise<object>;
}

/** Longest wait of `flares_since`, in seconds: clients give up after 60. */
const MAX_WAIT_S = 25;
const NAMES = "flare-started,flare-surged,flare-finished,flare-outcome";
/** The names that a server without surges accepts. */
const OLDER_NAMES = "flare-started,flare-finished,flare-outcome";
const Time = z.string().max(40).describe("A time in UTC such as 2026-01-31T12:00:00Z.");
const InGroup = z
  .enum(GROUPS, {
    error: ({ input }) =>
      `${JSON.stringify(input)?.slice(0, 64)} is not a group; known groups: ${GROUPS.join(", ")}`,
  })
  .default("bsc")
  .describe("Market: a chain, or the exchange.");
/** A part of a path, which `.` and `..` would change. */
const PathPart = z
  .string()
  .min(1)
  .max(64)
  .regex(/^(?!\.{1,2}$)/, { error: "not . or .." });

/** Only the flares that are shown are parsed: a long list would take tens of milliseconds. */
const Unparsed = z.array(z.unknown());
const Flares = z.object({ pro: Unparsed, free: Unparsed }).partial();
const Whys = z.record(z.string(), z.unknown());
const Snapshot = z.object({
  cursor: z.string(),
  observed_at: z.string(),
  flares: Flares,
  explanations: Whys,
});
/** A page of events with the lists of its channels. */
const Lists = z.object({
  cursor: z.string(),
  snapshot: z.looseObject({ explanations: Whys.default({}) }),
});

const Events = z.object({
  cursor: z.string(),
  more: z.boolean(),
  events: z.array(
    z.object({
      name: z.string(),
      cursor: z.string(),
      observed_at: z.string(),
      channel: z.string(),
      data: z.object({
        id: z.string().optional(),
        cause: z.string().nullish(),
        flare: AnyFlare.nullish(),
        why: z.object({ text: z.string(), odds: Odds.nullable().optional() }).nullish(),
        outcome: Outcome.nullish(),
        surge: Surge.optional(),
      }),
    }),
  ),
});

export const TOOLS: readonly Tool[] = [
  tool({
    name: "flares_now",
    title: "What flares now",
    description:
      "Tokens that flare now, newest start first, each with the reason as of now, and a cursor for flares_since.",
    input: z.object({
      group: InGroup,
      limit: z.int().min(1).max(100).default(20).describe("Maximum number of flares."),
    }),
    run: (request, { group, limit }, signal) => readSnapshot(request, { group }, limit, signal),
  }),
  tool({
    name: "flares_since",
    title: "What happened since a cursor",
    description:
      "Every start, surge, finish and final outcome of flares after the cursor, in order, and the next cursor. A flare starts in the list pro, and at least 5 minutes later, without a sign of danger, also in free. It surges when it doubles its strength or looks like a start again while it runs. Waits for the first event if wait_s is given. Nothing is missed between two calls: if something is gone, lost says so, and flares has what flares now.",
    input: z.object({
      group: InGroup,
      cursor: z.string().min(1).max(100).describe("From flares_now, or from the previous call."),
      wait_s: z.int().min(0).max(MAX_WAIT_S).default(0).describe("Seconds to wait if nothing happened yet."),
      limit: z.int().min(1).max(200).default(50).describe("Maximum number of events."),
    }),
    run: readSince,
  }),
  tool({
    name: "why",
    title: "Why a flare started and ended",
    description: "One flare with the terms of its score, each with its unit, its end and its outcome.",
    input: z.object({ id: PathPart.describe("The flare's id.") }),
    run: async (request, { id }, signal) => {
      const path = `/api/v1/flares/${encodeURIComponent(id)}`;
      const { body, data } = await read(request, path, FlareRecord, signal);
      const { started, why } = body;
      const numbers = (one: typeof started) =>
        one && { at: one.at, text: one.text, score: one.score, threshold: one.threshold, terms: one.terms };
      return { data, ...showRecord(body), at_start: numbers(started), latest: numbers(why) };
    },
  }),
  tool({
    name: "token",
    title: "A token",
    description: "One token: facts, standing in chart and leaderboard, warnings, and its ten latest flares.",
    input: z.object({
      group: InGroup,
      token: PathPart.describe("Its address, or a symbol that only one token has."),
    }),
    run: async (request, { group, token: key }, signal) => {
      const path = `/api/v1/tokens/${group}/${encodeURIComponent(key)}`;
      const { body, data } = await read(request, path, TokenDetails, signal);
      const { symbol, name, address, price, price_at, created_at, liquidity, canary, flares } = body;
      return {
        data,
        group,
        address,
        symbol: untrusted(symbol),
        name: name === null ? null : untrusted(name),
        price,
        price_at: price_at ?? null,
        created_at,
        liquidity_usd: liquidity,
        looks_dangerous: canary,
        as_of: body.as_of,
        chart_rank: body.chart?.rank ?? null,
        leaderboard_rank: body.leaderboard?.rank ?? null,
        flares: flares.slice(0, 10).map(showRecord),
      };
    },
  }),
  tool({
    name: "history",
    title: "Finished flares",
    description:
      "Finished flares, newest first, with reasons and outcomes. next is the cursor of older ones.",
    input: z.object({
      group: z.enum(GROUPS).optional(),
      from: Time.optional(),
      to: Time.optional(),
      address: z.string().max(64).optional(),
      symbol: z.string().max(64).optional(),
      limit: z.int().min(1).max(50).default(20),
      cursor: z.string().max(100).optional().describe("next of the previous answer."),
    }),
    run: async (request, input, signal) => {
      const schema = z.object({ flares: z.array(FlareRecord), next: z.string().nullable() });
      const { body, data } = await read(request, withQuery("/api/v1/history", input), schema, signal);
      return { data, flares: body.flares.map(showRecord), next: body.next };
    },
  }),
  tool({
    name: "track_record",
    title: "How flares turned out",
    description:
      "What prices did after the flares of a day, a week or a month, beside other moments of the same tokens.",
    input: z.object({ group: z.enum(GROUPS).optional(), window: RecordWindow.default("7d") }),
    run: async (request, input, signal) => {
      const path = withQuery("/api/v1/record", input);
      const { body, data } = await read(request, path, TrackRecord, signal);
      return { data, ...body };
    },
  }),
  tool({
    name: "snapshot_at",
    title: "What flared at a past minute",
    description:
      "The flares as they were served at that minute, with the reasons as of then, without later knowledge.",
    input: z.object({ group: InGroup, at: Time, limit: z.int().min(1).max(100).default(20) }),
    run: (request, { limit, ...query }, signal) => readSnapshot(request, query, limit, signal),
  }),
];

function tool<Input extends z.ZodObject>(one: Tool<Input>): Tool {
  return { ...one, run: (request, input, signal) => one.run(request, one.input.parse(input), signal) };
}

async function readSnapshot(
  request: RequestApi,
  { group, at }: { readonly group: Group; readonly at?: string },
  limit: number,
  signal: AbortSignal,
) {
  // `bsc` is the default. A server without flares of other groups rejects the parameter.
  const path = withQuery("/api/v1/snapshot", { at, group: group === "bsc" ? undefined : group });
  const { body, data } = await read(request, path, Snapshot, signal).catch((error: unknown) => {
    const isLimited = error instanceof ApiProblem && error.response.status === 403;
    if (isLimited && at === undefined) return readLists(request, group, signal);
    throw error;
  });
  const flares = body.flares.pro ?? body.flares.free ?? [];
  const whyOf = ({ id }: AnyFlare) => Explanation.optional().parse(body.explanations[id]);
  const shown = z
    .array(AnyFlare)
    .parse(flares.slice(0, limit))
    .map((flare) => showFlare(flare, whyOf(flare)));
  return { data, observed_at: body.observed_at, cursor: body.cursor, total: flares.length, flares: shown };
}

/** Reads the flares for a key that may follow them, but not read the whole snapshot. */
async function readLists(request: RequestApi, group: Group, signal: AbortSignal) {
  const channels = flarePatternOf(group);
  const path = withQuery("/api/v1/events", { channels, snapshot: true });
  const { body, data } = await read(request, path, Lists, signal);
  const { cursor, snapshot } = body;
  const flares = Flares.parse(snapshot[channels.replace(/\.\*$/, "")] ?? {});
  const { explanations } = snapshot;
  return { body: { cursor, observed_at: data.observed_at, flares, explanations }, data };
}

async function readSince(
  request: RequestApi,
  { group, cursor, wait_s, limit }: { group: Group; cursor: string; wait_s: number; limit: number },
  signal: AbortSignal,
) {
  const query = { channels: flarePatternOf(group), after: cursor, wait: wait_s, limit };
  const pathFor = (names: string) => withQuery("/api/v1/events", { ...query, names });
  let path = pathFor(NAMES);
  let response = await request(path, signal);
  if (response.status === 400 && response.text.includes("flare-surged")) {
    path = pathFor(OLDER_NAMES);
    response = await request(path, signal);
  }
  const data = dataState(response);
  const next = response.header("flarewire-cursor") ?? cursor;
  if (response.status === 204) return { data, cursor: next, events: [], more: false, lost: null };
  if (response.status === 410) {
    // The snapshot replaces what the agent knew. The next call continues at its cursor.
    const now = await readSnapshot(request, { group }, limit, signal);
    return { ...now, events: [], more: false, lost: lossIn(response) };
  }
  if (response.status !== 200) throw new ApiProblem(path, response);
  const body = Events.parse(JSON.parse(response.text));
  return {
    data,
    cursor: body.cursor,
    events: body.events.filter(isFirst).flatMap(showEvent),
    more: body.more,
    lost: null,
  };
}

/** Returns the loss that the problem `cursor-gone` reports. */
function lossIn({ text }: ApiResponse): Lost {
  return z.object({ lost: Lost }).parse(JSON.parse(text)).lost;
}

type Sent = z.infer<typeof Events>["events"][number];

/** Returns false for a surge on the list free that the page has on the list pro too. */
function isFirst({ name, channel, data }: Sent, _index: number, page: readonly Sent[]): boolean {
  if (name !== "flare-surged" || !channel.endsWith(".free")) return true;
  const isSame = (other: Sent) =>
    other.name === name &&
    other.channel !== channel &&
    other.data.flare?.id === data.flare?.id &&
    other.data.surge?.number === data.surge?.number;
  return !page.some(isSame);
}

/** Renders an event. A finish is an event on up to three lists, but is returned once. */
function showEvent(given: Sent): readonly object[] {
  const { name, channel, observed_at } = given;
  const { id, flare, why, cause, outcome, surge } = given.data;
  if (name === "flare-finished" && !channel.endsWith(".finished")) return [];
  const event = { name, at: observed_at, list: channel.split(".").at(-1), cause: cause ?? null };
  const shown = outcome ? showOutcome(outcome) : null;
  if (!flare) return [{ ...event, id: id ?? null, outcome: shown }];
  const isStart = name === "flare-surged" || (name === "flare-started" && cause === "detected");
  const text =
    why && (name === "flare-finished" ? endReason(why.text) : isStart ? why.text : nowReason(why.text));
  const shownFlare = { ...showFlare(flare, undefined), why: text ?? null, odds: why?.odds ?? null };
  return [{ ...event, ...(surge && { surge }), flare: shownFlare, outcome: shown }];
}

import { z } from "zod";
import {
  CHANNELS,
  type Channel,
  type EventName,
  eventNamesOn,
  Filter,
  matchChannels,
} from "../../protocol/index.ts";
import { edgeFieldsOf } from "./edge-field.ts";

/** The events that are news in themselves: what a rule without an edge tells of. */
export const NEWS: ReadonlySet<EventName> = new Set([
  "flare-started",
  "flare-finished",
  "token-listed",
  "source-status",
]);

const MAX_QUIET_S = 604_800;

/**
 * A level that a number passes. With hysteresis: once it has risen to `above` it is told again only after it has fallen to `below`, so that a number which
 * trembles at the level does not ring each time.
 */
const Edge = z
  .strictObject({
    /** A number of the channel's items, under the name that it has in the API; of flares also `score`. */
    field: z.string(),
    /** It has risen when it is this or more. */
    above: z.number(),
    /** It has fallen when it is this or less; at most `above`. */
    below: z.number(),
    /** Which of the two is told; default `rise`. */
    on: z.enum(["rise", "fall", "both"], { error: "one of rise, fall, both" }).default("rise"),
  })
  .refine(({ above, below }) => below <= above, {
    path: ["below"],
    error: "at most above, so that there is a way back",
  });

/** What is to be told: news of the items that a filter selects, or, with `edge`, when a number of theirs passes a level. */
export const AlertRule = z
  .strictObject({
    /** Names it in what is sent, and in the log; one of its own in its webhook. */
    name: z.string().regex(/^[\w.-]{1,64}$/, "1 to 64 letters, digits, and _ . -"),
    /** Channels, or patterns such as `charts.*`; default `flares.pro`: every flare, at once. */
    channels: z.array(z.string()).min(1).max(CHANNELS.length).default(["flares.pro"]),
    /** As for a subscription. Its `names` are of the news: flare-started, flare-finished, token-listed, source-status; with `edge` it has none. */
    filter: Filter.optional(),
    edge: Edge.optional(),
    /** For so many seconds of event time after it told of a token, nothing that begins is told of it again; default 0. What ended is told if its beginning was. */
    quiet_seconds: z
      .number()
      .min(0, "0 or more")
      .max(MAX_QUIET_S, `at most ${MAX_QUIET_S}, a week`)
      .default(0),
  })
  .superRefine((rule, { addIssue }) => {
    const issue = (path: string[], message: string) => addIssue({ code: "custom", path, message });
    const channels = channelsOfRule(rule.channels);
    for (const [at, pattern] of rule.channels.entries()) {
      if (matchChannels(pattern).length > 0) continue;
      issue(["channels", String(at)], `one of ${CHANNELS.join(", ")}, or a pattern such as flares.*`);
      return;
    }
    const { edge, filter } = rule;
    if (!edge) checkNews(channels, filter, issue);
    else {
      if (filter?.names) issue(["filter", "names"], "left out where there is an edge");
      for (const channel of channels) {
        const fields = edgeFieldsOf(channel);
        const those =
          fields.length > 0
            ? `${fields.join(", ")}, as ${channel} has them`
            : `left out: ${channel} has no numbers to watch`;
        if (!fields.includes(edge.field)) issue(["edge", "field"], `one of ${those}`);
      }
    }
  });
export type AlertRule = z.infer<typeof AlertRule>;

/** The channels that these patterns select, each once. */
export function channelsOfRule(patterns: readonly string[]): readonly Channel[] {
  return [...new Set(patterns.flatMap(matchChannels))];
}

/** What a rule without an edge tells of: of its names those that are news. */
export function newsOf(filter: Filter | undefined): EventName[] {
  return [...NEWS].filter((name) => !filter?.names || filter.names.includes(name));
}

function checkNews(
  channels: readonly Channel[],
  filter: Filter | undefined,
  issue: (path: string[], message: string) => void,
): void {
  const unknown = filter?.names?.find((name) => !NEWS.has(name));
  if (unknown) issue(["filter", "names"], `of ${[...NEWS].join(", ")}; changes are told by an edge`);
  const names = new Set(channels.flatMap(eventNamesOn));
  if (newsOf(filter).some((name) => names.has(name))) return;
  issue(
    ["channels"],
    "channels that carry news, or of charts an edge: they have nothing that starts or ends",
  );
}

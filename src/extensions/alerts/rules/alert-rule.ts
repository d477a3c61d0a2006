import { z } from "zod";
import { nearest, suggestion } from "../../../base/lib/text/nearest.ts";
import { groupOfChannel } from "../../../base/model/index.ts";
import {
  CHANNEL_PATTERNS,
  CHANNELS,
  type Channel,
  EVENT_NAMES,
  type EventName,
  eventNamesOn,
  Filter,
  matchChannels,
} from "../../../base/protocol/index.ts";
import { edgeFieldsOf } from "./edge-field.ts";

/** The events that a rule without an edge reports. */
export const NEWS = [
  "flare-started",
  "flare-surged",
  "flare-finished",
  "token-listed",
  "source-status",
] as const satisfies readonly EventName[];

const SOME_NEWS = { error: `a list of some of ${NEWS.join(", ")}` };

const MAX_QUIET_S = 604_800;

/**
 * A level with hysteresis: after a rise to `above`, the value must fall to `below` before it can
 * rise again.
 */
const Edge = z
  .strictObject({
    /** A numeric field of the channel's items, as named in the API, or the `score` of flares. */
    field: z.string(),
    above: z.number(),
    below: z.number(),
    /** The direction to report. Default: `rise`. */
    on: z.enum(["rise", "fall", "both"], { error: "one of rise, fall, both" }).default("rise"),
  })
  .refine(({ above, below }) => below <= above, {
    path: ["below"],
    error: "at most edge.above",
  });

export type NewsName = (typeof NEWS)[number];

const NewsName = z.enum(NEWS, {
  error: ({ input }) => {
    const expected = `one of ${NEWS.join(", ")}${suggestion(textOf(input), NEWS)}`;
    return EVENT_NAMES.some((name) => name === input)
      ? `${expected}; use an edge to report changes`
      : expected;
  },
});

/** Returns a text for a suggestion. An object's own `toString` may be no function. */
function textOf(input: unknown): string {
  return typeof input === "string" ? input : "";
}

/** Reports news about items that pass a filter or, with `edge`, numbers that cross a level. */
export const AlertRule = z
  .strictObject({
    /** Names the rule in messages and in the log. Unique within the target. */
    name: z.string().regex(/^[\w.-]{1,64}$/, "1 to 64 letters, digits, and _ . -"),
    /**
     * Channels, or patterns such as `charts.*`. Default: `flares.pro`, all flares without the delay
     * of `flares.free`.
     */
    channels: z
      .array(z.string(), {
        error: ({ input }) =>
          `a list such as ["${nearest(textOf(input), CHANNEL_PATTERNS) ?? "flares.pro"}"]`,
      })
      .min(1)
      .max(CHANNELS.length)
      .default(["flares.pro"]),
    /** As in a subscription. `names` selects from {@link NEWS}, and must be absent with `edge`. */
    filter: Filter.safeExtend({
      names: z.array(NewsName, SOME_NEWS).min(1, SOME_NEWS).optional(),
    }).optional(),
    edge: Edge.optional(),
    /**
     * After a start, listing or rise is reported, further ones for the same token are not reported
     * for this many seconds of event time. With `fall`, this applies to falls. Surges of a reported
     * flare are always reported. Default: 0.
     */
    quiet_seconds: z
      .number()
      .min(0, "0 or more")
      .max(MAX_QUIET_S, `at most ${MAX_QUIET_S} (a week)`)
      .default(0),
  })
  .superRefine((rule, { addIssue }) => {
    const issue = (path: string[], message: string) => addIssue({ code: "custom", path, message });
    const channels = channelsOfRule(rule.channels);
    for (const [index, pattern] of rule.channels.entries()) {
      if (matchChannels(pattern).length > 0) continue;
      const near = suggestion(pattern, CHANNEL_PATTERNS);
      const known = `one of ${CHANNELS.join(", ")}, or a pattern such as flares.*`;
      issue(["channels", String(index)], `${known}${near}`);
      return;
    }
    const { edge, filter } = rule;
    if (!edge) checkNews(channels, filter, issue);
    else {
      if (filter?.names) issue(["filter", "names"], "absent in a rule with an edge");
      for (const channel of channels) {
        const fields = edgeFieldsOf(channel);
        const expected =
          fields.length > 0
            ? `one of ${fields.join(", ")}, the numeric fields of ${channel}${suggestion(edge.field, fields)}`
            : `a numeric field of every channel; ${channel} has none`;
        if (!fields.includes(edge.field)) issue(["edge", "field"], expected);
      }
    }
    if (channels.every((channel) => groupOfChannel(channel) === "exchange")) {
      const without = "in a rule for exchanges, which report no liquidity";
      if (Number(filter?.min_liquidity ?? 0) > 0) issue(["filter", "min_liquidity"], `absent ${without}`);
      if (edge?.field === "liquidity") issue(["edge", "field"], `another field ${without}`);
    }
  });
export type AlertRule = z.infer<typeof AlertRule>;

export function channelsOfRule(patterns: readonly string[]): readonly Channel[] {
  return [...new Set(patterns.flatMap(matchChannels))];
}

export function newsOf(filter: Filter | undefined): NewsName[] {
  return NEWS.filter((name) => !filter?.names || filter.names.includes(name));
}

function checkNews(
  channels: readonly Channel[],
  filter: Filter | undefined,
  issue: (path: string[], message: string) => void,
): void {
  const names = new Set(channels.flatMap(eventNamesOn));
  if (newsOf(filter).some((name) => names.has(name))) return;
  issue(
    ["channels"],
    "channels with starts, finishes or listings; charts have none, so their rules require an edge",
  );
}

import { flarePath, tokenPath } from "../../../base/lib/text/page-path.ts";
import { groupOfChannel, type ListItem } from "../../../base/model/index.ts";
import { keyOf, tokenOf } from "../../../base/model/key-of.ts";
import {
  applyEvent,
  changesOf,
  type EventMessage,
  isListChannel,
  LIST_CHANNEL_NAMES,
  type ListChannel,
  listOf,
  type View,
} from "../../../base/protocol/index.ts";
import type { AlertContent } from "../alert.ts";
import { type AlertRule, channelsOfRule } from "./alert-rule.ts";
import { readEdgeField } from "./edge-field.ts";
import { Quiet, type RuleState } from "./rule-state.ts";

interface Sighting {
  readonly cursor: string;
  readonly observed_at: string;
}

/** Decides which events a rule reports. Pure: the same state and events give the same alerts. */
export interface RuleJudge {
  readonly state: RuleState;
  /** Starts from a view. If `known`, the state is from an earlier view: reports the differences. */
  begin(view: View, at: Sighting, known: boolean): readonly AlertContent[];
  /** Handles the rule's next event. An edge rule throws ChangeMismatch after a gap. */
  take(message: EventMessage): readonly AlertContent[];
}

export function createRuleJudge(rule: AlertRule, state: RuleState): RuleJudge {
  const quiet = new Quiet(rule.quiet_seconds * 1_000, state);
  return rule.edge ? new EdgeJudge(rule, rule.edge, quiet) : new NewsJudge(rule, quiet);
}

class NewsJudge implements RuleJudge {
  readonly #quiet: Quiet;
  readonly #channels: readonly string[];
  /** Whether the rule remembers starts: for quiet times, or because two channels have each. */
  readonly #remembers: boolean;
  /** Surges and finishes at {@link #reportedAt}. Other channels report the same ones then. */
  readonly #reported = new Set<string>();
  #reportedAt = "";

  constructor(rule: AlertRule, quiet: Quiet) {
    this.#quiet = quiet;
    this.#channels = channelsOfRule(rule.channels);
    this.#remembers = rule.quiet_seconds > 0 || this.#channels.some((name) => this.#isSecond(name));
  }

  get state(): RuleState {
    return this.#quiet.state;
  }

  begin(): readonly AlertContent[] {
    return [];
  }

  take(message: EventMessage): readonly AlertContent[] {
    return this.#isReported(message)
      ? [{ type: message.name, key: message.cursor, data: { event: message }, page: pageOf(message) }]
      : [];
  }

  #isReported(message: EventMessage): boolean {
    if (this.#isRepeated(message)) return false;
    if (!this.#remembers) return true;
    const { name, channel, data, observed_at } = message;
    const atMs = Date.parse(observed_at);
    if (name === "flare-started")
      return this.#quiet.begins(data.flare.id, quietKeyOf(channel, data.flare), atMs);
    if (name === "flare-surged")
      return this.#quiet.surges(data.flare.id, quietKeyOf(channel, data.flare), atMs);
    if (name === "flare-finished") return this.#quiet.ends(data.flare.id);
    if (name === "token-listed") return this.#quiet.mayReport(quietKeyOf(channel, data.listing), atMs);
    // Only `source-status` is left: a rule's query excludes all events that are not in NEWS.
    return true;
  }

  /** Returns whether another of the rule's channels had the same start, surge or finish before. */
  #isRepeated({ name, channel, data, observed_at }: EventMessage): boolean {
    // The start in `pro` may not have passed the filter, or was before the first event of the rule.
    if (name === "flare-started") return this.#isSecond(channel) && this.#quiet.isOpen(data.flare.id);
    if (name !== "flare-surged" && name !== "flare-finished") return false;
    if (observed_at !== this.#reportedAt) this.#reported.clear();
    this.#reportedAt = observed_at;
    const what = `${name} ${data.flare.id}`;
    const isRepeated = this.#reported.has(what);
    this.#reported.add(what);
    return isRepeated;
  }

  /** Whether another of the rule's channels has every flare of this one first. */
  #isSecond(channel: string): boolean {
    return channel.endsWith(".free") && this.#channels.includes(channel.replace(/free$/, "pro"));
  }
}

type Level = NonNullable<AlertRule["edge"]>;

class EdgeJudge implements RuleJudge {
  readonly #edge: Level;
  readonly #channels: readonly ListChannel[];
  readonly #quiet: Quiet;
  #view: View = { explanations: {} };

  constructor({ channels }: AlertRule, edge: Level, quiet: Quiet) {
    const followed = channelsOfRule(channels);
    this.#channels = LIST_CHANNEL_NAMES.filter((name) => followed.includes(name));
    this.#edge = edge;
    this.#quiet = quiet;
  }

  get state(): RuleState {
    return this.#quiet.state;
  }

  begin(view: View, at: Sighting, known: boolean): readonly AlertContent[] {
    this.#view = view;
    const items = this.#channels.flatMap((channel) =>
      listOf(view, channel).map((item) => [channel, item] as const),
    );
    const present = new Set(items.map(([channel, item]) => itemIdOf(channel, keyOf(item))));
    for (const what of this.#quiet.open) if (!present.has(what)) this.#quiet.ends(what);
    const alerts = items.flatMap(([channel, item]) => this.#judge(channel, item, at, known));
    return known ? alerts : [];
  }

  take(message: EventMessage): readonly AlertContent[] {
    const { channel } = message;
    if (!isListChannel(channel)) return [];
    this.#view = applyEvent(this.#view, message);
    const list = listOf(this.#view, channel);
    return changesOf(message).flatMap((change) => {
      if (change.op === "order") return [];
      const key = change.op === "insert" ? keyOf(change.item) : change.id;
      const item = change.op === "remove" ? undefined : list.find((one) => keyOf(one) === key);
      if (item) return this.#judge(channel, item, message, true);
      // A removed item counts as neither a rise nor a fall. If it comes back, it starts over.
      this.#quiet.ends(itemIdOf(channel, key));
      return [];
    });
  }

  #judge(channel: ListChannel, item: ListItem, at: Sighting, known: boolean): readonly AlertContent[] {
    const { field, above, below, on } = this.#edge;
    const value = readEdgeField(field, channel, item, this.#view);
    if (value === undefined) return [];
    const what = itemIdOf(channel, keyOf(item));
    const isHigh = this.#quiet.isOpen(what);
    const atMs = Date.parse(at.observed_at);
    const report = (type: "edge-rose" | "edge-fell") => [
      {
        type,
        key: `${at.cursor} ${what}`,
        data: this.#describe(channel, item, at, value),
        page: pageOfItem(channel, item),
      },
    ];
    if (!isHigh && value >= above) {
      // With `fall`, only the fall is reported.
      if (!known || on === "fall") this.#quiet.assumeBegun(what);
      else if (this.#quiet.begins(what, quietKeyOf(channel, item), atMs)) return report("edge-rose");
    } else if (isHigh && value <= below) {
      const wasReported = this.#quiet.ends(what);
      if (on === "both" && wasReported) return report("edge-fell");
      if (on === "fall" && this.#quiet.mayReport(quietKeyOf(channel, item), atMs)) return report("edge-fell");
    }
    return [];
  }

  #describe(channel: ListChannel, item: ListItem, at: Sighting, value: number): AlertContent["data"] {
    const why = "id" in item ? this.#view.explanations[item.id] : undefined;
    const { field, above, below } = this.#edge;
    const { cursor, observed_at } = at;
    return { field, value, above, below, channel, cursor, observed_at, item, why: why ?? null };
  }
}

/** Returns the path of the dashboard page for an event's flare or token. */
function pageOf(message: EventMessage): string | undefined {
  const { name, channel, data } = message;
  if (name === "flare-started" || name === "flare-surged" || name === "flare-finished")
    return pageOfItem(channel, data.flare);
  return name === "token-listed" ? pageOfItem("newest.bsc", data.listing) : undefined;
}

function pageOfItem(channel: string, item: ListItem): string | undefined {
  if (channel.startsWith("flares.") && "id" in item) return flarePath(String(item.id));
  const key = tokenKeyOf(item);
  return key === "" ? undefined : tokenPath(groupOfChannel(channel), key);
}

function itemIdOf(channel: ListChannel, key: string): string {
  return `${channel} ${key}`;
}

/** Identifies a token for {@link Quiet}. Stored keys of `bsc` have no group. */
function quietKeyOf(channel: string, item: ListItem): string {
  const group = groupOfChannel(channel);
  return group === "bsc" ? tokenKeyOf(item) : `${group} ${tokenKeyOf(item)}`;
}

/** Returns the key of an item's token; empty for an entry of a leaderboard. */
function tokenKeyOf(item: ListItem): string {
  if ("flare" in item) return tokenOf(item.flare);
  return "token" in item ? tokenOf(item) : "";
}

import { messageOf } from "../../../../base/lib/text/message-of.ts";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import type { Clock } from "../../../../base/lib/time/clock.ts";
import type { ListItem } from "../../../../base/model/index.ts";
import {
  applyEvent,
  type EventMessage,
  type Filter,
  formatCursor,
  isFlareChannel,
  isListChannel,
  type ListChannel,
  listOf,
  type View,
} from "../../../../base/protocol/index.ts";
import { keepFollowing } from "../../../../gateway/hub/index.ts";
import { type AlertRule, channelsOfRule } from "../../rules/alert-rule.ts";
import type { TargetContext } from "../target.ts";

const PAGE = { limit: 200, waitMs: 30_000 };
/** Minimum interval between two publications while the same flares run. */
const NUMBERS_MS = 60_000;
/** Home Assistant stores attributes of up to 16 KiB. */
const MAX_FLARES = 40;

/** Returns those channels of a rule that contain running flares. */
export function runningChannelsOf({ channels }: Pick<AlertRule, "channels">): readonly ListChannel[] {
  return channelsOfRule(channels)
    .filter(isListChannel)
    .filter((channel) => isFlareChannel(channel) && !channel.endsWith(".finished"));
}

/**
 * Calls `onState` with the running flares as JSON when a flare starts or ends, until the signal
 * aborts. If only numbers change, calls it at most every {@link NUMBERS_MS}.
 */
export async function followFlares(
  context: TargetContext,
  channels: readonly ListChannel[],
  filter: Filter | undefined,
  onState: (state: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { head, clock, notify } = context;
  const write = stateWriter(channels, onState, clock);
  const query = { channels, filter: stateFilter(filter) };
  const onFailure = (error: unknown) =>
    notify("warn", `could not publish the running flares: ${messageOf(error)}; retrying`);
  await keepFollowing(head, clock, signal, () => follow(context, query, write, signal), onFailure);
}

/** Follows the log from the head until its next events are lost. */
async function follow(
  { poll }: TargetContext,
  query: { readonly channels: readonly ListChannel[]; readonly filter: Filter },
  write: (view: View) => void,
  signal: AbortSignal,
): Promise<void> {
  const start = await poll.take({ ...query, limit: PAGE.limit, waitMs: 0, snapshot: true }, signal);
  if (start.kind !== "page" || start.snapshot === undefined) throw new Error("the log has no lists yet");
  let view = JSON.parse(String(start.snapshot)) as View;
  let after = formatCursor(start.cursor);
  while (!signal.aborted) {
    write(view);
    const answer = await poll.take({ ...query, ...PAGE, after }, signal);
    if (answer.kind === "lost") return;
    after = formatCursor(answer.cursor);
    if (answer.kind === "nothing") continue;
    const messages = JSON.parse(`[${answer.bytes.toString()}]`) as EventMessage[];
    for (const message of messages) if (isListChannel(message.channel)) view = applyEvent(view, message);
  }
}

/** Returns a filter for every event of the items that the rule selects. */
function stateFilter(filter: Filter | undefined): Filter {
  const { names: _, ...items } = filter ?? {};
  return Object.keys(items).length === 0 ? {} : { sticky: true, ...items };
}

/** Returns a function that calls `onState` if the flares of a view differ enough. */
function stateWriter(channels: readonly ListChannel[], onState: (state: string) => void, clock: Clock) {
  let last = { ids: "none", state: "", atMs: 0 };
  return (view: View): void => {
    const byId = new Map<string, ListItem>();
    for (const channel of channels)
      for (const item of listOf(view, channel)) if ("id" in item) byId.set(item.id, item);
    const ids = [...byId.keys()].sort().join();
    const atMs = clock.monotonic();
    if (ids === last.ids && atMs - last.atMs < NUMBERS_MS) return;
    const flares = [...byId.values()].slice(0, MAX_FLARES).map(describe);
    const state = JSON.stringify({ count: byId.size, flares });
    if (state === last.state) return;
    last = { ids, state, atMs };
    onState(state);
  };
}

/** Returns the fields of a flare that automations need. Strangers chose its names. */
function describe(item: ListItem): object {
  const { id, token, started_trending_at, recent_price_change, liquidity, group, pair, exchange } =
    Object(item);
  const { symbol, address, price } = token;
  const safe = (text: string | null | undefined) => text && safeText(text);
  return {
    id,
    symbol: safeText(String(symbol)),
    address,
    group,
    pair: safe(pair),
    exchange: safe(exchange),
    price,
    liquidity,
    recent_price_change,
    started_trending_at,
  };
}

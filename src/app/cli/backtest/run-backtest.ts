import fastify from "fastify";
import { type Clock, systemClock } from "../../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import { untilAborted } from "../../../base/lib/time/until-aborted.ts";
import type { MarketGroup } from "../../../base/market/index.ts";
import { groupedKey } from "../../../base/model/token-key.ts";
import { FlarewireError, toEpoch } from "../../../base/protocol/index.ts";
import { TrendEngine } from "../../../engine/index.ts";
import type { ReplayFeed } from "../../../feeds/replay/index.ts";
import { createConfig } from "../../config/config.ts";
import { engineOptions } from "../../engine-options.ts";
import { EngineSource, type PolledEngine, withAccept } from "../../engine-source.ts";
import { EXTENSIONS, type Summary } from "../../extensions.ts";
import { createGatewayPlugin } from "../../gateway-plugin.ts";
import { createLogger } from "../../server/create-logger.ts";
import type { Bot, TokenName } from "./bot.ts";
import { GatedSource } from "./gated-source.ts";
import { type Ask, Lockstep } from "./lockstep.ts";
import { type Costs, PaperBroker } from "./paper-broker.ts";
import { PriceHistory } from "./price-history.ts";
import { TrackRecorder } from "./track-record.ts";
import { reportTrades, type TradeReport } from "./trade-report.ts";

interface BacktestOptions {
  readonly feed: ReplayFeed;
  readonly bot: Bot | undefined;
  readonly refreshMs: number;
  /** The bot trades from here on, event time in milliseconds since 1970 UTC. */
  readonly fromMs: number;
  /** The recording is played until here, with or without a bot. Infinity: until its end. */
  readonly toMs: number;
  readonly costs: Costs;
  readonly signal: AbortSignal;
}

interface BacktestResult {
  /** `undefined` if the program has nothing that summarizes outcomes. */
  readonly summary: Summary | undefined;
  /** Flares without a final outcome at the end, which the record leaves out. */
  readonly pending: number;
  /** `undefined` without a bot. */
  readonly report: TradeReport | undefined;
  /** Channels and patterns that the bot followed. */
  readonly followed: readonly string[];
  /** Groups of the markets that were played. */
  readonly groups: readonly MarketGroup[];
}

/**
 * Plays a recording through the engine, a gateway in this process and the SDK, in lockstep with the
 * bot. Rejects with {@link BotError}, the recording's error, or the signal's reason.
 */
export async function runBacktest(options: BacktestOptions): Promise<BacktestResult> {
  const { feed, bot, refreshMs, fromMs, toMs, costs, signal } = options;
  const [broker, history, recorder] = [new PaperBroker(costs), new PriceHistory(), new TrackRecorder()];
  const groups = new Set<MarketGroup>();
  const engine = pricedEngine(new TrendEngine(engineOptions(feed, refreshMs)), broker, history, groups);
  const played = new EngineSource({
    feed,
    engine,
    clock: systemClock,
    staleAfterMs: Number.POSITIVE_INFINITY,
  });
  const source = new GatedSource(played, toMs, ({ snapshot }) => recorder.note(snapshot));
  const gateway = await openGateway(source, refreshMs, signal);
  let followed: ReadonlySet<string> = new Set();
  try {
    while (source.observedAtMs < fromMs && !source.isOver) await source.advance();
    signal.throwIfAborted();
    if (bot)
      followed = await play(bot, new Lockstep(source, gateway.ask, feed.facts), source, broker, signal);
    while (!source.isOver) {
      await source.advance();
      signal.throwIfAborted();
    }
    if (source.failure !== undefined) throw source.failure;
  } finally {
    await gateway.close();
  }
  const report = bot ? reportTrades(broker.settle(), costs, history) : undefined;
  const summary = await recorder.record(costs);
  const { pending } = recorder;
  return { summary, pending, report, followed: [...followed], groups: [...groups] };
}

/**
 * Runs the bot until it has returned and all its streams are closed; the recording's end closes
 * them. Returns the channels and patterns that it followed.
 */
async function play(
  bot: Bot,
  lockstep: Lockstep,
  source: GatedSource,
  broker: PaperBroker,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const running = (async () =>
    bot({
      connect: (options) => lockstep.connect(options),
      buy: (token) => broker.buy(token, source.observedAtMs),
      sell: (token, reason = "") => broker.sell(token, source.observedAtMs, reason),
    }))().catch(failBot);
  const done = Promise.all([lockstep.play(running), running]);
  const ended = Promise.race([done, lockstep.failed.catch(failBot)]);
  await untilAborted(ended, signal).finally(() => lockstep.close());
  return lockstep.followed;
}

/** The bot or one of its streams failed; `cause` is the error. */
export class BotError extends Error {
  override readonly name = "BotError";
}

function failBot(cause: unknown): never {
  // The bot is fine, but not for this recording.
  if (cause instanceof FlarewireError) throw cause;
  throw new BotError("the bot failed", { cause });
}

/** Equal in each run, so that cursors are equal too. */
const EPOCH = toEpoch("backtest");

/** A candle's price counts when its minute is closed, which may take until the next one. */
const MAX_PENDING_MS = 2 * MINUTE_MS;

/** Wraps the engine to note prices and groups, and to fill orders. Reads prices at clock events. */
function pricedEngine(
  engine: TrendEngine,
  broker: PaperBroker,
  history: PriceHistory,
  groups: Set<MarketGroup>,
): PolledEngine {
  const pending = new Map<string, TokenName & { readonly at: number }>();
  const noteAt = (clockMs: number) => {
    for (const [key, { group, token, at }] of pending) {
      const price = engine.trendOf(group, token)?.price;
      if (price && price.atMs >= at) {
        history.note(key, price);
        broker.fill(key, price);
        pending.delete(key);
      } else if (clockMs - at > MAX_PENDING_MS) pending.delete(key);
    }
  };
  return withAccept(engine, (event) => {
    engine.accept(event);
    if (event.kind === "clock") noteAt(event.at);
    else if (event.kind === "trade" || event.kind === "candle" || event.kind === "window") {
      const { group, token, at } = event;
      groups.add(group);
      pending.set(groupedKey(event), { group, token, at });
    }
  });
}

/**
 * Opens a gateway that answers requests of this process, without a port. Advances the source once.
 */
async function openGateway(
  source: GatedSource,
  refreshMs: number,
  signal: AbortSignal,
): Promise<{ readonly ask: Ask; close(): Promise<void> }> {
  // The bot polls as often as it likes: a limit would make it wait for wall time.
  const free = { anonymousRequests: "none", anonymousStreams: "none" };
  const config = createConfig({ refresh: `${refreshMs}ms`, metrics: "false", drain: "0s", ...free });
  const clock: Clock = { ...systemClock, now: () => source.observedAtMs };
  const { plugin, gateway } = createGatewayPlugin(config, {
    source,
    clock,
    epoch: EPOCH,
    extensions: EXTENSIONS.filter(({ name }) => name !== "history"),
    logger: createLogger("fatal"),
    signal,
  });
  const host = fastify();
  await host.register(plugin);
  await host.ready();
  await source.advance();
  await gateway;
  return {
    ask: async (path) => {
      const { statusCode, headers, rawPayload } = await host.inject({ method: "GET", url: path });
      const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]);
      return new Response(statusCode === 204 ? null : new Uint8Array(rawPayload), {
        status: statusCode,
        headers: fields,
      });
    },
    close: () => host.close(),
  };
}

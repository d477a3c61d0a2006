import type { CloseMessage, Command, ServerMessage } from "../../../base/protocol/index.ts";
import { MARKET } from "../../../gateway/http/index.ts";
import { EVENT_EXAMPLES } from "./event-examples.ts";

const { freshness, source, flares, explanations, emittedAt, cursor: CURSOR } = MARKET;

type Typed<T extends string> = Extract<ServerMessage | Command | CloseMessage, { readonly type: T }>;

/** Examples of each message except events, by type, simplest first. */
export const MESSAGE_EXAMPLES: {
  readonly [T in Exclude<(ServerMessage | Command | CloseMessage)["type"], "event">]: readonly [
    Typed<T>,
    ...Typed<T>[],
  ];
} = {
  hello: [
    {
      type: "hello",
      protocol: "flarewire.v1",
      server: "flarewire/0.1.0",
      server_time: emittedAt,
      epoch: "13ac274a9f68b758",
      cursor: CURSOR,
      heartbeat_interval_ms: 15_000,
      silence_limit_ms: 35_000,
      limits: {
        inbound_bytes: 4_096,
        commands_per_second: 5,
        commands_burst: 20,
        subscriptions: 64,
        first_command_within_ms: 10_000,
      },
      source,
      freshness,
    },
  ],
  subscribe: [
    { type: "subscribe", id: 1, channels: ["flares.*"] },
    {
      type: "subscribe",
      id: "liquid",
      channels: ["newest.bsc"],
      filter: { min_liquidity: 50_000 },
      mode: "latest",
    },
    { type: "subscribe", id: "pair", channels: ["flares.exchange.*"], filter: { symbols: ["BTC/USDT"] } },
    { type: "subscribe", id: "again", channels: ["*"], after: CURSOR },
  ],
  subscribed: [
    {
      type: "subscribed",
      id: 1,
      channels: ["flares.free", "flares.pro", "flares.finished"],
      cursor: CURSOR,
      resumed: "reset",
      snapshot: { flares, explanations, outcomes: {} },
    },
    { type: "subscribed", id: "again", channels: ["status"], cursor: CURSOR, resumed: "full" },
    {
      type: "subscribed",
      id: "url",
      channels: ["status"],
      cursor: "13ac274a9f68b758-90120",
      resumed: "reset",
      lost: { reason: "expired", events: 90_019 },
      snapshot: { explanations: {} },
    },
  ],
  unsubscribe: [{ type: "unsubscribe", id: 1 }],
  unsubscribed: [{ type: "unsubscribed", id: 1, cursor: CURSOR }],
  ping: [{ type: "ping", id: "are you there?" }, { type: "ping" }],
  pong: [{ type: "pong", id: "are you there?", server_time: emittedAt }],
  heartbeat: [
    {
      type: "heartbeat",
      cursor: CURSOR,
      server_time: emittedAt,
      positions: { "flares.pro": 101, "newest.bsc": 0 },
      freshness,
    },
  ],
  error: [
    {
      type: "error",
      id: 1,
      code: "unknown-channel",
      message: 'channels contains "flare.pro" (did you mean flares.pro?), which matches no channel',
      field: "channels",
    },
  ],
  goaway: [{ type: "goaway", reason: "draining", reconnect_after_ms: 2_400, window_ms: 8_000 }],
  missed: [missed()],
  conflated: [
    {
      type: "conflated",
      cursor: "13ac274a9f68b758-900",
      channels: ["flares.pro"],
      snapshot: { flares: { pro: flares.pro }, explanations },
    },
  ],
  part: [{ type: "part", snapshot: { flares: { pro: flares.pro }, explanations } }],
  close: [{ type: "close", reason: "draining", code: 4200, action: "resume" }],
};

function missed(): Typed<"missed"> {
  const { seq, emitted_at, name, channel, observed_at, data } = EVENT_EXAMPLES["source-status"];
  return { type: "missed", seq, emitted_at, name, channel, observed_at, data };
}

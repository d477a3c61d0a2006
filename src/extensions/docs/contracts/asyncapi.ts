import { VERSION } from "../../../base/lib/version.ts";
import {
  CHANNELS,
  type Channel,
  CLOSE_CODES,
  EVENT_NAMES,
  EventBody,
  type EventName,
} from "../../../base/protocol/index.ts";
import {
  EVENTS_QUERY,
  EVENTS_ROUTE,
  type ParameterSet,
  STREAM_QUERY,
  STREAM_ROUTE,
  SUBPROTOCOL,
} from "../../../gateway/http/index.ts";
import { EVENT_EXAMPLES, EXCHANGE_STARTED } from "./event-examples.ts";
import { MESSAGE_EXAMPLES } from "./message-examples.ts";
import { parametersOf } from "./parameters.ts";
import {
  type ContractSchemas,
  createSchemas,
  EVENT_SCHEMAS,
  type JsonSchema,
  pascal,
  referredTo,
  refTo,
} from "./schemas.ts";

/** A message of AsyncAPI, reduced to the fields used here. */
export interface MessageContract {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  readonly examples: readonly { readonly payload: unknown }[];
}

interface ChannelContract {
  readonly [field: string]: unknown;
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>;
}

type OtherType = keyof typeof MESSAGE_EXAMPLES;

const COMMANDS = ["subscribe", "unsubscribe", "ping"] as const satisfies readonly OtherType[];
/** Commands, and the responses that repeat their id. */
const WITH_ID: readonly string[] = [...COMMANDS, "subscribed", "unsubscribed", "pong", "error"];
const TYPES = Object.keys(MESSAGE_EXAMPLES) as OtherType[];
const ON_STREAM: readonly string[] = [...TYPES.filter((type) => type !== "close"), ...EVENT_NAMES];
const ON_EVENTS: readonly string[] = [
  ...TYPES.filter((type) => type === "subscribed" || !WITH_ID.includes(type)),
  ...EVENT_NAMES,
];

const DESCRIPTION = [
  "Messages between a Flarewire server and its clients, over WebSocket or as server-sent events. Every message is one JSON object.",
  "",
  "* The server first sends `hello`. A client subscribes with query parameters or with `subscribe`. The response is a snapshot with its cursor, and each later event follows.",
  "* Every message with a `cursor`, except `hello`, moves the client's position forward. Only a `subscribed` with `resumed: reset` starts over at its own cursor. To resume, connect with `after`: every later event follows, or the response states what is lost.",
  "* A connection without any message for `silence_limit_ms` of `hello` is dead.",
  "* Clients ignore unknown fields and messages. The server rejects unknown parameters and fields, and names the nearest known one.",
].join("\n");

/** Combinations that the schemas allow but that never occur. */
const NEVER: Readonly<Partial<Record<Channel, readonly EventName[]>>> = {
  "flares.free": ["flare-expired"],
  "flares.pro": ["flare-expired"],
  "flares.finished": ["flare-started", "flare-withdrawn"],
};

function channelsOf(name: EventName): readonly Channel[] {
  const schema = EventBody.options.find(({ shape }) => shape.name.value === name)?.shape.channel;
  const allowed: readonly Channel[] = schema ? ("value" in schema ? [schema.value] : schema.options) : [];
  return allowed.filter((channel) => !NEVER[channel]?.includes(name));
}

const CHANNEL_EVENTS: Readonly<Record<string, readonly EventName[]>> = Object.fromEntries(
  CHANNELS.map((channel) => [channel, EVENT_NAMES.filter((name) => channelsOf(name).includes(channel))]),
);

/**
 * Creates the AsyncAPI 3 document of messages and events, for the base path of the settings.
 * `address`: the server's URL with the base path. Default: readers fill in the host.
 * `schemas`: as for `createOpenApi`.
 */
export function createAsyncApi(
  basePath: string,
  address?: string,
  schemas: ContractSchemas = createSchemas("draft-7"),
) {
  const messages: Readonly<Record<string, MessageContract>> = {
    ...Object.fromEntries(TYPES.map((type) => [type, otherMessage(type)])),
    ...eventMessages(),
  };
  const channels = { stream: stream(schemas), events: sse(schemas) };
  return {
    asyncapi: "3.0.0",
    info: { title: "Flarewire", version: VERSION, description: DESCRIPTION, license: { name: "MIT" } },
    defaultContentType: "application/json",
    servers: asyncApiServers(basePath, address),
    channels,
    operations: operations(),
    components: {
      messages,
      schemas: referredTo(schemas.named, [messages, channels]),
      securitySchemes: SECURITY,
    },
    "x-channels": CHANNEL_EVENTS,
    "x-close-codes": Object.entries(CLOSE_CODES).map(([reason, { code, action, meaning }]) => ({
      code,
      reason,
      action,
      meaning,
    })),
  };
}

/** Returns the part of the document that names the server. Parameters: as for `createAsyncApi`. */
export function asyncApiServers(basePath: string, address?: string) {
  return { websocket: server("ws", basePath, address), http: server("http", basePath, address) };
}

export type AsyncApiDocument = ReturnType<typeof createAsyncApi>;

/** A server with keys accepts either. */
const SECURITY = {
  key: {
    type: "http",
    scheme: "bearer",
    description: "`Authorization: Bearer KEY`, for clients that can send headers.",
  },
  ticket: {
    type: "httpApiKey",
    name: "ticket",
    in: "query",
    description: "A ticket from `POST /api/v1/tickets`, for clients that cannot. Opens one connection.",
  },
} as const;

function server(protocol: "ws" | "http", basePath: string, address: string | undefined) {
  const url = address === undefined ? undefined : new URL(address);
  return {
    host: url?.host ?? "{host}",
    pathname: url?.pathname ?? (basePath || "/"),
    protocol: url?.protocol === "https:" ? `${protocol}s` : protocol,
    description: `This server; \`${protocol}s\` behind TLS. A key or ticket is needed only if the server uses keys.`,
    security: Object.keys(SECURITY).map((scheme) => ({ $ref: `#/components/securitySchemes/${scheme}` })),
    ...(url
      ? {}
      : { variables: { host: { default: "127.0.0.1:8080", description: "The host of this document." } } }),
  };
}

function stream(schemas: ContractSchemas): ChannelContract {
  return {
    address: STREAM_ROUTE.path,
    title: "WebSocket",
    description: `Each message is one text frame. The subprotocol is \`${SUBPROTOCOL}\`; offering none means the same. A client that offers \`permessage-deflate\` receives compressed and plain frames. The close code states why the connection ended and what to do: see \`x-close-codes\`.`,
    servers: [{ $ref: "#/servers/websocket" }],
    messages: messageRefs(ON_STREAM),
    bindings: {
      ws: {
        method: "GET",
        query: querySchema(STREAM_QUERY, schemas),
        headers: {
          type: "object",
          properties: {
            "Sec-WebSocket-Protocol": { type: "string", const: SUBPROTOCOL },
            "Sec-WebSocket-Extensions": {
              type: "string",
              description:
                "`permessage-deflate`, with the parameters of RFC 7692; anything else is declined.",
              examples: ["permessage-deflate; client_max_window_bits"],
            },
          },
        },
        bindingVersion: "0.1.0",
      },
    },
    "x-subprotocol": SUBPROTOCOL,
  };
}

function sse(schemas: ContractSchemas): ChannelContract {
  return {
    address: EVENTS_ROUTE.path,
    title: "Server-sent events",
    description:
      "With `Accept: text/event-stream`. `event` is the message's type, the event's name, or `reset` for a `subscribed` that states a loss; `id` is the cursor, which a browser sends as `Last-Event-ID`; `data` is the message. There are no commands. If the server ends the stream, its last event is `close`.",
    servers: [{ $ref: "#/servers/http" }],
    messages: messageRefs(ON_EVENTS),
    // Without `oldest`, which only polls accept.
    "x-query": querySchema({ ...ofStreams(EVENTS_QUERY), after: STREAM_QUERY.after }, schemas),
  };
}

function operations(): Readonly<Record<string, object>> {
  const on = (channel: string) => ({ $ref: `#/channels/${channel}` });
  const messages = (channel: string, types: readonly string[]) =>
    types.map((type) => ({ $ref: `#/channels/${channel}/messages/${type}` }));
  const send = (channel: string, summary: string, types: readonly string[]) => ({
    action: "send",
    channel: on(channel),
    summary,
    messages: messages(channel, types),
  });
  const receive = (type: (typeof COMMANDS)[number], summary: string, answers: readonly string[]) => ({
    action: "receive",
    channel: on("stream"),
    summary,
    messages: messages("stream", [type]),
    reply: { channel: on("stream"), messages: messages("stream", answers) },
  });
  return {
    greet: send("stream", "The first message of every connection.", ["hello"]),
    subscribe: receive("subscribe", "Follow channels, from the head or after a cursor.", [
      "subscribed",
      "error",
    ]),
    unsubscribe: receive("unsubscribe", "End a subscription.", ["unsubscribed", "error"]),
    ping: receive("ping", "Check the connection.", ["pong", "error"]),
    tell: send("stream", "Events in the order of `seq`.", EVENT_NAMES),
    conflate: send("stream", "Replaces events for a slow client in mode `latest`.", ["missed", "conflated"]),
    split: send("stream", "The lists in parts, for a client that set `max_message`.", ["part"]),
    beat: send("stream", "The client's position, and how fresh the data is.", ["heartbeat"]),
    sendAway: send("stream", "The server is shutting down.", ["goaway"]),
    follow: send("events", "The same as server-sent events.", ON_EVENTS),
  };
}

function eventMessages(): Readonly<Record<string, MessageContract>> {
  const entries = EVENT_NAMES.map((name) => [
    name,
    {
      name,
      title: name,
      summary: `On ${channelsOf(name).join(", ")}.`,
      payload: refTo(EVENT_SCHEMAS[name]),
      examples: [EVENT_EXAMPLES[name], ...(name === "flare-started" ? [EXCHANGE_STARTED] : [])].map(
        (payload) => ({ payload }),
      ),
    },
  ]);
  return Object.fromEntries(entries);
}

const SUMMARIES: Readonly<Record<OtherType, string>> = {
  hello: "The first message: limits, timeouts, the head's cursor, and the kind of data.",
  subscribe: "Follow channels.",
  subscribed: "The response to subscribe.",
  unsubscribe: "End a subscription.",
  unsubscribed: "The response to unsubscribe.",
  ping: "Requests a pong.",
  pong: "The response to ping.",
  heartbeat: "The client's position, and how fresh the data is.",
  error: "A command was rejected.",
  goaway: "The server is shutting down.",
  missed: "Mode latest: an event that the slow client missed.",
  conflated: "Mode latest: lists that replace events.",
  part: "A part of the lists, before the message that completes them.",
  close: "Why a stream of server-sent events ends.",
};

const SCHEMAS: Readonly<Partial<Record<OtherType, string>>> = {
  error: "ErrorMessage",
  close: "CloseMessage",
};

function otherMessage(type: OtherType): MessageContract {
  return {
    name: type,
    title: type,
    summary: SUMMARIES[type],
    ...(WITH_ID.includes(type) ? { correlationId: { location: "$message.payload#/id" } } : {}),
    payload: refTo(SCHEMAS[type] ?? pascal(type)),
    examples: MESSAGE_EXAMPLES[type].map((payload) => ({ payload })),
  };
}

function messageRefs(types: readonly string[]): ChannelContract["messages"] {
  return Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }]));
}

function ofStreams(query: ParameterSet): ParameterSet {
  return Object.fromEntries(Object.entries(query).filter(([, { only }]) => only !== "polls"));
}

function querySchema(query: ParameterSet, schemas: ContractSchemas): JsonSchema {
  const properties = parametersOf({ query }, schemas).map(({ name, description, schema, example }) => [
    name,
    { ...schema, description, examples: [example] },
  ]);
  return { type: "object", properties: Object.fromEntries(properties) };
}

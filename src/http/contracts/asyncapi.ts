import { VERSION } from "../../lib/version.ts";
import { CLOSE_CODES, EVENT_NAMES, type EventName } from "../../protocol/index.ts";
import { EVENTS_ENDPOINT, STREAM_PATH } from "../endpoints.ts";
import { SUBPROTOCOL } from "../stream/websocket-admission.ts";
import { EVENT_EXAMPLES } from "./examples.ts";
import { CHANNEL_EVENTS, channelsOf } from "./market-channels.ts";
import { MESSAGE_EXAMPLES } from "./message-examples.ts";
import { EVENTS_PARAMETERS, type ParameterContract, STREAM_PARAMETERS } from "./parameters.ts";
import { EVENT_SCHEMAS, type JsonSchema, namedSchemas, referredTo, refTo } from "./schemas.ts";

/** A message of AsyncAPI, as far as it is used here. */
export interface MessageContract {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  readonly examples: readonly { readonly payload: unknown }[];
}

/** A close code as the document tells it. */
export interface CloseCodeContract {
  readonly code: number;
  readonly reason: string;
  readonly action: string;
  readonly meaning: string;
}

interface ChannelContract {
  readonly [field: string]: unknown;
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>;
}

/** The document, as far as it is used here. */
export interface AsyncApiDocument {
  readonly [field: string]: unknown;
  readonly info: {
    readonly [field: string]: unknown;
    readonly version: string;
    readonly description: string;
  };
  readonly channels: { readonly stream: ChannelContract; readonly events: ChannelContract };
  readonly components: {
    readonly messages: Readonly<Record<string, MessageContract>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
  /** By channel of the market, the events that come on it. */
  readonly "x-channels": Readonly<Record<string, readonly EventName[]>>;
  readonly "x-close-codes": readonly CloseCodeContract[];
}

type OtherType = keyof typeof MESSAGE_EXAMPLES;

const COMMANDS = ["subscribe", "unsubscribe", "ping"] as const satisfies readonly OtherType[];
const ANSWERS = [
  "hello",
  "subscribed",
  "unsubscribed",
  "heartbeat",
  "missed",
  "conflated",
  "pong",
  "error",
  "goaway",
] as const;

/** What comes over a WebSocket, in either direction. */
const ON_STREAM: readonly string[] = [...COMMANDS, ...ANSWERS, ...EVENT_NAMES];
/** What comes as server-sent events. */
const ON_EVENTS: readonly string[] = [
  "hello",
  "subscribed",
  "heartbeat",
  "missed",
  "conflated",
  "goaway",
  "close",
  ...EVENT_NAMES,
];

const DESCRIPTION = [
  "What a Flarewire server and its clients say to each other, over a WebSocket or as server-sent events. Every message is one JSON object.",
  "",
  "* The server speaks first: `hello`. A client subscribes by the address or by `subscribe`, and is answered with a snapshot and its cursor; each event behind it follows.",
  "* Every message with a `cursor`, but `hello`, moves the client's place there, never back; only a `subscribed` with `resumed: reset` begins again at its own. Connect again with `after`, and everything behind it follows, or the answer says what is lost.",
  "* Nothing received for `silence_limit_ms` of `hello` means a dead connection.",
  "* Clients ignore fields and messages that they do not know. The server refuses unknown parameters and fields, with the nearest known name.",
].join("\n");

/** The messages and events as AsyncAPI 3; `basePath` as in the settings. */
export function createAsyncApi(basePath: string): AsyncApiDocument {
  const types = Object.keys(MESSAGE_EXAMPLES) as OtherType[];
  const messages = { ...Object.fromEntries(types.map((type) => [type, other(type)])), ...eventMessages() };
  const spoken = { stream: stream(), events: sse() };
  return {
    asyncapi: "3.0.0",
    info: { title: "Flarewire", version: VERSION, description: DESCRIPTION, license: { name: "MIT" } },
    defaultContentType: "application/json",
    servers: { websocket: server("ws", basePath), http: server("http", basePath) },
    channels: spoken,
    operations: operations(),
    components: {
      messages,
      schemas: referredTo(namedSchemas("draft-7"), [messages, spoken]),
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

/** Either will do, where the server knows keys. */
const SECURITY = {
  key: {
    type: "http",
    scheme: "bearer",
    description: "`Authorization: Bearer KEY`, for who can send header fields.",
  },
  ticket: {
    type: "httpApiKey",
    name: "ticket",
    in: "query",
    description: "A ticket from `POST /api/v1/tickets`, which opens one connection, for who cannot.",
  },
} as const;

function server(protocol: "ws" | "http", basePath: string) {
  return {
    host: "{host}",
    pathname: basePath || "/",
    protocol,
    description: `This server; ${protocol}s where it is behind TLS. An open one needs neither key nor ticket.`,
    security: Object.keys(SECURITY).map((scheme) => ({ $ref: `#/components/securitySchemes/${scheme}` })),
    variables: { host: { default: "127.0.0.1:8080", description: "Where this document came from." } },
  };
}

function stream(): ChannelContract {
  return {
    address: STREAM_PATH,
    title: "WebSocket",
    description: `Each message is one text frame. The subprotocol is \`${SUBPROTOCOL}\`; none offered means the same. Who offers \`permessage-deflate\` is sent compressed frames beside plain ones. How it ended, and what to do then, the close code says: see \`x-close-codes\`.`,
    servers: [{ $ref: "#/servers/websocket" }],
    messages: messageRefs(ON_STREAM),
    bindings: {
      ws: {
        method: "GET",
        query: parametersSchema(STREAM_PARAMETERS, "query"),
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

function sse(): ChannelContract {
  return {
    address: EVENTS_ENDPOINT.path,
    title: "Server-sent events",
    description:
      "With `Accept: text/event-stream`. `event` is the message's type, or the event's name, or `reset` for a `subscribed` that tells what is lost; `id` is the cursor, which a browser sends as `Last-Event-ID`; `data` is the message. There are no commands. The last event of a stream that the server ends is `close`.",
    servers: [{ $ref: "#/servers/http" }],
    messages: messageRefs(ON_EVENTS),
    "x-query": parametersSchema(
      EVENTS_PARAMETERS.filter(({ name }) => name !== "limit" && name !== "wait"),
      "query",
    ),
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
    subscribe: receive("subscribe", "Follow channels, from the head or behind a cursor.", [
      "subscribed",
      "error",
    ]),
    unsubscribe: receive("unsubscribe", "End a subscription.", ["unsubscribed", "error"]),
    ping: receive("ping", "Ask for a sign of life.", ["pong", "error"]),
    tell: send("stream", "What happened, in the order of `seq`.", EVENT_NAMES),
    conflate: send("stream", "To a client in mode `latest` that lags, in place of events.", [
      "missed",
      "conflated",
    ]),
    beat: send("stream", "Where the client is, and how fresh the data is.", ["heartbeat"]),
    sendAway: send("stream", "The server is being replaced.", ["goaway"]),
    follow: send("events", "The same as server-sent events.", ON_EVENTS),
  };
}

function eventMessages(): Readonly<Record<EventName, MessageContract>> {
  const entries = EVENT_NAMES.map((name): [EventName, MessageContract] => [
    name,
    {
      name,
      title: name,
      summary: `On ${channelsOf(name).join(", ")}.`,
      payload: refTo(EVENT_SCHEMAS[name]),
      examples: [{ payload: EVENT_EXAMPLES[name] }],
    },
  ]);
  return Object.fromEntries(entries) as Readonly<Record<EventName, MessageContract>>;
}

const SUMMARIES: Readonly<Record<OtherType, string>> = {
  hello: "The first message: limits, times, the head's cursor, and what the data is.",
  subscribe: "Follow channels.",
  subscribed: "The answer to subscribe.",
  unsubscribe: "End a subscription.",
  unsubscribed: "The answer to unsubscribe.",
  ping: "Answer me.",
  pong: "The answer to ping.",
  heartbeat: "Where the client is, and how fresh the data is.",
  error: "A command was refused.",
  goaway: "The server is being replaced.",
  missed: "Mode latest: an event that was too much for the client.",
  conflated: "Mode latest: lists in place of events.",
  close: "Why a stream of server-sent events ends.",
};

const SCHEMAS: Readonly<Partial<Record<OtherType, string>>> = {
  error: "ErrorMessage",
  close: "CloseMessage",
};

function other(type: OtherType): MessageContract {
  const withId = ["subscribe", "subscribed", "unsubscribe", "unsubscribed", "ping", "pong", "error"].includes(
    type,
  );
  return {
    name: type,
    title: type,
    summary: SUMMARIES[type],
    ...(withId ? { correlationId: { location: "$message.payload#/id" } } : {}),
    payload: refTo(SCHEMAS[type] ?? type.slice(0, 1).toUpperCase() + type.slice(1)),
    examples: MESSAGE_EXAMPLES[type].map((payload) => ({ payload })),
  };
}

function messageRefs(types: readonly string[]): ChannelContract["messages"] {
  return Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }]));
}

/** Parameters of an address as the properties of an object. References of OpenAPI's are left open. */
function parametersSchema(
  parameters: readonly ParameterContract[],
  place: ParameterContract["in"],
): JsonSchema {
  const properties = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, description, schema }) => [name, { ...schema, description }]);
  return { type: "object", properties: Object.fromEntries(properties) };
}

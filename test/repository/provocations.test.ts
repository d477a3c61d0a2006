import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLOSE_CODES, type CloseReason, Hello } from "../../src/base/protocol/index.ts";
import {
  type AdmissionQueueLimits,
  DEFAULT_ADMISSION_LIMITS,
} from "../../src/gateway/http/connections/admission-queue.ts";
import type { HttpSettings } from "../../src/gateway/http/http-settings.ts";
import { DEFAULT_HUB_LIMITS, type HubLimits } from "../../src/gateway/hub/hub-limits.ts";

/**
 * The test that causes a close code or reaches a limit: its file, its title or a part of it, and a
 * text in that test as evidence.
 */
type Provocation = readonly [file: string, title: string, evidence: string];

const STREAM = "test/gateway/http/stream/websocket-stream.test.ts";
const LIMITS = "test/gateway/http/stream/websocket-limits.test.ts";
const PRESSURE = "test/gateway/http/stream/websocket-pressure.test.ts";
const ADMISSION = "test/gateway/http/stream/websocket-admission.test.ts";
const TAKEOVER = "test/gateway/http/stream/websocket-takeover.test.ts";
const RAW = "test/gateway/http/connections/raw-sockets.test.ts";
const EVENTS = "test/gateway/http/stream/events.test.ts";
const KEYS = "test/gateway/http/access/keys-ends.test.ts";
const TICKETS = "test/gateway/http/access/keys-tickets.test.ts";
const FOLLOW = "test/scenarios/follow-trouble.test.ts";
const AHEAD = "test/gateway/hub/ahead.test.ts";
const STORM = "test/scenarios/storm.test.ts";
const QUEUE = "test/gateway/http/connections/admission-queue.test.ts";
const BOUNDS = "test/gateway/http/access/request-limit.test.ts";
const STREAM_RATES = "test/gateway/http/access/stream-rates.test.ts";
const SLOW = "test/scenarios/slow-readers.test.ts";

const CLOSES: Readonly<Record<CloseReason, Provocation>> = {
  "going-away": [PRESSURE, "a server that closes at once sends going-away", "going-away"],
  "bad-request": [LIMITS, "the first limit that a flood reaches decides", "bad-request"],
  "message-too-big": [
    STREAM,
    "a message of the maximum size is read, and one byte more closes",
    "message-too-big",
  ],
  "no-command": [STREAM, "rejections, and the closes after too many of them, on the wire", "no-command"],
  unauthorized: [KEYS, "when a key expires, all of its connections end", "unauthorized"],
  forbidden: [KEYS, "has a lower plan", "forbidden"],
  "rate-limited": [STREAM, "rejections, and the closes after too many of them, on the wire", "rate-limited"],
  internal: [LIMITS, "an internal error closes only the affected connections", "internal"],
  draining: [PRESSURE, "a drain on real connections", "draining"],
  "slow-consumer": [PRESSURE, "a frozen reader is closed with slow-consumer", "slow-consumer"],
  "heartbeat-lost": [STREAM, "a client without a pong for 10 seconds is closed", "heartbeat-lost"],
  reset: [FOLLOW, "when a leader starts a new epoch, so do its edges", "4204"],
  superseded: [TAKEOVER, "a live connection is closed with superseded", "superseded"],
};

/** Close codes of RFC 6455 that PROTOCOL.md states. */
const RFC_CLOSES: Readonly<Record<number, Provocation>> = {
  1002: [STREAM, "what breaks RFC 6455 is closed with its code", "code >> 8"],
  1007: [STREAM, "what breaks RFC 6455 is closed with its code", "code >> 8"],
  1008: [LIMITS, "a message in too many pieces is closed with 1008", "1008"],
};

const HUB: Readonly<Record<keyof HubLimits, Provocation>> = {
  inboundBytes: [STREAM, "a message of the maximum size is read, and one byte more closes", "4_097"],
  commandsPerSecond: [LIMITS, "one command more than the burst is rejected", "25"],
  commandsBurst: [LIMITS, "one command more than the burst is rejected", "21"],
  refusals: [LIMITS, "the first limit that a flood reaches decides", "toBe(10)"],
  subscriptions: [LIMITS, "the 65th subscription is refused with the bound", "65"],
  firstCommandWithinMs: [STREAM, "rejections, and the closes after too many of them, on the wire", "10_000"],
  catchUpBytes: [SLOW, "buffered bytes are bounded", "catchUpBytes"],
  catchUpRecords: [SLOW, "buffered bytes are bounded", "catchUpRecords"],
  conflateFrom: [LIMITS, "a backlog of 64 events is conflated, and one of 63 is not", "63"],
  aheadWaitMs: [AHEAD, "a client that stays ahead for 3 seconds gets a reset", "2_000"],
  queuedCommands: [LIMITS, "commands of a frozen reader are not buffered without limit", "33"],
  noProgressMs: [PRESSURE, "a frozen reader is closed with slow-consumer", "11_000"],
  closeGraceMs: [LIMITS, "a client that does not answer the close frame is terminated", "1_900"],
};

type Bounds =
  | Exclude<
      keyof HttpSettings,
      "basePath" | "host" | "allowedHosts" | "publicUrl" | "corsOrigins" | "trustProxy"
    >
  | ("maxSockets" | "maxSocketsPerIp");
const HTTP: Readonly<Record<Bounds, Provocation>> = {
  bodyLimitBytes: [RAW, "a body beyond the limit", "content-too-large"],
  urlLimit: [RAW, "an address beyond the limit", "address-too-long"],
  headersLimitBytes: [RAW, "fields beyond the limit", "headers-too-large"],
  requestTimeoutMs: [RAW, "of a request that does not arrive in time", "request-timeout"],
  checkIntervalMs: [RAW, "of a request that does not arrive in time", "checkIntervalMs"],
  keepAliveTimeoutMs: [RAW, "an idle connection is closed after the keep-alive time", "keepAliveTimeoutMs"],
  idleTimeoutMs: [RAW, "a connection without traffic during a response", "idleTimeoutMs"],
  closeGraceMs: [RAW, "destroys connections without a response within the grace period", "2_000"],
  anonymousRequests: [BOUNDS, "one more gets 429 with Retry-After", "429"],
  anonymousStreams: [STREAM_RATES, "one more stream of an address", "429"],
  maxConnections: [BOUNDS, "in total: a full server closes idle connections", "3 in all"],
  maxConnectionsPerAddress: [
    BOUNDS,
    "per address: one more is refused with the reason",
    "2 from one address",
  ],
  maxSockets: [TAKEOVER, "even if no slot is free", "maxSockets: 1"],
  maxSocketsPerIp: [
    ADMISSION,
    "above the limits, a connection is refused before the upgrade",
    "2 from one address",
  ],
};

const ADMISSIONS: Readonly<Record<keyof AdmissionQueueLimits, Provocation>> = {
  maxWaiting: [
    STORM,
    "of hundreds of requests at once, those beyond the queue are rejected",
    "stormyWire(makeWire, 40)",
  ],
  maxWaitMs: [QUEUE, "beyond the limits of number and time", "900 ms"],
};

/** Limits that only PROTOCOL.md states. */
const FIXED: Readonly<Record<string, Provocation>> = {
  "patterns of an address": [
    ADMISSION,
    "a request that cannot become a connection is rejected in HTTP",
    "wire.ask",
  ],
  "events of a page": [EVENTS, "an invalid value is rejected with field and bound", "limit=1001"],
  "seconds of a wait": [EVENTS, "an invalid value is rejected with field and bound", "wait=61"],
  "bytes of a page": [EVENTS, "a page also ends at a mebibyte", "1_000_000"],
  "events that a page scans": [EVENTS, "a filter that matches nothing in a long log", "10000"],
  "unread pongs": [
    LIMITS,
    "sends pings without reading the pongs is terminated when it has read nothing for ten seconds",
    "0x89",
  ],
  "requests of a key": [KEYS, "a key has a limit of requests a minute", "429"],
  "connections of a key": [KEYS, "a key has a limit of connections", "503"],
  "tickets of a key": [TICKETS, "a key has a limit of unused tickets", "429"],
  "lifetime of a ticket": [TICKETS, "a ticket states its end", "TICKET_MS - 1"],
  "age, count and bytes of the log": [LIMITS, "the log's age, count and bytes limit", "maxBytes"],
  "an event dropped from the log": [
    LIMITS,
    "a reader whose next event was dropped from the log",
    "slow-consumer",
  ],
};

/** Returns the text of a file from this title to the next test. */
function bodyOf(file: string, title: string): string | undefined {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  const at = text.indexOf(title);
  if (at < 0) return undefined;
  const next = text.indexOf("\ntest", at);
  return text.slice(at, next < 0 ? undefined : next);
}

test.for([
  ...Object.entries(CLOSES),
  ...Object.entries(RFC_CLOSES),
  ...Object.entries(HUB),
  ...Object.entries(HTTP),
  ...Object.entries(ADMISSIONS),
  ...Object.entries(FIXED),
] as const)("%s has a test, which contains the evidence", ([, [file, title, evidence]]) => {
  expect(bodyOf(file, title), `${file}: ${title}`).toContain(evidence);
});

test("every close code and every limit is in these tables", () => {
  expect(Object.keys(CLOSES).toSorted()).toEqual(Object.keys(CLOSE_CODES).toSorted());
  expect(Object.keys(HUB).toSorted()).toEqual(Object.keys(DEFAULT_HUB_LIMITS).toSorted());
  const reported = Object.keys(Hello.shape.limits.shape).map((name) =>
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );
  expect(Object.keys(ADMISSIONS).toSorted()).toEqual(Object.keys(DEFAULT_ADMISSION_LIMITS).toSorted());
  expect(Object.keys(HUB)).toEqual(expect.arrayContaining(reported));
  const document = readFileSync(new URL("../../src/base/protocol/PROTOCOL.md", import.meta.url), "utf8");
  const rule = document.split("* **[W24]**")[1]?.split("\n\n")[0] ?? "";
  const codes = [...rule.matchAll(/\b10\d\d\b/g)].map(([code]) => code);
  expect(codes).toEqual(Object.keys(RFC_CLOSES));
});

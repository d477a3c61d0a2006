import { createECDH, randomBytes } from "node:crypto";
import type { RequestOptions } from "node:http";
import { MINUTE_MS } from "../../../../src/base/lib/time/time.ts";
import { GUIDES } from "../../../../src/extensions/docs/index.ts";
import { TOOLS } from "../../../../src/extensions/mcp/tools.ts";

/** A request that costs the server more than most. */
export interface DearRequest extends Pick<RequestOptions, "method" | "headers"> {
  readonly path: string;
  readonly body?: string;
}

/** What an attacker knows of the market. */
export interface Known {
  readonly nowMs: number;
  readonly cursor: string;
  /** Ids of flares, running and finished. */
  readonly flares: readonly string[];
  /** Addresses of tokens on BSC. */
  readonly tokens: readonly string[];
}

/** Returns the n-th request of an attacker. Each differs from those before it, where it can. */
type Attack = (n: number) => DearRequest;

/** Stored minutes that an attacker asks for in turn. */
const PAST_MINUTES = 25;

/** Returns every dear request by name, as an attacker would repeat it. */
export function attacksOn(known: Known): Readonly<Record<string, Attack>> {
  const flare = (n: number) => pick(known.flares, n);
  const token = (n: number) => pick(known.tokens, n);
  const minute = (n: number) => timeOf(known.nowMs - (3 + (n % PAST_MINUTES)) * MINUTE_MS);
  const never = (n: number) => timeOf(known.nowMs - n);
  const get = (path: string): DearRequest => ({ path, headers: { "accept-encoding": "br" } });
  const api = (path: string) => get(`/api/v1${path}`);
  const calls: Readonly<Record<string, (n: number) => object>> = {
    flares_now: () => ({ limit: 100 }),
    flares_since: () => ({ cursor: known.cursor, limit: 200 }),
    why: (n) => ({ id: flare(n) }),
    token: (n) => ({ group: "bsc", token: token(n) }),
    history: (n) => ({ to: never(n), limit: 50 }),
    track_record: () => ({ window: "30d" }),
    snapshot_at: (n) => ({ at: minute(n), limit: 100 }),
  };
  return {
    "/mcp tools/list": () => mcp("tools/list", {}),
    ...Object.fromEntries(
      TOOLS.map(({ name }) => [
        `/mcp ${name}`,
        (n: number) => mcp("tools/call", { name, arguments: calls[name]?.(n) }),
      ]),
    ),
    "picture of a flare": (n) => get(`/flare/${flare(n)}/picture.png`),
    "picture of a token": (n) => get(`/token/bsc/${token(n)}/picture.png`),
    "page of a flare": (n) => get(`/flare/${flare(n)}`),
    "page of a token": (n) => get(`/token/bsc/${token(n)}`),
    "/snapshot?at": (n) => api(`/snapshot?at=${minute(n)}`),
    "/record?at": (n) => api(`/record?window=30d&at=${minute(n)}`),
    "/candles?at": (n) => api(`/candles?at=${minute(n)}`),
    "/history?at": (n) => api(`/history?limit=200&to=${never(n)}&at=${minute(n)}`),
    "/tokens?at": (n) => api(`/tokens/bsc/${token(n)}?at=${minute(n)}`),
    "selective poll": (n) => api(`/events?after=oldest&limit=1000&symbols=zz${n}`),
    "poll of 64 tokens": (n) =>
      api(`/events?after=oldest&limit=1000&tokens=${Array.from({ length: 64 }, (_, at) => `0x${n}${at}`)}`),
    "poll of everything": () => api("/events?after=oldest&limit=1000"),
    "/history with filters": (n) => api(`/history?limit=200&to=${never(n)}`),
    "/history of a symbol": (n) => api(`/history?limit=200&symbol=zz${n}`),
    "/record": () => api("/record?window=30d"),
    "/tokens": (n) => api(`/tokens/bsc/${token(n)}`),
    "/candles": () => api("/candles"),
    "/snapshot": () => api("/snapshot"),
    "/docs/search.json": () => get("/docs/search.json"),
    "pages of the documents": (n) => get(pick(PAGES, n)),
    "web push": (n) => ({
      ...{ path: "/push", method: "PUT", headers: { "content-type": "application/json" } },
      body: JSON.stringify(subscription(n)),
    }),
  };
}

const PAGES = ["/openapi.json", "/asyncapi.json", "/docs", ...GUIDES.map(({ path }) => path)];

function pick(values: readonly string[], n: number): string {
  return values[n % values.length] ?? "none";
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function mcp(method: string, params: object): DearRequest {
  return {
    ...{ path: "/mcp", method: "POST" },
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  };
}

/** A real key, because the server checks that it is a point of the curve. */
const p256dh = createECDH("prime256v1").generateKeys("base64url");

/** Returns a subscription as large as the server accepts, whose rules never apply. */
function subscription(n: number): object {
  const tokens = Array.from({ length: 20 }, (_, at) => `0x${String(at).padStart(40, "0")}`);
  return {
    endpoint: `https://push.example.org/${n}`,
    keys: { p256dh, auth: randomBytes(16).toString("base64url") },
    rules: Array.from({ length: 40 }, (_, at) => ({
      channel: "flares.pro",
      filter: { tokens, symbols: [`none${at}`] },
    })),
  };
}

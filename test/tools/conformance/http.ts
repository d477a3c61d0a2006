import { Agent, type IncomingMessage, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { parseJson } from "./json.ts";
import { Unreachable } from "./verdict.ts";

/** The server under test, and the key to use. */
export interface Target {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly key?: string | undefined;
}

/** One request to the server. */
interface RequestOptions {
  readonly method?: string | undefined;
  /** Below the base path; or, from a `Link`, including it. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends no key. */
  readonly anonymous?: boolean | undefined;
}

/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** Parsed JSON, or `undefined` if the body is not JSON. */
  readonly body: unknown;
}

const REQUEST_LIMIT_MS = 70_000;
const plainAgent = new Agent({ keepAlive: false });
const secureAgent = new SecureAgent({ keepAlive: false });

/** Returns the address of a request. */
export function addressOf(
  { url }: Target,
  { path, query }: RequestOptions,
  scheme: "http" | "ws" = "http",
): URL {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, "");
  const address = new URL(path.startsWith(`${base}/`) && base !== "" ? path : `${base}${path}`, origin);
  for (const [name, value] of Object.entries(query ?? {})) address.searchParams.set(name, value);
  if (scheme === "ws") address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address;
}

/** Returns the header fields of every request that is not anonymous. */
export function credentials(
  { key }: Target,
  { anonymous = false }: Pick<RequestOptions, "anonymous">,
): Readonly<Record<string, string>> {
  return key === undefined || anonymous ? {} : { authorization: `Bearer ${key}` };
}

/**
 * Resolves with the response once its header has arrived. The caller reads the body. A response 101
 * closes the connection.
 */
export function openResponse(
  target: Target,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const address = addressOf(target, options);
  const isSecure = address.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = (isSecure ? secureRequest : request)(address, {
    method: options.method ?? "GET",
    headers: { ...credentials(target, options), ...options.headers },
    agent: isSecure ? secureAgent : plainAgent,
    signal,
  });
  sent.once("response", resolve);
  sent.once("upgrade", (response, socket) => {
    socket.destroy();
    resolve(response);
  });
  sent.on("error", (error) =>
    reject(new Unreachable(`${address.origin}: ${error.message}`, { cause: error })),
  );
  sent.end();
  return promise;
}

/** Sends a request and reads the response. Rejects with Unreachable. */
export async function fetchResponse(
  target: Target,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
  const response = await openResponse(target, options, bounded);
  let text = "";
  let bytes = 0;
  try {
    if (response.statusCode !== 101) {
      const decoder = new TextDecoder();
      for await (const chunk of response) {
        bytes += chunk.length;
        text += decoder.decode(chunk, { stream: true });
      }
    }
  } catch (cause) {
    throw new Unreachable(`the response of ${options.path} was cut off`, { cause });
  }
  return { status: response.statusCode ?? 0, headers: fieldsOf(response), bytes, body: parseJson(text) };
}

/** Returns the header fields, each as one text. */
export function fieldsOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]),
  );
}

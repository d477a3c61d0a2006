import { Agent, type IncomingMessage, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { parseJson } from "./json.ts";
import { Unreachable } from "./verdict.ts";

/** The server that is tried, and who tries it. */
export interface Target {
  /** With the base path, without a slash at its end. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly key?: string | undefined;
}

/** What is asked of the server. */
interface Question {
  readonly method?: string | undefined;
  /** Below the base path; or, from a `Link`, with it, as an address of this server. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Without the key. */
  readonly anonymous?: boolean | undefined;
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** As JSON; `undefined` where it is none. */
  readonly body: unknown;
}

const REQUEST_LIMIT_MS = 70_000;
const plainAgent = new Agent({ keepAlive: false });
const secureAgent = new SecureAgent({ keepAlive: false });

/** The address of a question. `scheme` is `http` or `ws`. */
export function addressOf({ url }: Target, { path, query }: Question, scheme: "http" | "ws" = "http"): URL {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, "");
  const address = new URL(path.startsWith(`${base}/`) && base !== "" ? path : `${base}${path}`, origin);
  for (const [name, value] of Object.entries(query ?? {})) address.searchParams.set(name, value);
  if (scheme === "ws") address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address;
}

/** The fields that every request carries that is not to be anonymous. */
export function credentials(
  { key }: Target,
  { anonymous = false }: Pick<Question, "anonymous">,
): Readonly<Record<string, string>> {
  return key === undefined || anonymous ? {} : { authorization: `Bearer ${key}` };
}

/**
 * Resolves with the answer once its head is there; the body is the caller's to read. An answer of
 * 101 is the end of the connection.
 */
export function openAnswer(
  target: Target,
  question: Question,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const address = addressOf(target, question);
  const isSecure = address.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = (isSecure ? secureRequest : request)(address, {
    method: question.method ?? "GET",
    headers: { ...credentials(target, question), ...question.headers },
    agent: isSecure ? secureAgent : plainAgent,
    signal,
  });
  asked.once("response", resolve);
  asked.once("upgrade", (answer, socket) => {
    socket.destroy();
    resolve(answer);
  });
  asked.on("error", (error) =>
    reject(new Unreachable(`${address.origin}: ${error.message}`, { cause: error })),
  );
  asked.end();
  return promise;
}

/** Asks and reads the answer. Rejects with Unreachable. */
export async function ask(target: Target, question: Question, signal: AbortSignal): Promise<Answer> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
  const answer = await openAnswer(target, question, bounded);
  let text = "";
  let bytes = 0;
  try {
    if (answer.statusCode !== 101) {
      const decoder = new TextDecoder();
      for await (const chunk of answer) {
        bytes += chunk.length;
        text += decoder.decode(chunk, { stream: true });
      }
    }
  } catch (cause) {
    throw new Unreachable(`the answer of ${question.path} was cut`, { cause });
  }
  return { status: answer.statusCode ?? 0, headers: fieldsOf(answer), bytes, body: parseJson(text) };
}

/** The header fields, each as one text. */
export function fieldsOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]),
  );
}

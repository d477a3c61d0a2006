import { isDeepStrictEqual } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { z } from "zod";
import {
  ENDPOINTS,
  EVENTS_ENDPOINT,
  HISTORY_ENDPOINTS,
  PROBLEM_TYPE_PREFIX,
  Problem,
} from "../../src/http/index.ts";
import { ERROR_CODES, type ErrorCode } from "../../src/protocol/index.ts";
import { checkResponse, endsWithPath } from "./contract.ts";

/** A response as any client sees it; the body as it came, before any decoding. */
interface SeenResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: Buffer;
}

/**
 * Checks a response of a gateway against the OpenAPI document and returns the decoded JSON,
 * `undefined` where there is no body, the text where the type is none of JSON's: the schema of its
 * address with no field beyond it, the right content type, no body where none may be, each problem
 * with its code's status. Throws an Error that says what is wrong. Addresses that the table of
 * endpoints does not know are held to the rules of problems only.
 */
export function validateResponse(method: string, url: string, response: SeenResponse): unknown {
  const { status, headers, body } = response;
  const fail = (what: string): never => {
    throw new Error(`${method} ${url} → ${status}: ${what}`);
  };
  if (method === "HEAD" || status === 204 || status === 304) {
    if (body.length > 0) fail(`${body.length} bytes of body where none may be`);
    checkResponse(method, url, { status, headers, body: undefined });
    return undefined;
  }
  if (headers["content-length"] !== undefined && Number(headers["content-length"]) !== body.length) {
    fail(`content-length ${headers["content-length"]} of ${body.length} bytes`);
  }
  if (headers["x-content-type-options"] !== "nosniff") fail("no nosniff");
  const text = decode(body, headers["content-encoding"]);
  const json: unknown = String(headers["content-type"]).includes("json") ? JSON.parse(text) : text;
  checkResponse(method, url, { status, headers, body: json });
  if (status >= 400) {
    if (headers["content-type"] !== "application/problem+json") fail(`type ${headers["content-type"]}`);
    if (headers["cache-control"] !== "no-store") fail(`cache-control ${headers["cache-control"]}`);
    const problem = holdTo(Problem, json, fail);
    if (problem.status !== status) fail(`the problem says status ${problem.status}`);
    const code = problem.type.slice(PROBLEM_TYPE_PREFIX.length) as ErrorCode;
    if (ERROR_CODES[code].status !== status) fail(`code ${code} has status ${ERROR_CODES[code].status}`);
    return json;
  }
  const schema = schemaOf(url);
  if (!schema) return json;
  if (headers["content-type"] !== "application/json; charset=utf-8") fail(`type ${headers["content-type"]}`);
  holdTo(schema, json, fail);
  return json;
}

/** Parsing leaves unknown fields out, so a value that comes through changed had some. */
function holdTo<T>(schema: z.ZodType<T>, json: unknown, fail: (what: string) => never): T {
  const { success, data, error } = schema.safeParse(json);
  if (!success) return fail(`not of its schema: ${error.message}`);
  if (!isDeepStrictEqual(data, json)) return fail(`has fields beyond its schema: ${JSON.stringify(json)}`);
  return data;
}

function decode(body: Buffer, coding: string | string[] | number | undefined): string {
  if (coding === "gzip") return gunzipSync(body).toString();
  if (coding === "br") return brotliDecompressSync(body).toString();
  if (coding !== undefined) throw new Error(`unknown content-encoding ${coding}`);
  return body.toString();
}

/** The schema of the endpoint whose path the URL ends with, whatever base path is before it. */
function schemaOf(url: string): z.ZodType | undefined {
  const { pathname } = new URL(url, "http://localhost");
  const all = [...Object.values(ENDPOINTS), EVENTS_ENDPOINT, ...Object.values(HISTORY_ENDPOINTS)];
  return all.find(({ path }) => endsWithPath(pathname, path))?.schema;
}

/** A response that `fetch` brought, held to its contract. */
export async function checkedFetch(
  url: string,
  init: RequestInit = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly json: unknown }> {
  const response = await fetch(url, init);
  const body = Buffer.from(await response.arrayBuffer());
  const {
    "content-encoding": _coding,
    "content-length": _length,
    ...headers
  } = Object.fromEntries(response.headers);
  const json = validateResponse(init.method ?? "GET", url, { status: response.status, headers, body });
  return { status: response.status, headers: response.headers, json };
}

import { isDeepStrictEqual } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../../../src/base/protocol/index.ts";
import { PROBLEM_TYPE_PREFIX, Problem } from "../../../src/gateway/http/index.ts";
import { checkResponse, endsWithPath } from "./contract.ts";
import { CONTRACTS } from "./contracts.ts";

/** A response as any client receives it, with the body before any decoding. */
interface SeenResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: Buffer;
}

/**
 * Checks a gateway's response against the OpenAPI document. Throws an Error with the violation. It
 * checks the body against its schema, without extra fields; the content type; that no body is
 * present where none is allowed; and each problem's status against its code. Addresses outside the
 * table of endpoints are only checked for the rules of problems.
 * @returns The parsed JSON, the text for other types, or `undefined` without a body.
 */
export function validateResponse(method: string, url: string, response: SeenResponse): unknown {
  const { status, headers, body } = response;
  const fail = (what: string): never => {
    throw new Error(`${method} ${url} → ${status}: ${what}`);
  };
  if (method === "HEAD" || status === 204 || status === 304) {
    if (body.length > 0) fail(`${body.length} bytes of body where none is allowed`);
    checkResponse(method, url, { status, headers, body: undefined });
    return undefined;
  }
  if (headers["content-length"] !== undefined && Number(headers["content-length"]) !== body.length) {
    fail(`content-length ${headers["content-length"]}, but the body has ${body.length} bytes`);
  }
  if (headers["x-content-type-options"] !== "nosniff") fail("x-content-type-options is not nosniff");
  const text = decode(body, headers["content-encoding"]);
  const json: unknown = String(headers["content-type"]).includes("json") ? JSON.parse(text) : text;
  checkResponse(method, url, { status, headers, body: json });
  if (status >= 400) {
    if (headers["content-type"] !== "application/problem+json") fail(`type ${headers["content-type"]}`);
    if (headers["cache-control"] !== "no-store") fail(`cache-control ${headers["cache-control"]}`);
    const problem = checkSchema(Problem, json, fail);
    if (problem.status !== status) fail(`the problem has status ${problem.status}`);
    const code = problem.type.slice(PROBLEM_TYPE_PREFIX.length) as ErrorCode;
    if (ERROR_CODES[code].status !== status)
      fail(`code ${code} belongs to status ${ERROR_CODES[code].status}`);
    return json;
  }
  const schema = schemaOf(url);
  if (!schema) return json;
  if (headers["content-type"] !== "application/json; charset=utf-8") fail(`type ${headers["content-type"]}`);
  checkSchema(schema, json, fail);
  return json;
}

/** Parsing drops unknown fields, so a changed value had some. */
function checkSchema<T>(schema: z.ZodType<T>, json: unknown, fail: (what: string) => never): T {
  const { success, data, error } = schema.safeParse(json);
  if (!success) return fail(`violates its schema: ${error.message}`);
  if (!isDeepStrictEqual(data, json))
    return fail(`has fields that its schema does not define: ${JSON.stringify(json)}`);
  return data;
}

function decode(body: Buffer, coding: string | string[] | number | undefined): string {
  if (coding === "gzip") return gunzipSync(body).toString();
  if (coding === "br") return brotliDecompressSync(body).toString();
  if (coding !== undefined) throw new Error(`unknown content-encoding ${coding}`);
  return body.toString();
}

/** Returns the schema of the endpoint whose path the URL ends with, at any base path. */
function schemaOf(url: string): z.ZodType | undefined {
  const { pathname } = new URL(url, "http://localhost");
  const found = CONTRACTS.find(({ path, method }) => method === "GET" && endsWithPath(pathname, path));
  return found?.tag === "documents"
    ? undefined
    : found?.responses[200]?.content?.["application/json"]?.schema;
}

/** Fetches a response and checks it against its contract. */
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

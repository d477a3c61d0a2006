import type { z } from "zod";
import { problemDetail } from "../../base/lib/io/read-refusal.ts";

/** A response of the REST API. */
export interface ApiResponse {
  readonly status: number;
  /** Returns the field's value; `undefined` if it is absent. */
  header(name: string): string | undefined;
  readonly text: string;
}

/** Requests a path of the REST API, with its query, from the root of the server's base path. */
export type RequestApi = (path: string, signal: AbortSignal) => Promise<ApiResponse>;

/** A request that the server rejected, with its reason. */
export class ApiProblem extends Error {
  readonly response: ApiResponse;

  constructor(path: string, response: ApiResponse) {
    const reason = problemDetail(response.text) || "no reason was given";
    super(`${path.split("?")[0]} returned ${response.status}: ${reason}`);
    this.response = response;
  }
}

/**
 * Requests a path and returns its body, with the state of the data. Rejects with {@link ApiProblem}
 * unless the status is 200.
 */
export async function read<T>(request: RequestApi, path: string, schema: z.ZodType<T>, signal: AbortSignal) {
  const response = await request(path, signal);
  if (response.status !== 200) throw new ApiProblem(path, response);
  return { body: schema.parse(JSON.parse(response.text)), data: dataState(response), response };
}

/** Returns the state of the data in a response. */
export function dataState(response: ApiResponse) {
  const age = response.header("flarewire-data-age");
  return {
    origin: response.header("flarewire-origin") ?? "unknown",
    state: response.header("flarewire-source-state") ?? "unknown",
    age_s: age === undefined ? null : Number(age),
    observed_at: response.header("flarewire-observed-at") ?? null,
  };
}

/** Returns a path with those parameters that have a value. */
export function withQuery(path: string, parameters: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

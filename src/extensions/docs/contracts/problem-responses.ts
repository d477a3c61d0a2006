import { ERROR_CODES, type ErrorCode, FlarewireError } from "../../../base/protocol/index.ts";
import {
  FRESHNESS_HEADERS,
  type HeaderName,
  KEY_HEADERS,
  PROBLEM_TYPE,
  PROBLEM_TYPE_PREFIX,
  type Problem,
  problemOf,
} from "../../../gateway/http/index.ts";
import { type JsonSchema, refTo } from "./schemas.ts";

/** A response of OpenAPI, reduced to the fields used here. */
export interface ResponseContract {
  readonly description: string;
  readonly headers?: ReturnType<typeof headerRefs>;
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema: JsonSchema;
        readonly example?: unknown;
        readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
      }
    >
  >;
}

export function headerRefs(
  names: readonly HeaderName[],
): Readonly<Record<string, { readonly $ref: string }>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of a problem by status, in addition to the common ones. */
const HEADERS_BY_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["Vary", "WWW-Authenticate"],
  429: ["Vary", "Retry-After"],
  410: ["Link", "Vary", ...FRESHNESS_HEADERS],
  426: ["Upgrade"],
  503: ["Retry-After", "Vary", ...FRESHNESS_HEADERS],
};

/** Message and details of a code's example. Default: the code's meaning, without details. */
const EXAMPLES: Readonly<Partial<Record<ErrorCode, ErrorText>>> = {
  "invalid-parameter": [
    'limit is "0"; it must be a whole number from 1 to 1000',
    { field: "limit", bound: "a whole number from 1 to 1000" },
  ],
  "unknown-channel": [
    'channels contains "flare.pro" (did you mean flares.pro?), which matches no channel',
    { field: "channels" },
  ],
  "cursor-gone": [
    'after is "13ac274a9f68b758-9" (expired); at most 92 events are lost',
    { field: "after", lost: { reason: "expired", events: 92 } },
  ],
  "time-gone": [
    "no state is stored for 2017-11-11T08:24:00.000Z: it is outside the stored range; at must be from 2017-11-12T00:00:00.000Z to 2017-11-12T08:24:00.000Z",
    { field: "at", bound: "from 2017-11-12T00:00:00.000Z to 2017-11-12T08:24:00.000Z" },
  ],
  "not-ready": ["no data yet: the market's past is still being read"],
};

type ErrorText =
  ConstructorParameters<typeof FlarewireError> extends [ErrorCode, ...infer Text] ? Text : never;

/** Collects the problem responses, one component per set of codes with the same status. */
export class ProblemResponses {
  readonly #components = new Map<string, ResponseContract>();

  of(codes: readonly ErrorCode[]): Readonly<Record<string, { readonly $ref: string }>> {
    const byStatus = [...Map.groupBy(new Set(codes), (code) => ERROR_CODES[code].status)];
    return Object.fromEntries(
      byStatus
        .toSorted(([a], [b]) => a - b)
        .map(([status, same]) => [`${status}`, this.#refTo(status, same.toSorted())]),
    );
  }

  components(): Readonly<Record<string, ResponseContract>> {
    return Object.fromEntries([...this.#components].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #refTo(status: number, codes: readonly ErrorCode[]): { readonly $ref: string } {
    const name = codes.join(".");
    if (!this.#components.has(name)) this.#components.set(name, responseOf(status, codes));
    return { $ref: `#/components/responses/${name}` };
  }
}

function exampleOf(code: ErrorCode): Problem {
  const [message, details] = EXAMPLES[code] ?? [ERROR_CODES[code].meaning];
  return problemOf(new FlarewireError(code, message, details), "5f0c2a7e11-4b");
}

function responseOf(status: number, codes: readonly ErrorCode[]): ResponseContract {
  const fields = [
    "Cache-Control" as const,
    ...KEY_HEADERS,
    ...(HEADERS_BY_STATUS[status] ?? (status === 400 || status === 403 ? ["Vary" as const] : [])),
  ];
  const types = codes.map((code) => `${PROBLEM_TYPE_PREFIX}${code}`);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}.`).join(" "),
    headers: headerRefs(fields),
    content: {
      [PROBLEM_TYPE]: {
        schema: {
          allOf: [
            refTo("Problem"),
            { type: "object", properties: { type: { enum: types }, status: { const: status } } },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

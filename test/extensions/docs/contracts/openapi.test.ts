import { describe, expect } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../../src/base/protocol/index.ts";
import type { ResponseContract } from "../../../../src/extensions/docs/contracts/problem-responses.ts";
import { createOpenApi } from "../../../../src/extensions/docs/index.ts";
import { ALLOWED_HEADERS, EXPOSED_HEADERS } from "../../../../src/gateway/http/common-headers.ts";
import { HEADERS } from "../../../../src/gateway/http/contract/response-headers.ts";
import { ANY_PROBLEMS, EVENTS_ROUTE } from "../../../../src/gateway/http/index.ts";
import { EVENTS_QUERY } from "../../../../src/gateway/http/stream/events-query.ts";
import { STREAM_QUERY } from "../../../../src/gateway/http/stream/stream-query.ts";
import { test as rest } from "../../../gateway/http/rest/rest-fixture.ts";
import { test as wire } from "../../../gateway/http/stream/websocket-fixture.ts";
import { checkResponse } from "../../../support/expect/contract.ts";
import { CONTRACTS } from "../../../support/expect/contracts.ts";
import { danglingRefs } from "./dangling-refs.ts";

const OPENAPI = createOpenApi("", CONTRACTS);

rest("every reference leads somewhere, and every component is referred to", () => {
  expect(danglingRefs(OPENAPI)).toEqual([]);
  const text = JSON.stringify(OPENAPI);
  for (const [kind, named] of Object.entries(OPENAPI.components)) {
    const unused = Object.keys(named).filter(
      (name) => kind !== "securitySchemes" && !text.includes(`"#/components/${kind}/${name}"`),
    );
    expect(unused, kind).toEqual([]);
  }
});

rest("each operation has the problems that its route can answer, and an id of its own", () => {
  const own = new Map(
    CONTRACTS.map(({ path, problems }): [string, readonly ErrorCode[]] => [path, problems]),
  );
  expect(Object.keys(OPENAPI.paths).toSorted()).toEqual([...own.keys()].toSorted());
  for (const [path, { get, post }] of Object.entries(OPENAPI.paths)) {
    const statuses = [...ANY_PROBLEMS, ...(own.get(path) ?? [])].map((code) => `${ERROR_CODES[code].status}`);
    const reported = Object.keys((get ?? post)?.responses ?? {}).filter((status) => Number(status) >= 400);
    expect(reported.toSorted(), path).toEqual([...new Set(statuses)].toSorted());
  }
  const ids = Object.values(OPENAPI.paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

rest("every example is what its schema says, headers included", () => {
  let seen = 0;
  for (const [path, { get, post }] of Object.entries(OPENAPI.paths)) {
    for (const [status, response] of Object.entries((get ?? post)?.responses ?? {})) {
      const contract =
        "$ref" in response ? OPENAPI.components.responses[response.$ref.split("/").at(-1) ?? ""] : response;
      for (const [type, body] of examplesOf(contract)) {
        const reported = Object.entries(HEADERS).filter(
          ([name]) => contract?.headers && name in contract.headers,
        );
        const headers = Object.fromEntries(
          reported.map(([name, { example }]) => [name.toLowerCase(), example]),
        );
        checkResponse(get ? "GET" : "POST", path, {
          status: Number(status),
          headers: { ...headers, "content-type": type },
          body,
        });
        seen += 1;
      }
    }
  }
  expect(seen).toBeGreaterThan(100);
});

function examplesOf(contract: ResponseContract | undefined): readonly (readonly [string, unknown])[] {
  return Object.entries(contract?.content ?? {}).flatMap(([type, { example, examples = {} }]) => [
    ...(example === undefined ? [] : [[type, example] as const]),
    ...Object.values(examples).map(({ value }) => [type, value] as const),
  ]);
}

rest("every field that other origins may read or send is in it", () => {
  expect(EXPOSED_HEADERS.filter((name) => !(name in HEADERS))).toEqual([]);
  const sent = JSON.stringify(OPENAPI.paths);
  const reported = ALLOWED_HEADERS.filter(
    (name) => name !== "Authorization" && !sent.includes(`"name":"${name}","in":"header"`),
  );
  expect(reported).toEqual([]);
});

describe("the parameters have the server's limits", () => {
  /** Values within and beyond the limit. */
  const CASES: Readonly<Record<string, readonly [good: readonly string[], bad: readonly string[]]>> = {
    channels: [["*", "flares.*", "status"], ["flare.pro"]],
    after: [
      ["oldest", "test1-0"],
      ["newest", "test1-01", "x".repeat(49)],
    ],
    limit: [
      ["1", "1000"],
      ["0", "1001"],
    ],
    wait: [
      ["0", "60"],
      ["61", "-1"],
    ],
    tokens: [["0xab"], ["ab", Array.from({ length: 65 }, () => "0xab").join()]],
    symbols: [["A", "x".repeat(64)], ["x".repeat(65)]],
    min_liquidity: [
      ["0", "50000.5"],
      ["-1", "much"],
    ],
    min_price_change: [["-5", "10"], ["much"]],
    min_locked: [
      ["0", "0.95", "1"],
      ["-0.1", "1.1", "all"],
    ],
    min_age: [
      ["0", "3600.5"],
      ["-1", "old"],
    ],
    sticky: [
      ["true", "false"],
      ["yes", ""],
    ],
    names: [["flare-started"], ["flare-began"]],
    snapshot: [["true", "false"], ["yes"]],
    max_message: [[], ["32768"]],
    mode: [[], ["latest", "fast"]],
    client: [[], ["abcdefgh"]],
    ticket: [[], []],
  };

  /** Returns the parameters that another parameter requires. */
  const besides = (name: string) => (name === "sticky" ? { symbols: "A" } : {});

  wire("over HTTP as JSON", async ({ wire }) => {
    expect(Object.keys(CASES).toSorted()).toEqual(Object.keys(EVENTS_QUERY).toSorted());
    for (const [name, [good, bad]] of Object.entries(CASES)) {
      for (const [values, status] of [
        [good, 200],
        [bad, 400],
      ] as const) {
        for (const value of values) {
          const query = new URLSearchParams({ ...besides(name), [name]: value });
          const { message } = await wire.ask(`${EVENTS_ROUTE.path}?${query}`);
          expect([name, value, message.statusCode]).toEqual([name, value, status]);
        }
      }
    }
  });

  wire("of a stream", async ({ wire }) => {
    const { limit: _limit, wait: _wait, ...cases } = CASES;
    const streams = {
      ...cases,
      after: [["test1-0"], ["oldest"]],
      mode: [["latest", "events"], ["fast"]],
      max_message: [
        ["8192", "524288"],
        ["8191", "524289", "many"],
      ],
      // Only the WebSocket has it; this request is for server-sent events.
      mirror: [[], ["true", "yes", ""]],
      client: [
        ["abcdefgh", "x".repeat(64)],
        ["abcdefg", "x".repeat(65), "abcdefg!"],
      ],
    } as const;
    expect(Object.keys(streams).toSorted()).toEqual(Object.keys(STREAM_QUERY).toSorted());
    for (const [name, [good, bad]] of Object.entries(streams)) {
      for (const [values, status] of [
        [good, 200],
        [bad, 400],
      ] as const) {
        for (const value of values) {
          const query = new URLSearchParams({ channels: "status", ...besides(name), [name]: value });
          const { message } = await wire.ask(
            `${EVENTS_ROUTE.path}?${query}`,
            { accept: "text/event-stream" },
            "HEAD",
          );
          expect([name, value, message.statusCode]).toEqual([name, value, status]);
        }
      }
    }
  });
});

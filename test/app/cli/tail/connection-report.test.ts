import { expect, test } from "vitest";
import { readStreamAddress, unknownChannels } from "../../../../src/app/cli/stream-address.ts";
import { describeEnd, describeFailure } from "../../../../src/app/cli/tail/connection-report.ts";

const REFUSED = { reason: "no answer: Error: connect ECONNREFUSED 127.0.0.1:8099" };

test.each([
  [REFUSED, "no answer: connect ECONNREFUSED 127.0.0.1:8099; check that a Flarewire server runs there"],
  [
    { reason: "no answer: SocketError: other side closed" },
    "no answer: other side closed; check that a Flarewire server runs there",
  ],
  [
    {
      reason:
        "no answer: Error: 4013:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:",
    },
    "no answer: that port serves plain HTTP; use http:// instead of https://; check that a Flarewire server runs there",
  ],
  [{ reason: "HTTP 404", code: 404 }, "refused: HTTP 404; check that the URL is a Flarewire server's"],
  [
    { reason: "HTTP 403 this origin may not connect", code: 403 },
    "refused: HTTP 403 this origin may not connect",
  ],
])("the report of a first connection that failed with %j says why and what to check", (status, text) => {
  expect(describeFailure(status)).toBe(text);
});

test("the report of a connection that ends later says only why", () => {
  expect(describeEnd(REFUSED)).toBe("no answer: connect ECONNREFUSED 127.0.0.1:8099");
});

test("the address of the API or of its stream is accepted as the server's", () => {
  for (const path of ["/api/v1", "/api/v1/", "/api/v1//", "/api/v1/stream"])
    expect(readStreamAddress(`ws://127.0.0.1:1/base${path}`, [], [])?.url.href).toBe(
      "http://127.0.0.1:1/base",
    );
});

test("a name that matches no channel is reported with the known ones", () => {
  expect(unknownChannels(["flares.pro", "charts.*", "flares.foo"])).toEqual([
    expect.stringMatching(/^channels: "flares.foo".* matches no channel; known channels: .*flares\.pro/),
  ]);
});

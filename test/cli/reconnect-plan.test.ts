import { describe, expect, test } from "vitest";
import { type ConnectionEnd, planNext } from "../../src/cli/tail/reconnect-plan.ts";
import { CLOSE_CODES } from "../../src/protocol/index.ts";

const calm = { failures: 0, connectedBefore: true, random: () => 0.5 };
const closed = (code: number, subscribed = true): ConnectionEnd => ({
  kind: "closed",
  code,
  reason: "",
  subscribed,
});
const refused = (status: number, retryAfterMs?: number): ConnectionEnd => ({
  kind: "refused",
  status,
  detail: "full",
  retryAfterMs,
});

describe("after a connection has ended", () => {
  test.each(Object.entries(CLOSE_CODES))(
    "%s does what the range of its code says",
    (_reason, { code, action, meaning }) => {
      const plan = planNext(closed(code), calm);
      expect(plan.message).toContain(meaning);
      const expected = {
        stop: { kind: "give-up", exitCode: 1 },
        backoff: { kind: "reconnect", afterMs: 1_500 },
        resume: { kind: "reconnect", afterMs: 0 },
      };
      expect(plan).toMatchObject(expected[action]);
    },
  );

  test("a server that closes before it serves is not asked again at once", () => {
    expect(planNext(closed(4_200, false), calm)).toMatchObject({ kind: "reconnect", afterMs: 1_500 });
  });

  test("waits grow with each failure up to half a minute, are spread, and are never below a second", () => {
    const waits = [0, 1, 3, 50].map((failures) =>
      planNext(closed(1_006), { ...calm, failures, random: () => 1 }),
    );
    expect(waits).toMatchObject([
      { afterMs: 2_000 },
      { afterMs: 3_000 },
      { afterMs: 9_000 },
      { afterMs: 31_000 },
    ]);
    expect(planNext(closed(1_006), { ...calm, failures: 50, random: () => 0 })).toMatchObject({
      afterMs: 1_000,
    });
  });

  test("silence is answered with the cursor at once", () => {
    expect(planNext({ kind: "silent", afterMs: 35_000, subscribed: true }, calm)).toMatchObject({
      afterMs: 0,
    });
  });

  test("a hole in the stream is asked for again, with a pause", () => {
    expect(planNext({ kind: "hole" }, calm)).toMatchObject({ kind: "reconnect", afterMs: 1_500 });
  });

  test("[F3] a server that is behind the cursor is asked again, with a pause", () => {
    const behind = { kind: "behind", cursor: "abcd-4", after: "abcd-6" } as const;
    const message = "the server is at abcd-4, behind abcd-6";
    expect(planNext(behind, calm)).toEqual({ kind: "reconnect", afterMs: 1_500, message });
  });

  test("a refusal for now is waited out for as long as the server says, one for good ends it", () => {
    expect(planNext(refused(503, 7_000), calm)).toMatchObject({ kind: "reconnect", afterMs: 7_500 });
    expect(planNext(refused(429), calm)).toMatchObject({ kind: "reconnect", afterMs: 1_500 });
    expect(planNext(refused(404), calm)).toMatchObject({
      kind: "give-up",
      exitCode: 1,
      message: expect.stringContaining("full"),
    });
  });

  test("a server that was never there ends it with 75, an unknown name with 1; one that was is waited for", () => {
    const gone: ConnectionEnd = {
      kind: "unreachable",
      error: Object.assign(new Error("no"), { code: "ECONNREFUSED" }),
    };
    const unknown: ConnectionEnd = {
      kind: "unreachable",
      error: Object.assign(new Error("no"), { code: "ENOTFOUND" }),
    };
    const never = { ...calm, connectedBefore: false };
    expect(planNext(gone, never)).toMatchObject({ kind: "give-up", exitCode: 75 });
    expect(planNext(unknown, never)).toMatchObject({ kind: "give-up", exitCode: 1 });
    expect(planNext(gone, calm)).toMatchObject({ kind: "reconnect" });
  });
});

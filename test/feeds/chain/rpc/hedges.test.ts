import { describe, expect } from "vitest";
import { Hedges } from "../../../../src/feeds/chain/rpc/hedges.ts";
import { RpcFailure } from "../../../../src/feeds/chain/rpc/rpc-failure.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { test } from "../../../support/time/still-running.ts";
import { settle } from "../../exchange/scripted-venue.ts";

interface FakeEndpoint {
  readonly name: string;
  slowSteps: number;
  load: readonly [delay: number, requests: number];
}

const { signal: never } = new AbortController();
const endpoint = (name: string, slowSteps = 0, delay = 0): FakeEndpoint => ({
  name,
  slowSteps,
  load: [delay, 0],
});

/** Runs work at endpoints. The test decides when each one responds. */
function hedged(endpoints: FakeEndpoint[]) {
  const clock = new ManualClock();
  const hedges = new Hedges(clock);
  const asked: { readonly name: string; readonly end: PromiseWithResolvers<string> }[] = [];
  const ask = () =>
    hedges.firstOf(
      () => endpoints,
      never,
      ({ name }) => {
        const end = Promise.withResolvers<string>();
        asked.push({ name, end });
        return end.promise;
      },
    );
  const names = () => asked.map(({ name }) => name).join("");
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { asked, ask, names, pass };
}

describe("work that takes more than a second at one endpoint", () => {
  test("is also done at the next one, and the first result counts", async () => {
    const { asked, ask, names, pass } = hedged([endpoint("a"), endpoint("b"), endpoint("c")]);
    const answer = ask();
    await pass(999);
    expect(names()).toBe("a");
    await pass(1);
    expect(names()).toBe("ab");
    await pass(60_000);
    expect(names()).toBe("ab");
    asked[1]?.end.resolve("of b");
    expect(await answer).toBe("of b");
    asked[0]?.end.reject(new Error("too late to matter"));
  });

  test("is not done at a slow or throttled one; an endpoint that can do it later is found", async () => {
    const endpoints = [endpoint("a"), endpoint("slow", 1), endpoint("throttled", 0, 1)];
    const { asked, ask, names, pass } = hedged(endpoints);
    const answer = ask();
    await pass(1_000);
    await pass(1_000);
    expect(names()).toBe("a");
    endpoints.push(endpoint("b"));
    await pass(1_000);
    expect(names()).toBe("ab");
    asked[0]?.end.resolve("of a");
    expect(await answer).toBe("of a");
  });

  test("is hedged ten times in a row, then for a tenth of all work, so that the load cannot double", async () => {
    const { asked, ask, pass } = hedged([endpoint("a"), endpoint("b")]);
    const hedges: number[] = [];
    for (let round = 0; round < 210; round++) {
      const before = asked.length;
      const answer = ask();
      await pass(1_000);
      hedges.push(asked.length - before - 1);
      asked.at(-1)?.end.resolve("");
      await answer;
    }
    expect(hedges.slice(0, 10)).toEqual(Array(10).fill(1));
    const later = hedges.slice(110).reduce((sum, count) => sum + count, 0);
    expect(later).toBeGreaterThanOrEqual(9);
    expect(later).toBeLessThanOrEqual(11);
  });

  test("goes to the next endpoint when one fails, and fails with the last failure", async () => {
    const { asked, ask, names, pass } = hedged([endpoint("a"), endpoint("b", 3)]);
    const answer = ask();
    const failed = expect(answer).rejects.toThrow("second");
    asked[0]?.end.reject(new RpcFailure("failed", "first"));
    await pass(0);
    expect(names()).toBe("ab");
    asked[1]?.end.reject(new RpcFailure("failed", "second"));
    await failed;
  });
});

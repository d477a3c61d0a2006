import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ConnectionHolder,
  ConnectionLimiter,
} from "../../../../src/gateway/http/access/connection-limiter.ts";

const holderOf = (address: string, keyId?: string, connections?: number): ConnectionHolder => ({
  address,
  key: (keyId === undefined ? undefined : { id: keyId, connections }) as ConnectionHolder["key"],
  end: () => undefined,
});

test("connections are limited in all, per address and per key, as a plain list of them would be, through any openings and closings", () => {
  const step = fc.record({
    address: fc.constantFrom("a", "b"),
    key: fc.constantFrom(undefined, "k", "m"),
    close: fc.option(fc.nat(9)),
    replace: fc.option(fc.nat(9)),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: 0, max: 4 }),
      fc.array(step, { maxLength: 25 }),
      (max, perAddress, steps) => {
        const limiter = new ConnectionLimiter(max, perAddress);
        let open: ConnectionHolder[] = [];
        for (const { address, key, close, replace } of steps) {
          const closed = close === null ? undefined : open[close];
          if (closed) {
            limiter.release(closed);
            open = open.filter((one) => one !== closed);
          }
          const holder = holderOf(address, key, 2);
          const replaced = replace === null ? undefined : open[replace];
          const others = open.filter((one) => one !== replaced);
          const reason =
            others.length >= max
              ? "streams"
              : others.filter((one) => one.address === address).length >= perAddress
                ? "streams-of-address"
                : key !== undefined && others.filter((one) => one.key?.id === key).length >= 2
                  ? "streams-of-key"
                  : undefined;
          expect(limiter.acquire(holder, replaced)?.reason).toBe(reason);
          if (reason !== undefined) continue;
          open.push(holder);
          if (replaced) {
            limiter.release(replaced);
            open = open.filter((one) => one !== replaced);
          }
        }
        expect(limiter.taken).toBe(open.length);
        const counts = Map.groupBy(
          open.flatMap(({ key }) => key?.id ?? []),
          (id) => id,
        );
        expect(new Map(limiter.ofKeys)).toEqual(new Map([...counts].map(([id, all]) => [id, all.length])));
      },
    ),
    { numRuns: 150 },
  );
});

test("a limit is only ever lowered, is named in the refusal, and a key without one has none", () => {
  const limiter = new ConnectionLimiter(3, Number.POSITIVE_INFINITY);
  limiter.lower(5);
  for (let count = 0; count < 3; count++) expect(limiter.acquire(holderOf("a", "k"))).toBeUndefined();
  expect(limiter.acquire(holderOf("b"))).toEqual({ bound: "3 in all", reason: "streams" });
  limiter.lower(2);
  expect(limiter.acquire(holderOf("b"))?.bound).toBe("2 in all");
  const narrow = new ConnectionLimiter(9, 1);
  narrow.acquire(holderOf("a"));
  expect(narrow.acquire(holderOf("a"))?.bound).toBe("1 from one address");
  narrow.acquire(holderOf("b", "k", 1));
  expect(narrow.acquire(holderOf("c", "k", 1))?.bound).toBe("1 with one key");
});

test("the connections of a key are ended together, those of invalid keys alone, and each with its reason", () => {
  const limiter = new ConnectionLimiter(9, 9);
  const ended: string[] = [];
  for (const [name, key] of [
    ["1", "k"],
    ["2", "m"],
    ["3", "k"],
    ["4", undefined],
  ] as const) {
    const holder = holderOf("a", key);
    holder.end = (reason) => {
      ended.push(`${name} ${reason}`);
      limiter.release(holder);
    };
    limiter.acquire(holder);
  }
  limiter.endInvalid(({ id }) => id !== "m");
  expect(ended.splice(0)).toEqual(["2 unauthorized"]);
  limiter.endAll("k", "forbidden");
  expect(ended).toEqual(["1 forbidden", "3 forbidden"]);
  limiter.endAll("none", "forbidden");
  expect([limiter.taken, limiter.ofKeys]).toEqual([1, []]);
});

import { expect, test } from "vitest";
import { runChurn } from "../tools/soak/churn.ts";
import { WAYS } from "../tools/soak/visitor.ts";

/**
 * Heap growth per connection. A leaked connection takes far more; warming code takes about 300 kB
 * in total.
 */
const MAX_GROWTH_BYTES = 600;

test("2,000 connections that open and end in every way leave nothing behind", async () => {
  const { came, most, left, growth } = await runChurn({ seconds: 20, perSecond: 100, seed: 1 });
  // A kind of connection that never occurs is not tested.
  for (const way of WAYS) expect(came[way], way).toBeGreaterThan(50);
  expect(most).toBeGreaterThan(100);
  expect(left).toMatchObject({ sessions: 0, behind: 0, limiter: 0, Session: 0, Group: 0, Socket: 0 });
  expect(left.TCPSocketWrap ?? 0).toBe(0);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
});

import { expect, test } from "vitest";
import { runChurn } from "../soak/churn.ts";
import { WAYS } from "../soak/visitor.ts";

/**
 * Of heap, for a connection that came and went: far less than what is left of one, more than what
 * code that gets warm takes, some 300 kB in all.
 */
const MAX_GROWTH_BYTES = 600;

test("of 2,000 connections that came and went, in every way, nothing is left", {
  timeout: 60_000,
}, async () => {
  const { came, most, left, growth } = await runChurn({ seconds: 20, perSecond: 100, seed: 1 });
  // Who never comes proves nothing.
  for (const way of WAYS) expect(came[way], way).toBeGreaterThan(50);
  expect(most).toBeGreaterThan(100);
  expect(left).toMatchObject({ sessions: 0, behind: 0, limiter: 0, Session: 0, Group: 0, Socket: 0 });
  expect(left.TCPSocketWrap ?? 0).toBe(0);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
});

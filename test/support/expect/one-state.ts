import { expect } from "vitest";
import type { IndependentClient } from "../clients/independent-client.ts";
import { checkedFetch } from "./validate-response.ts";

/**
 * Law L2: compares the REST snapshot with the client's state at the same cursor. Resolves with the
 * cursor's seq. The client may be ahead or behind while the response travels, so it records its
 * states meanwhile.
 */
export async function expectOneState(url: string, client: IndependentClient): Promise<number> {
  const from = client.seq;
  client.beginHistory();
  let { seq, cursor, lists } = await fetchSnapshot(url);
  // Another server behind the same address may respond, which is about to receive the client's
  // last events.
  for (let tries = 0; seq < from && tries < 1_000; tries++)
    ({ seq, cursor, lists } = await fetchSnapshot(url));
  await client.until(() => client.hasReached(seq) || client.closeCode !== undefined);
  expect(
    client.stateAt(seq),
    `the client's state at ${cursor}; it stands at ${client.seq}, closed ${client.closeCode}`,
  ).toEqual(lists);
  return seq;
}

async function fetchSnapshot(url: string) {
  const response = await checkedFetch(`${url}/api/v1/snapshot`);
  expect(response.status).toBe(200);
  const { cursor, observed_at: _observed, ...lists } = response.json as Record<string, unknown>;
  expect(response.headers.get("flarewire-cursor")).toBe(cursor);
  return { seq: Number(String(cursor).split("-")[1]), cursor, lists };
}

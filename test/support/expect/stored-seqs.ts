import { expect } from "vitest";
import { parseCursor } from "../../../src/base/protocol/index.ts";
import { FOLLOWED } from "../clients/independent-client.ts";

interface Received {
  readonly seq: number;
  readonly cursor: string;
}

/** Expects that these are all events of their channels that the server stores from the first on. */
export async function expectAllStored(url: string, events: readonly unknown[]): Promise<void> {
  const received = [...events] as readonly Received[];
  const [first, last] = [received[0], received.at(-1)];
  if (!first || !last) return;
  const stored = [first.seq];
  let after = first.cursor;
  for (let at = first.seq; at < last.seq; ) {
    const query = new URLSearchParams({ channels: FOLLOWED, limit: "1000", after });
    const response = await fetch(`${url}/api/v1/events?${query}`);
    expect(response.status).toBe(200);
    const page = (await response.json()) as { readonly events: readonly Received[]; readonly cursor: string };
    stored.push(...page.events.map(({ seq }) => seq));
    after = page.cursor;
    at = parseCursor(after)?.seq ?? Number.POSITIVE_INFINITY;
  }
  expect(received.map(({ seq }) => seq)).toEqual(stored.filter((seq) => seq <= last.seq));
}

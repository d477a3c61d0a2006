/** Time spent on comparing, appending and writing to streams so far, in seconds. */
interface Work {
  readonly sum: number;
  /** Number of batches. */
  readonly count: number;
}

/** The state of a server before a measurement. */
export interface Start {
  readonly cursor: string;
  readonly work: Work;
}

interface Page {
  readonly cursor: string;
  readonly events: readonly PastEvent[];
  readonly more: boolean;
}

interface PastEvent {
  readonly batch: number;
  readonly emitted_at: string;
  readonly observed_at: string;
}

/** How a market's changes came into the log. */
export interface Paces {
  readonly batches: number;
  readonly events: number;
  /** From the time at which a second of the market was due until its events were appended. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Mean time for comparing a snapshot, and appending and writing its events. */
  readonly workMs: number;
}

/** Event time per wall time of the measured market. */
const SPEED = 60;

export async function startOf(base: string): Promise<Start> {
  const { headers } = await fetch(`${base}/api/v1/newest`);
  return { cursor: headers.get("flarewire-cursor") ?? "", work: await workOf(base) };
}

/** Reads the events since the start. Call it while no other client uses the server. */
export async function pacesSince(base: string, { cursor, work: before }: Start): Promise<Paces> {
  const work = await workOf(base);
  const events: PastEvent[] = [];
  for (let after = cursor, more = true; more; ) {
    const page: Page = JSON.parse(
      await (await fetch(`${base}/api/v1/events?after=${after}&limit=1000`)).text(),
    );
    events.push(...page.events);
    ({ cursor: after, more } = page);
  }
  const firsts = [...Map.groupBy(events, ({ batch }) => batch).values()].flatMap(([first]) => first ?? []);
  // The start of the market's clock is unknown. The earliest batch by it counts as in time.
  const lates = firsts
    .map((event) => Date.parse(event.emitted_at) - Date.parse(event.observed_at) / SPEED)
    .sort((a, b) => a - b);
  const at = (share: number) =>
    (lates[Math.floor(share * (lates.length - 1))] ?? Number.NaN) - (lates[0] ?? Number.NaN);
  return {
    batches: firsts.length,
    events: events.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    workMs: (1_000 * (work.sum - before.sum)) / (work.count - before.count),
  };
}

async function workOf(base: string): Promise<Work> {
  const metrics = await (await fetch(`${base}/metrics`)).text();
  const read = (field: string) => {
    const name = `flarewire_poll_duration_seconds_${field}{outcome="published"} `;
    return Number(
      metrics
        .split("\n")
        .find((line) => line.startsWith(name))
        ?.slice(name.length),
    );
  };
  return { sum: read("sum"), count: read("count") };
}

import {
  type AnyFlare,
  type Explanation,
  type Flare,
  type Group,
  groupOf,
  type OtherGroup,
  type Outcome,
} from "../../../src/base/model/index.ts";
import type { FlareFinish } from "../../../src/extensions/history/history-records.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

export const START_MS = Date.UTC(2026, 0, 1);

/** A candle of one trade. */
export const CANDLE = {
  open_at: new Date(START_MS).toISOString(),
  open: "1",
  high: "1",
  low: "1",
  close: "1",
  volume: "1",
  buys: 1,
  sells: 0,
};
export const MINUTE_MS = 60_000;
/** Converts a history's file to version 5, which had flares of `bsc` only. */
export const WITHOUT_GROUP = `
  DROP INDEX newest; DROP INDEX by_market; DROP INDEX by_address; DROP INDEX by_symbol;
  CREATE INDEX newest ON flare (finished_ms, id, bytes, known_ms);
  CREATE INDEX by_address ON flare (address, finished_ms, id);
  CREATE INDEX by_symbol ON flare (symbol, finished_ms, id);
  ALTER TABLE flare DROP COLUMN market; ALTER TABLE expired DROP COLUMN market; PRAGMA user_version = 5;
`;
/** Converts a history's file to version 3, which did not store when something became known. */
export const WITHOUT_PAST = `
  ${WITHOUT_GROUP}
  DROP INDEX newest; CREATE INDEX newest ON flare (finished_ms, id, bytes);
  ALTER TABLE position DROP COLUMN is_generated;
  ALTER TABLE flare DROP COLUMN known_ms; ALTER TABLE flare DROP COLUMN earlier;
  ALTER TABLE flare DROP COLUMN outcome_ms; ALTER TABLE position DROP COLUMN since_ms;
  ALTER TABLE position DROP COLUMN candles_ms; DROP TABLE expired; PRAGMA user_version = 3;
`;
const timeAt = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString();

/** Returns ids whose order differs from the order of their numbers. */
export const idOf = (number: number) =>
  `${((number * 7_919) % 65_536).toString(16).padStart(8, "0")}-0000-5000-8000-${String(number).padStart(12, "0")}`;

/** Returns the flare with this number, of one of three tokens, which starts in that minute. */
export function flareAt(number: number, minute: number): Flare {
  const token = number % 3;
  return {
    ...SAMPLE_FLARE,
    id: idOf(number),
    token: {
      ...SAMPLE_FLARE.token,
      address: `0xAb0${token}`,
      symbol: `Tok${token}`,
      name: `é🔥 "${number}"`,
    },
    started_trending_at: timeAt(minute),
    finished_trending_at: null,
  };
}

export const whyAt = (minute: number, finished = false): Explanation => ({
  ...SAMPLE_EXPLANATION,
  at: timeAt(minute),
  finish_cause: finished ? "faded" : null,
});

/** Returns an outcome that differs by minute. */
export const outcomeAt = (minute: number, final: boolean): Outcome => ({
  ...SAMPLE_OUTCOME,
  change_5m: minute,
  final,
});

/** Returns a flare of another group, with the facts of one of `bsc`. */
export function inGroup({ token, ...flare }: Flare, group: OtherGroup): AnyFlare {
  if (group !== "exchange") return { ...flare, token, group };
  const { address: _, ...named } = token;
  return { ...flare, token: named, group, pair: `${token.symbol}/USDT`, exchange: "binance" };
}

/** Returns lists with the flares of one group. */
export function listsOf(pro: readonly AnyFlare[], finished: readonly AnyFlare[], group: Group) {
  const of = (flares: readonly AnyFlare[]) => flares.filter((flare) => groupOf(flare) === group) as never[];
  return { free: [], pro: of(pro), finished_trending: of(finished) };
}

/** Returns the finish of a flare that lasted ten minutes. */
export function finishAt(number: number, minute: number): FlareFinish & { readonly flare: Flare } {
  const flare = { ...flareAt(number, minute - 10), finished_trending_at: timeAt(minute) };
  return { flare, why: whyAt(minute, true), cause: "faded", outcome: outcomeAt(minute, false) };
}

/** Like {@link flareAt}, but every third flare is one of `matic`. */
export function anyFlareAt(number: number, minute: number): AnyFlare {
  return grouped(flareAt(number, minute), number);
}

/** Like {@link finishAt}, of {@link anyFlareAt}. */
export function anyFinishAt(number: number, minute: number): FlareFinish {
  const finish = finishAt(number, minute);
  return { ...finish, flare: grouped(finish.flare, number) };
}

function grouped(flare: Flare, number: number): AnyFlare {
  return number % 3 === 2 ? inGroup(flare, "matic") : flare;
}

import type { FastifyReply } from "fastify";
import {
  type Cursor,
  FlarewireError,
  type Freshness,
  formatCursor,
  type SourceInfo,
} from "../../../base/protocol/index.ts";
import { type ReadyFields, readyFields } from "./ready-fields.ts";

const FACTS = [
  "trades",
  "liquidity",
  "listings",
  "profiles",
] as const satisfies readonly (keyof SourceInfo["facts"])[];

/**
 * Sets the fields of the data's age, source state, origin and facts. Does not use `Age`, because
 * caches compute with it.
 */
export function setFreshness(reply: FastifyReply, fresh: Freshness, info: SourceInfo): void {
  reply.headers(freshnessFields(fresh, info));
}

/**
 * Creates a function like {@link stateFields} that returns the previous fields until one changes.
 */
export function createStateFields(): (cursor: Cursor, fresh: Freshness, info: SourceInfo) => ReadyFields {
  let of: { readonly cursor: Cursor; readonly fresh: Freshness; readonly info: SourceInfo } | undefined;
  let made: ReadyFields | undefined;
  return (cursor, fresh, info) => {
    const isSame =
      of !== undefined &&
      of.cursor === cursor &&
      of.info === info &&
      of.fresh.state === fresh.state &&
      of.fresh.observed_at === fresh.observed_at &&
      ageS(of.fresh) === ageS(fresh);
    if (made && isSame) return made;
    of = { cursor, fresh, info };
    made = readyFields(stateFields(cursor, fresh, info));
    return made;
  };
}

type ShownFreshness = Pick<Freshness, "state" | "observed_at" | "data_age_ms">;

/** Returns the fields that {@link setFreshness} sets, and the cursor's. */
export function stateFields(cursor: Cursor, fresh: ShownFreshness, info: SourceInfo): Record<string, string> {
  return { ...freshnessFields(fresh, info), "flarewire-cursor": formatCursor(cursor) };
}

function freshnessFields(fresh: ShownFreshness, { origin, facts }: SourceInfo): Record<string, string> {
  const known = FACTS.filter((name) => facts[name]);
  return {
    "flarewire-data-age": String(ageS(fresh)),
    ...(fresh.observed_at === null ? {} : { "flarewire-observed-at": fresh.observed_at }),
    "flarewire-source-state": fresh.state,
    "flarewire-origin": origin,
    "flarewire-facts": known.length === 0 ? "none" : known.join(", "),
  };
}

function ageS({ data_age_ms }: ShownFreshness): number {
  return Math.floor(data_age_ms / 1_000);
}

/** Returns the error for requests before the first data, with the same reasons as `/readyz`. */
export function noDataYet({ state, reason, parts }: Freshness): FlarewireError {
  const why = state === "live" || reason === "" ? "the market's past is still being read" : reason;
  return new FlarewireError("not-ready", `no data yet: ${why}`, { parts });
}

import type { Snapshot } from "../../../../src/base/model/index.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";

/**
 * Returns a snapshot of about this many bytes as JSON, larger than the samples. Each `step` has a
 * different price.
 */
export function snapshotOf(bytes: number, step: number): Snapshot {
  const flareBytes = JSON.stringify(SAMPLE_FLARE).length + 1;
  const otherBytes = JSON.stringify(SAMPLE_SNAPSHOT).length;
  const pro = Array.from(
    { length: Math.max(1, Math.round((bytes - otherBytes) / flareBytes) + 1) },
    (_, at) => ({
      ...SAMPLE_FLARE,
      id: `3b241101-e2bb-5255-8caf-${String(at).padStart(12, "0")}`,
      token: { ...SAMPLE_FLARE.token, price: `${step}.${at}` },
    }),
  );
  return { ...SAMPLE_SNAPSHOT, flares: { ...SAMPLE_SNAPSHOT.flares, pro } };
}

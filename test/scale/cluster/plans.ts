import type { FaultPlan } from "./simulation.ts";

const NOTHING: FaultPlan = {
  nodeFaults: 0,
  primaryFaults: 0,
  machineFaults: 0,
  losses: 0,
  partitions: 0,
  maySplit: false,
  isSlow: false,
};

/** The faults of the simulated runs, by description. */
export const PLANS: Readonly<Record<string, FaultPlan>> = {
  "no fault": NOTHING,
  "one node dies or stops": { ...NOTHING, nodeFaults: 1 },
  "the primary dies or stops": { ...NOTHING, primaryFaults: 1 },
  "a machine with the leader and the primary dies": { ...NOTHING, machineFaults: 1 },
  "the engine loses its latest entries": { ...NOTHING, losses: 1 },
  "one node cannot reach the engine": { ...NOTHING, partitions: 1 },
  "many faults at once": {
    ...NOTHING,
    nodeFaults: 3,
    primaryFaults: 2,
    losses: 1,
    partitions: 2,
    maySplit: true,
  },
  "many faults, and slow nodes that remember few entries": {
    nodeFaults: 2,
    primaryFaults: 2,
    machineFaults: 1,
    losses: 2,
    partitions: 2,
    maySplit: true,
    isSlow: true,
  },
};

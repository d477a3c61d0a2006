/** Several processes on one machine: one runs the source and the log, the others serve clients. */

export type { LogUpdate, SnapshotEnd, SourceReport, ToWorker } from "./messages.ts";
export { WorkersFrontend } from "./primary/workers-frontend.ts";
export { InjectedConnections } from "./process/injected-connections.ts";
export { PrimaryFollower } from "./process/primary-follower.ts";
export { PrimaryLink } from "./process/primary-link.ts";
export { RemoteState } from "./process/remote-state.ts";

/** Several processes on one machine: one runs the source and the log, the others serve clients. */

export type { FillEnd, FillMessage, SourceReport, ToWorker } from "./messages.ts";
export { InjectedConnections } from "./primary/injected-connections.ts";
export { WorkersFrontend, type WorkersFrontendOptions } from "./primary/workers-frontend.ts";
export { PrimaryFollower } from "./process/primary-follower.ts";
export { type ParentChannel, PrimaryLink } from "./process/primary-link.ts";
export { RemoteState } from "./process/remote-state.ts";

/** Many cores on one machine: one process has the source and the log, and others serve. */

export type { FillEnd, FillMessage, SourceNews, ToWorker } from "./messages.ts";
export { InjectedConnections } from "./primary/injected-connections.ts";
export { WorkersFront, type WorkersFrontOptions } from "./primary/workers-frontend.ts";
export { PrimaryFollower } from "./process/primary-follower.ts";
export { type ParentLine, PrimaryLink } from "./process/primary-link.ts";
export { RemoteKeys } from "./process/remote-keys.ts";
export { RemotePlaces } from "./process/remote-registry.ts";

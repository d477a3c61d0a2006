/** Many cores on one machine: one process has the source and the log, and others serve. */
export { InjectedConnections } from "./injected-connections.ts";
export type { FillEnd, FillMessage, SourceNews, ToWorker } from "./messages.ts";
export { PrimaryLeader } from "./primary-leader.ts";
export { type ParentLine, PrimaryLink } from "./primary-link.ts";
export { RemoteKeys } from "./remote-keys.ts";
export { RemotePlaces } from "./remote-places.ts";
export { WorkersFront, type WorkersFrontOptions } from "./workers-front.ts";

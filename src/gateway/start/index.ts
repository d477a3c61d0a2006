/** Opens and closes the listed parts of a gateway. */
export { type Extension, type ExtensionContext, extension, type OpenExtension } from "./extension.ts";
export type { Frontend, FrontendOptions, OpenFrontend } from "./frontend.ts";
export { listenProblem } from "./listen-problem.ts";
export { type Gateway, runGateway } from "./run-gateway.ts";
export type { JoinedLog, Joining, MarketOpener, SharedLog } from "./shared-log.ts";
export type { OpenCopy, RunningTask, SharedTask, SharedTasks, TaskCopy } from "./shared-task.ts";

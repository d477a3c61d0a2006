/**
 * The gateway: snapshots in, events out. It keeps the log, serves REST and streams, and opens the
 * extensions that the program lists.
 */
export { type Clock, systemClock } from "../base/lib/time/clock.ts";
export * from "./hub/index.ts";
export * from "./log/index.ts";
export { memoryPersistence, type Persistence } from "./persistence/persistence.ts";
export { type GatewaySettings, gatewaySettings } from "./settings/gateway-settings.ts";
export * from "./source/index.ts";
export {
  type Extension,
  type ExtensionContext,
  extension,
  type OpenExtension,
} from "./start/extension.ts";
export type { OpenFrontend } from "./start/frontend.ts";
export { httpFrontend } from "./start/http-frontend.ts";
export { type Gateway, type GatewayRun, runGateway } from "./start/run-gateway.ts";
export type { SharedTasks, TaskCopy } from "./start/shared-task.ts";

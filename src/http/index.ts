/** The HTTP side: REST, WebSocket, problems, health. */
export * from "./access.ts";
export { rawProblem } from "./client-error.ts";
export { type AsyncApiDocument, createAsyncApi } from "./contracts/asyncapi.ts";
export { createOpenApi, type OpenApiDocument } from "./contracts/openapi.ts";
export * from "./endpoints.ts";
export * from "./events-route.ts";
export * from "./head-like.ts";
export * from "./host-routes.ts";
export * from "./http-settings.ts";
export * from "./key-door.ts";
export * from "./metrics-route.ts";
export * from "./places.ts";
export * from "./responses.ts";
export * from "./seats.ts";
export * from "./server.ts";
export * from "./tickets-route.ts";
export * from "./websocket-route.ts";

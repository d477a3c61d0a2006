/** The Model Context Protocol: tools with which an agent reads the API. */

export type { RequestApi } from "./market-api.ts";
export { mcp } from "./mcp-extension.ts";

/** Loads the server's code, whose package a gateway need not have. */
export const loadMcpServer = () => import("./mcp-server.ts");

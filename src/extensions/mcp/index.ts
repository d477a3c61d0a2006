/** The Model Context Protocol: tools with which an agent reads the API. */

export type { RequestApi } from "./market-api.ts";
export { mcp } from "./mcp-extension.ts";
export { createMcpServer } from "./mcp-server.ts";

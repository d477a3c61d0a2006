/** The Model Context Protocol: tools with which an agent reads the API. */
export { MCP_PATH, registerMcp } from "./mcp-route.ts";

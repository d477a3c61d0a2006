/** The Model Context Protocol: tools with which an agent reads the API. */
export { registerMcp } from "./mcp-route.ts";

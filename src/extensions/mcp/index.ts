/** The Model Context Protocol: tools with which an agent reads the API. */
export { mcp } from "./mcp-extension.ts";

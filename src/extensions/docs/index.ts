/** The contracts and the guides, to read in a browser. */
export { createAsyncApi } from "./contracts/asyncapi.ts";
export { createOpenApi } from "./contracts/openapi.ts";
export { docs } from "./docs-extension.ts";
export { DOCUMENTS } from "./site/documents.ts";
export { GUIDES, PROTOCOL_FILE, TEXTS, TUTORIALS } from "./site/guides.ts";
export { operationsIn } from "./site/rest/operations.ts";

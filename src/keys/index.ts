export * from "./edit-key-file.ts";
export * from "./key-file.ts";
export * from "./key-ring.ts";
export * from "./secret.ts";
export * from "./ticket-table.ts";

/** Who may have what: keys, their file, and tickets in their name. */
export * from "./edit-key-file.ts";
export * from "./key-file.ts";
export * from "./key-ring.ts";
export * from "./secret.ts";
export * from "./ticket-table.ts";

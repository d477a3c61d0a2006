export { FollowedFiles } from "./followed-files.ts";
export * from "./key-file.ts";
export * from "./key-ring.ts";
export * from "./key-uses.ts";
export * from "./secret.ts";
export * from "./ticket-table.ts";
export * from "./token-source.ts";
export * from "./token-verifier.ts";

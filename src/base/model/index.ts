/** The API's resources, each as a zod schema and a type of the same name. */
export * from "./candles.ts";
export * from "./chart.ts";
export * from "./explanation.ts";
export * from "./facts.ts";
export * from "./flare.ts";
export * from "./groups.ts";
export * from "./history.ts";
export * from "./key-of.ts";
export * from "./listing.ts";
export * from "./outcome.ts";
export * from "./primitives.ts";
export * from "./snapshot.ts";
export * from "./text/group-suggestion.ts";
export * from "./text/item-name.ts";
export * from "./text/outcome-text.ts";
export * from "./text/why-text.ts";

/** The wire protocol, and the view that a client builds from it. */

export * from "./channels.ts";
export * from "./close-codes.ts";
export * from "./cursor.ts";
export * from "./errors.ts";
export * from "./event.ts";
export * from "./filter.ts";
export * from "./filter-event.ts";
export * from "./marks-text.ts";
export * from "./messages.ts";
export * from "./plans.ts";
export * from "./reconnect.ts";
export * from "./view/candles.ts";
export * from "./view/change.ts";
export * from "./view/lists.ts";
export * from "./view/view.ts";

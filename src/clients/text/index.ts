/** Texts that the terminal and the page share. */
export { fillingText } from "./filling-text.ts";
export { RecentKeys } from "./recent-keys.ts";
export { formatMinutes } from "./span.ts";
export { valuesText } from "./values-text.ts";

/** Tells visitors what they may do, and issues tickets for connections that cannot send a key. */
export { access } from "./access-extension.ts";

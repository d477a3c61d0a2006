import { defineConfig } from "vite";

/**
 * One classic script, whose name never changes: pages of others name it. A module could not be
 * loaded by pages whose origin may not read our answers.
 */
export default defineConfig({
  logLevel: "warn",
  build: {
    outDir: "../../dist/widget",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rolldownOptions: {
      input: new URL("./main.ts", import.meta.url).pathname,
      output: { format: "iife", entryFileNames: "widget.js" },
    },
  },
});

import { defineConfig } from "vite";

/** One classic script of a constant name: a module could not load from other origins. */
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

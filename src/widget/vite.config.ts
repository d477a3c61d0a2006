import { defineConfig, type Plugin } from "vite";

/** Removes the white space of the style sheet, which the minifier takes for text. */
const compactStyle: Plugin = {
  name: "compact-style",
  transform: (code, id) =>
    id.endsWith("/widget/style.ts")
      ? code.replace(/`[^`]*`/, (sheet) => sheet.replace(/\s+/g, " ").replace(/;? ?([;{},]) ?|(:) /g, "$1$2"))
      : undefined,
};

/** One classic script of a constant name: a module could not load from other origins. */
export default defineConfig({
  logLevel: "warn",
  plugins: [compactStyle],
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

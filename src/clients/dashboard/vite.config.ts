import { defineConfig } from "vite";
import { drawIcons } from "./worker/draw-icons.mjs";

/** Built next to the compiled server. Relative addresses work below any base path. */
export default defineConfig({
  base: "./",
  logLevel: "warn",
  plugins: [drawIcons()],
  // Builds in the mode of tests are equal to those that ship: no positions in the source.
  oxc: { jsx: { development: false } },
  build: {
    outDir: "../../../dist/dashboard",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ["index.html", "widgets.html", "permalink.html", "worker/worker.ts"].map(
        (name) => new URL(`./${name}`, import.meta.url).pathname,
      ),
      output: {
        // The worker's address must stay the same.
        entryFileNames: ({ name }) => (name === "worker" ? "[name].js" : "assets/[name]-[hash].js"),
      },
    },
  },
});

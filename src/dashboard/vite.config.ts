import { defineConfig } from "vite";

/** Built next to the compiled server. Relative addresses work below any base path. */
export default defineConfig({
  base: "./",
  logLevel: "warn",
  build: {
    outDir: "../../dist/dashboard",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ["index.html", "widgets.html", "permalink.html"].map(
        (name) => new URL(`./${name}`, import.meta.url).pathname,
      ),
    },
  },
});

import { build, defineConfig, type Plugin } from "vite";
import { drawIcons } from "./worker/draw-icons.mjs";

// Builds in the mode of tests are equal to those that ship: no positions in the source.
const oxc = { jsx: { development: false } } as const;

/** Modules for the chunk that several pages load: not what they load on demand. */
const SHARED =
  /\/src\/(?!.*(?:alerts-panel|\/push|\/bot\/|sheet|\/views\/|\/token\/|token-actions|token-details|(?:state|outcome|locked|source)-text|\/record|\.css))/;

/** Builds what the server loads to render the same pages. */
const renderer = (): Plugin => ({
  name: "renderer",
  closeBundle: async () => {
    await build({
      configFile: false,
      root: import.meta.dirname,
      logLevel: "warn",
      publicDir: false,
      oxc,
      ssr: { noExternal: true },
      build: {
        ssr: "page/render.tsx",
        outDir: "../../../dist/page",
        emptyOutDir: true,
        minify: true,
        target: "node22",
        rolldownOptions: { output: { entryFileNames: "render.js", codeSplitting: false } },
      },
    });
  },
});

/** Built next to the compiled server. Relative addresses work below any base path. */
export default defineConfig({
  base: "./",
  logLevel: "warn",
  plugins: [drawIcons(), renderer()],
  oxc,
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
        // A score of small chunks would compress badly. What loads later is not for everyone.
        codeSplitting: {
          groups: [{ name: "shared", test: SHARED, minShareCount: 2, maxModuleSize: 6_000 }],
        },
        // The worker's address must stay the same.
        entryFileNames: ({ name }) => (name === "worker" ? "[name].js" : "assets/[name]-[hash].js"),
      },
    },
  },
});

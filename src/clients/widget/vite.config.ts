import { build, defineConfig, type Plugin } from "vite";

/** Compacts the style sheets, which the minifier leaves as they are, because they are strings. */
const compactStyle: Plugin = {
  name: "compact-style",
  transform: (code, id) =>
    /\/widget\/(style|strip\/flare-strip)\.ts$/.test(id)
      ? code.replace(/`\n[^`]*`/, (sheet) =>
          sheet.replace(/\s+/g, " ").replace(/;? ?([;{},]) ?|(:) /g, "$1$2"),
        )
      : undefined,
};

/** A classic script with a constant name. A module from another origin would need CORS. */
function script(entry: string, name: string) {
  return {
    outDir: new URL("../../../dist/widget", import.meta.url).pathname,
    target: "es2022",
    modulePreload: false,
    rolldownOptions: {
      input: new URL(entry, import.meta.url).pathname,
      output: { format: "iife", entryFileNames: name },
    },
  } as const;
}

/** Builds the second script, because one build makes only one such file. */
const stripScript: Plugin = {
  name: "strip-script",
  closeBundle: async () => {
    const strip = { ...script("./strip/main.ts", "flare-strip.js"), emptyOutDir: false };
    await build({ configFile: false, logLevel: "warn", plugins: [compactStyle], build: strip });
  },
};

export default defineConfig({
  logLevel: "warn",
  plugins: [compactStyle, stripScript],
  build: { ...script("./main.ts", "widget.js"), emptyOutDir: true },
});

import { build, defineConfig, type Plugin } from "vite";

/** Removes the white space of the style sheet, which the minifier takes for text. */
const compactStyle: Plugin = {
  name: "compact-style",
  transform: (code, id) =>
    /\/widget\/(style|strip\/flare-strip)\.ts$/.test(id)
      ? code.replace(/`\n[^`]*`/, (sheet) =>
          sheet.replace(/\s+/g, " ").replace(/;? ?([;{},]) ?|(:) /g, "$1$2"),
        )
      : undefined,
};

/** A classic script of a constant name: a module could not load from other origins. */
function script(entry: string, name: string) {
  return {
    outDir: new URL("../../dist/widget", import.meta.url).pathname,
    target: "es2022",
    modulePreload: false,
    rolldownOptions: {
      input: new URL(entry, import.meta.url).pathname,
      output: { format: "iife", entryFileNames: name },
    },
  } as const;
}

/** Builds the second script: one build makes one such file. */
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

import { dirname, join, relative } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { minify } from "rolldown/utils";

interface BundleOptions {
  readonly src: string;
  readonly dist: string;
  /** Packages that are imported at run time. All others become part of the bundle. */
  readonly external: readonly string[];
}

/**
 * Writes JavaScript for these modules of `src` to the same paths in `dist`, with shared parts in
 * `dist/chunks`. Returns the folders of the packages that it contains code of.
 */
export async function bundle(
  entries: readonly string[],
  { src, dist, external }: BundleOptions,
): Promise<readonly string[]> {
  await using build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)])),
    platform: "node",
    external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [moduleAddresses(src), shortenPackages],
  });
  const { output } = await build.write({
    dir: dist,
    chunkFileNames: "chunks/[name]-[hash].js",
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
  const folders = modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** Minifies chunks that have code of packages only. Our own code stays readable in stack traces. */
const shortenPackages: Plugin = {
  name: "shorten-packages",
  renderChunk: async (code, { fileName, moduleIds }) => {
    if (!moduleIds.every((id) => id.includes("/node_modules/"))) return undefined;
    return (await minify(fileName, code)).code;
  },
};

/** Modules look for files beside the place that they would have without bundling. */
function moduleAddresses(src: string): Plugin {
  return {
    name: "module-addresses",
    transform: (code, id) => {
      if (!id.startsWith(src) || !code.includes("import.meta.url")) return undefined;
      const path = relative(src, id).replace(/\.ts$/, ".js");
      return code.replaceAll("import.meta.url", JSON.stringify(`module:${path}`));
    },
    renderChunk: (code, { fileName }) =>
      code.replace(/"module:([\w/.-]+)"/g, (_, path: string) => {
        const target = relative(dirname(fileName), path);
        return `new URL(${JSON.stringify(target)}, import.meta.url).href`;
      }),
  };
}

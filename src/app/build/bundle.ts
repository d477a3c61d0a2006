import { writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { minify } from "rolldown/utils";

/** Dependencies of a clone that are part of the packed code, where they take less space. */
export const PACKED_INSIDE: readonly string[] = ["jose", "uuid"];

interface BundleOptions {
  readonly src: string;
  readonly dist: string;
  /** Packages that are imported at run time. All others become part of the bundle. */
  readonly external: readonly string[];
}

/**
 * Writes JavaScript for these modules of `src` to the same paths in `dist`, with shared parts in
 * `dist/chunks`. Returns the folders of the packages that were bundled.
 */
export async function bundle(
  entries: readonly string[],
  { src, dist, external }: BundleOptions,
): Promise<readonly string[]> {
  await using build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)])),
    platform: "node",
    external: external.map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [moduleAddresses(src), lightenPackages],
  });
  const { output } = await build.write({
    dir: dist,
    chunkFileNames: "chunks/[name]-[hash].js",
    // A chunk without our code is minified below.
    codeSplitting: {
      groups: [
        { name: "ioredis", test: /node_modules\/ioredis\// },
        { name: "ox", test: /node_modules\/(?:ox|abitype)\// },
      ],
    },
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  // Our own code stays readable in stack traces. A plugin cannot minify only some chunks, because
  // rolldown prints the code after it.
  for (const part of output)
    if (part.type === "chunk" && part.moduleIds.every((id) => /\/node_modules\/|^\0/.test(id)))
      writeFileSync(join(dist, part.fileName), (await minify(part.fileName, part.code)).code);
  const modules = output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
  const folders = modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/**
 * Packages that the MQTT library loads for browsers and for proxies, which this program never uses.
 */
const UNUSED = ["socks", "worker-timers"];

/**
 * Empties {@link UNUSED}, and uses Node's streams instead of a copy for browsers. Together they are
 * two thirds of the MQTT library's code.
 */
const lightenPackages: Plugin = {
  name: "lighten-packages",
  resolveId: (name) => {
    if (name === "readable-stream") return { id: "node:stream", external: true };
    return UNUSED.includes(name) ? `\0unused:${name}` : undefined;
  },
  load: (id) => (id.startsWith("\0unused:") ? "export {};" : undefined),
};

/** Keeps `import.meta.url` as it would be without bundling, because modules find files by it. */
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

import { ENGINES } from "../base/lib/version.ts";

/** Returns why this Node is unsupported, if so. Call it before importing what it cannot parse. */
export function nodeVersionProblem(version: string = process.versions.node): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = ENGINES.node.replace(">=", "").split(".").map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `flarewire needs Node ${ENGINES.node}, and this is ${version}: update Node`;
}

import type { Finding } from "./run-probe.ts";
import { plainText } from "./terminal/plain-text.ts";
import type { Paint } from "./terminal/terminal.ts";

export function findingLine(finding: Finding, paint: Paint): string {
  const { service, what, tookMs, detail } = finding;
  const columns = `${plainText(service, 60).padEnd(12)} ${what.padEnd(8)} ${String(tookMs).padStart(6)} ms`;
  return `${markOf(finding, paint)}  ${columns}  ${plainText(detail, 200)}`;
}

/** Formats the failures. Checks that fail equally share one sentence, with their names. */
export function failureLines(found: readonly Finding[], paint: Paint): readonly string[] {
  const failures = found.filter(({ works }) => !works);
  const groups = Map.groupBy(failures, ({ isNeeded, detail }) => `${isNeeded} ${detail}`);
  return [...groups.values()].map((group) => {
    const [first, ...others] = group;
    if (!first) return "";
    if (others.length === 0) return findingLine(first, paint);
    const services = new Set(group.map(({ service }) => plainText(service, 60)));
    const isOne = services.size === 1;
    // A failure's detail continues a sentence that starts with the service.
    const sentence = `${isOne ? [...services] : `each of ${services.size} services`} ${plainText(first.detail, 200)}`;
    const names = isOne ? `: ${group.map(({ what }) => what).join(", ")}` : ` of ${[...services].join(", ")}`;
    return `${markOf(first, paint)}  ${sentence} (${group.length} checks${names})`;
  });
}

export function countLine(found: readonly Finding[]): string {
  const services = new Set(found.map(({ service }) => service)).size;
  const works = found.filter((finding) => finding.works).length;
  const fails = found.filter((finding) => !finding.works && finding.isNeeded).length;
  const optional = found.length - works - fails;
  const others = optional === 1 ? ", 1 optional check fails" : `, ${optional} optional checks fail`;
  const counts = `${works} work, ${fails} fail${optional === 0 ? "" : others}`;
  const made = `${found.length} checks of ${services} ${services === 1 ? "service" : "services"}`;
  return `${made}: ${works === found.length ? "all work" : counts}`;
}

function markOf({ works, isNeeded }: Finding, paint: Paint): string {
  if (works) return paint("green", "works");
  return isNeeded ? paint("red", "fails") : "fails (optional)";
}

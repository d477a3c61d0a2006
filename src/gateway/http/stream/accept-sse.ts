/** True if `Accept` names server-sent events and does not prefer JSON. Ignores wildcards. */
export function asksForSse(field: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const member of (field ?? "").split(",")) {
    const [type = "", ...parameters] = member.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(type, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  const sse = weights.get("text/event-stream") ?? 0;
  return sse > 0 && sse >= (weights.get("application/json") ?? 0);
}

/**
 * True when an `Accept` field asks for server-sent events by name, and for JSON not more than for them. Wildcards ask for JSON:
 * a program that takes anything would not know what to do with a stream.
 */
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

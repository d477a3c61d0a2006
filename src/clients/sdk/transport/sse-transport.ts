import type { TransportContext } from "./attempt.ts";
import { closed, type End, ended } from "./end.ts";
import type { TransportMessage } from "./transport.ts";

/** Reads server-sent events by fetch: EventSource can neither send a key nor read a refusal. */
export async function runSse({ request, deliver }: TransportContext, url: string): Promise<End> {
  const { body } = await request(url, [200], { accept: "text/event-stream" });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const read = await reader?.read();
    if (!read || read.done) return ended("fallback", "cut off");
    const lines = (rest + read.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      // The server writes each message as one data line, which includes its type and cursor.
      if (!line.startsWith("data:")) continue;
      const message: TransportMessage = JSON.parse(line.slice(5));
      if (message.type === "close") return closed(message.code, message.reason);
      deliver(message);
    }
  }
}

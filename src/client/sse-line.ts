import { closeAction } from "../protocol/close-codes.ts";
import { type End, ended } from "./end.ts";
import type { HttpLine } from "./http-line.ts";
import type { LineMessage } from "./line.ts";

/** Reads server-sent events until they end. Unlike EventSource it sees a refusal's reason, and can send a key in a header field. */
export async function runSse({ get, tell }: HttpLine, url: string): Promise<End> {
  const { body } = await get(url, "text/event-stream", 200);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const read = await reader?.read().catch(() => undefined);
    if (!read || read.done) return ended("cut", "cut off");
    const lines = (rest + read.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      // The server writes each message on one line; what it is stands in it, and its place too.
      if (!line.startsWith("data:")) continue;
      const message: LineMessage = JSON.parse(line.slice(5));
      if (message.type === "close") return ended(closeAction(message.code), `close code ${message.code}`);
      tell(message);
    }
  }
}

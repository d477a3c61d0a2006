import { once } from "node:events";
import { type Agent, request } from "node:http";
import { json } from "node:stream/consumers";

/** Posts JSON; resolves with that of the response. `fetch` takes twice the CPU time. */
export async function post<T>(url: string, body: string, agent: Agent): Promise<T> {
  const headers = { "content-type": "application/json" };
  const asked = request(url, { method: "POST", headers, agent });
  // One after the response began fails its reading too.
  asked.on("error", () => {}).end(body);
  const [response] = await once(asked, "response");
  return (await json(response)) as T;
}

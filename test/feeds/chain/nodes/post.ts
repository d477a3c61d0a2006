import { once } from "node:events";
import { type Agent, request } from "node:http";
import { json } from "node:stream/consumers";

/** Posts JSON and resolves with the response's JSON. `fetch` would take twice the CPU time. */
export async function post<T>(url: string, body: string, agent: Agent): Promise<T> {
  const headers = { "content-type": "application/json" };
  const outgoing = request(url, { method: "POST", headers, agent });
  // An error after the start of the response also makes reading it fail.
  outgoing.on("error", () => {}).end(body);
  const [response] = await once(outgoing, "response");
  return (await json(response)) as T;
}

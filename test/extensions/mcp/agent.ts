import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";

/** The protocol of 2025, which has a handshake, and the stateless protocol of 2026. */
export const ERAS = ["legacy", "2026-07-28"] as const;
export type Era = (typeof ERAS)[number];

/** The program as bundled for the tests, or its sources. */
export const PROGRAM = process.env.BUNDLED_PROGRAM ?? "src/main.ts";

const Answer = z.object({
  content: z.tuple([z.object({ type: z.literal("text"), text: z.string() })]),
  isError: z.boolean().optional(),
});

/** An agent that uses the official client. */
export class Agent implements AsyncDisposable {
  readonly client: Client;

  private constructor(era: Era) {
    const mode = era === "legacy" ? era : { pin: era };
    this.client = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode } });
  }

  static async overHttp(era: Era, url: string, key?: string): Promise<Agent> {
    const agent = new Agent(era);
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } });
    await agent.client.connect(transport);
    return agent;
  }

  /** Starts `flarewire mcp URL`, and connects an agent to it. */
  static async overStdio(era: Era, url: string): Promise<Agent & { readonly pid: number }> {
    const agent = new Agent(era);
    const transport = new StdioClientTransport({ command: process.execPath, args: [PROGRAM, "mcp", url] });
    await agent.client.connect(transport);
    return Object.assign(agent, { pid: transport.pid ?? 0 });
  }

  /** Calls a tool and returns its parsed result. Throws if the tool reports an error. */
  async call<T>(name: string, given: object, schema: z.ZodType<T>): Promise<T> {
    const { text, isError } = await this.ask(name, given);
    if (isError) throw new Error(text);
    return schema.parse(JSON.parse(text));
  }

  async ask(name: string, given: object): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = Answer.parse(
      await this.client.callTool({ name, arguments: { ...given } }),
    );
    return { text: content[0].text, isError };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

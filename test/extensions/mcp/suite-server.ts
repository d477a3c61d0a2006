import {
  acceptedContent,
  type ContentBlock,
  fromJsonSchema,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { RequestApi } from "../../../src/extensions/mcp/market-api.ts";
import { createMcpServer as createFlarewireServer } from "../../../src/extensions/mcp/mcp-server.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;
const text = (words: string) => ({ type: "text", text: words }) as const;
const resource = (uri: string) =>
  ({ type: "resource", resource: { uri, mimeType: "text/plain", text: "embedded" } }) as const;

/** Creates Flarewire's server with the tools, prompts and resources that the suite calls. */
export function createMcpServer(request: RequestApi): McpServer {
  const server = createFlarewireServer(request);
  const unchanging = { listChanged: false };
  server.server.registerCapabilities({
    logging: {},
    completions: {},
    prompts: unchanging,
    resources: unchanging,
  });
  addTools(server);
  addInputTools(server);
  addPrompts(server);
  addResources(server);
  return server;
}

function addTools(server: McpServer): void {
  const add = (name: string, run: (context: ServerContext) => Promise<ContentBlock>) =>
    server.registerTool(name, { description: name, inputSchema: z.object({}) }, async (_given, context) => ({
      content: [await run(context)],
    }));
  const contents: Record<string, ContentBlock[]> = {
    test_simple_text: [text("simple")],
    test_image_content: [IMAGE],
    test_audio_content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
    test_embedded_resource: [resource("test://embedded")],
    test_multiple_content_types: [text("several"), IMAGE, resource("test://mixed")],
    test_streaming_elicitation: [text("no request of its own")],
  };
  for (const [name, content] of Object.entries(contents))
    server.registerTool(name, { description: name }, async () => ({ content }));
  add("test_error_handling", () => Promise.reject(new Error("intended")));
  add("test_logging_tool", async ({ mcpReq }) => {
    await mcpReq.log("info", "only for a request with a log level");
    return text("logged");
  });
  add("test_tool_with_logging", async ({ mcpReq }) => {
    for (const data of ["started", "working", "completed"])
      await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
    return text("logged");
  });
  add("test_tool_with_progress", async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 100 },
      });
    return text("done");
  });
  const schemas: Record<string, Record<string, unknown>> = {
    test_x_mcp_header: { properties: { region: { type: "string", "x-mcp-header": "Region" } } },
    json_schema_2020_12_tool: JSON_SCHEMA_2020_12,
  };
  for (const [name, schema] of Object.entries(schemas))
    server.registerTool(
      name,
      { description: name, inputSchema: fromJsonSchema({ type: "object", ...schema }) },
      async () => ({ content: [text("called")] }),
    );
}

/** A schema whose keywords a server must list unchanged. */
const JSON_SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const elicit = (name: string) =>
  inputRequired.elicit({
    message: name,
    requestedSchema: { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
  });
const sample = inputRequired.createMessage({
  messages: [{ role: "user", content: text("?") }],
  maxTokens: 9,
});
const listRoots = inputRequired.listRoots();

/** Adds tools of the protocol of 2026 that ask the client for input, in one or more rounds. */
function addInputTools(server: McpServer): void {
  const name = { user_name: elicit("name") };
  const tools: Record<string, readonly InputRequests[]> = {
    elicitation: [name],
    sampling: [{ capital_question: sample }],
    list_roots: [{ client_roots: listRoots }],
    request_state: [{ confirm: elicit("ok") }],
    multiple_inputs: [{ ...name, greeting: sample, client_roots: listRoots }],
    multi_round: [{ step1: elicit("name") }, { step2: elicit("color") }],
  };
  const inputSchema = z.object({});
  for (const [kind, rounds] of Object.entries(tools)) {
    const tool = `test_input_required_result_${kind}`;
    server.registerTool(tool, { description: tool, inputSchema }, async (_given, context) => {
      return nextRound(rounds, context) ?? { content: [text("state-ok")] };
    });
  }
  const capable = "test_input_required_result_capabilities";
  server.registerTool(capable, { description: capable, inputSchema }, async () => {
    const { elicitation, sampling } = server.server.getClientCapabilities() ?? {};
    return inputRequired({
      inputRequests: { ...(elicitation && name), ...(sampling && { greeting: sample }) },
    });
  });
  const incapable = "test_missing_capability";
  server.registerTool(incapable, { description: incapable, inputSchema }, async () =>
    inputRequired({ inputRequests: { greeting: sample } }),
  );
}

/** Returns a tool's next request for input; `undefined` once the last round is answered. */
function nextRound(
  rounds: readonly InputRequests[],
  { mcpReq }: ServerContext,
): InputRequiredResult | undefined {
  const round = Number(mcpReq.requestState() ?? 0);
  const asked = rounds[round] ?? {};
  const isAnswered = Object.entries(asked).every(([key, { method }]) =>
    method === "elicitation/create"
      ? acceptedContent(mcpReq.inputResponses, key) !== undefined
      : mcpReq.inputResponses?.[key] !== undefined,
  );
  const next = isAnswered ? round + 1 : round;
  const inputRequests = rounds[next];
  return inputRequests && inputRequired({ inputRequests, requestState: String(next) });
}

function addPrompts(server: McpServer): void {
  const message = (content: ContentBlock) => ({ messages: [{ role: "user" as const, content }] });
  server.registerPrompt("test_simple_prompt", { description: "simple" }, () => message(text("simple")));
  server.registerPrompt("test_prompt_with_image", { description: "image" }, () => message(IMAGE));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "arguments", argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => message(text(`${arg1} ${arg2}`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => message(resource(resourceUri)),
  );
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "asks", argsSchema: z.object({}) },
    (_given, context) =>
      nextRound([{ user_context: elicit("context") }], context) ?? message(text("answered")),
  );
  server.server.setRequestHandler("completion/complete", () => ({ completion: { values: [] } }));
}

function addResources(server: McpServer): void {
  const read = (mimeType: string, content: { text: string } | { blob: string }) => async (uri: URL) => ({
    contents: [{ uri: uri.href, mimeType, ...content }],
  });
  const [plain, image] = ["text/plain", "image/png"];
  server.registerResource("text", "test://static-text", {}, read(plain, { text: "static" }));
  server.registerResource("binary", "test://static-binary", {}, read(image, { blob: PNG }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, {}, (uri, { id }) => read(plain, { text: `${id}` })(uri));
}

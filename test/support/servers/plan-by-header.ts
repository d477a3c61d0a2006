import type { AccessPolicy } from "../../../src/gateway/http/index.ts";

/** An access policy that reads the plan from the `Authorization` header. */
export const planByHeader: AccessPolicy = {
  isKeyed: true,
  anonymous: undefined,
  verify: () => undefined,
  keyIdOf: () => undefined,
  keyIdIn: () => undefined,
  useOf: () => undefined,
  holderOf: () => undefined,
  isAdmitted: () => true,
  admit: ({ headers }) => ({ plan: headers.authorization === "pro" ? "pro" : "free" }),
  admitStream: async (request, reply) => planByHeader.admit(request, reply),
  issueTicket: async () => ({ text: "", expiresAtMs: 0 }),
};

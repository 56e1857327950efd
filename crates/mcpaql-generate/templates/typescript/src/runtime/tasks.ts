// Work in the background, as MCP's tasks extension shows it to clients that know it.
//
// A task has the id of its execution, so that the same work can be asked after either way.

import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import type { Task } from "./executions/view.js";
import type { Served } from "./pipeline.js";
import { type Reply, resultOf } from "./response.js";
import { type JsonObject, isObject, own } from "./values.js";

/** The extension's name among capabilities. */
export const TASKS = "io.modelcontextprotocol/tasks";

/** Whatever the params are: what is wrong with them is said here. */
const ANY: StandardSchemaV1<JsonObject> = {
  "~standard": { version: 1, vendor: "mcpaql", validate: (value) => ({ value: isObject(value) ? value : {} }) },
};

/** Answers the methods of the extension. */
// eslint-disable-next-line @typescript-eslint/no-deprecated
export function serveTasks(server: Server, served: Served): void {
  server.setRequestHandler("tasks/get", { params: ANY }, async ({ taskId }) => {
    const { seed, reply } = found(await served.task(idOf("tasks/get", taskId)));
    return { resultType: "complete", ...seed, ...(reply === undefined ? {} : { result: resultOf(reply) }) };
  });
  server.setRequestHandler("tasks/cancel", { params: ANY }, async ({ taskId }) => {
    found(await served.cancelTask(idOf("tasks/cancel", taskId)));
    return { resultType: "complete" };
  });
}

/** What a client is answered with; of work that goes on, a task where the client knows what that is. */
export async function answered(
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  server: Server,
  served: Served,
  reply: Reply,
  { mcpReq }: ServerContext,
): Promise<Record<string, unknown>> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const capabilities = own(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities() ?? {};
  const extensions = own(capabilities, "extensions");
  const knows = isObject(extensions) && own(extensions, TASKS) !== undefined;
  const task = knows && reply.execution !== undefined ? await served.task(reply.execution) : undefined;
  return task === undefined ? resultOf(reply) : { resultType: "task", ...task.seed };
}

function idOf(method: string, id: unknown): string {
  if (typeof id === "string") return id;
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, method);
}

function found(task: Task | undefined): Task {
  if (task !== undefined) return task;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task; it may have expired.");
}

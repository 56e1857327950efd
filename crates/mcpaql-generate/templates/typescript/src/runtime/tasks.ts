// Work in the background, as MCP's tasks extension shows it to clients that know it.
//
// A task has the id of its execution, so that the same work can be asked after either way.

import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
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
const TASKS = "io.modelcontextprotocol/tasks";

/** What both sides declare. */
export const CAPABILITY = { extensions: { [TASKS]: {} } };

/** Whatever the params are: what is wrong with them is said here. */
const ANY: StandardSchemaV1<JsonObject> = {
  "~standard": { version: 1, vendor: "mcpaql", validate: (value) => ({ value: isObject(value) ? value : {} }) },
};

/** Answers the methods of the extension. */
// eslint-disable-next-line @typescript-eslint/no-deprecated
export function serveTasks(server: Server, served: Served): void {
  const idOf = ({ taskId }: JsonObject, context: ServerContext): string => {
    if (typeof taskId !== "string") throw new ProtocolError(ProtocolErrorCode.MethodNotFound, context.mcpReq.method);
    if (knowsTasks(server, context)) return taskId;
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: CAPABILITY }, "Missing required client capability");
  };
  server.setRequestHandler("tasks/get", { params: ANY }, async (params, context) => {
    const { seed, reply } = found(await served.task(idOf(params, context)));
    const result = reply === undefined ? {} : { result: { resultType: "complete", ...resultOf(reply) } };
    return { resultType: "complete", ...seed, ...result };
  });
  server.setRequestHandler("tasks/cancel", { params: ANY }, async (params, context) => {
    found(await served.cancelTask(idOf(params, context)));
    return { resultType: "complete" };
  });
}

/** What a client is answered with; of work that goes on, a task where the client knows what that is. */
export async function answered(
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  server: Server,
  served: Served,
  reply: Reply,
  context: ServerContext,
): Promise<Record<string, unknown>> {
  const { execution } = reply;
  const task = execution !== undefined && knowsTasks(server, context) ? await served.task(execution) : undefined;
  return task === undefined ? resultOf(reply) : { resultType: "task", ...task.seed };
}

// eslint-disable-next-line @typescript-eslint/no-deprecated
function knowsTasks(server: Server, { mcpReq }: ServerContext): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const capabilities = own(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities() ?? {};
  const extensions = own(capabilities, "extensions");
  return isObject(extensions) && own(extensions, TASKS) !== undefined;
}

function found(task: Task | undefined): Task {
  if (task !== undefined) return task;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task; it may have expired.");
}

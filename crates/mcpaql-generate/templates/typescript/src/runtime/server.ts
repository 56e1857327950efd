// The MCP server: serves the tools of the catalog and your own over stdio or Streamable HTTP.

import { once } from "node:events";
import { type RequestListener, createServer } from "node:http";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { toNodeHandler } from "@modelcontextprotocol/node";
import * as mcp from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { Adapter, type Project } from "./call.js";
import { Catalog } from "./catalog.js";
import { type JsonObject, isObject, stringify, tryParse } from "./json.js";

/** Serves on stdio until the client disconnects, or over HTTP on the loopback interface with `--http PORT`. */
export function main(project: Project): void {
  try {
    const { values } = parseArgs({ options: { http: { type: "string" } } });
    const adapter = new Adapter(Catalog.own(), project);
    if (values.http === undefined) serveStdio(() => mcpServer(adapter), { transport: new StdioTransport() });
    else serveHttp(adapter, Number(values.http));
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}

/** The low-level server of the SDK: the catalog has the tools already, and `validate` checks their arguments. */
export function mcpServer(adapter: Adapter) {
  const { adapter: own, instructions, routes } = adapter.catalog.data;
  const info = { name: own.name, title: own.display_name, version: own.version };
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const server = new mcp.Server(info, { capabilities: { tools: {} }, instructions });
  const listed = adapter.project.tools.map((tool) => JSON.parse(JSON.stringify(tool)) as JsonObject);
  server.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
    if (method === "tools/list") return { tools: [...adapter.catalog.tools, ...listed] };
    if (method !== "tools/call") throw new mcp.ProtocolError(mcp.ProtocolErrorCode.MethodNotFound, method);
    const [name, args] = [params?.["name"], params?.["arguments"] ?? {}];
    const known = [...Object.keys(routes), ...listed.map((tool) => tool["name"])];
    if (typeof name !== "string" || !known.includes(name) || !isObject(args)) {
      throw new mcp.ProtocolError(mcp.ProtocolErrorCode.InvalidParams, "Unknown tool, or arguments of the wrong type.");
    }
    const { text, isError, block } = await adapter.call(name, args, mcpReq.signal);
    return { content: [{ type: "text", text }, block ?? []].flat(), isError };
  };
  return server;
}

function serveHttp(adapter: Adapter, port: number): void {
  const { fetch, ...handler } = mcp.createMcpHandler(() => mcpServer(adapter));
  const guarded = async (request: Request): Promise<Response> => {
    const host = mcp.hostHeaderValidationResponse(request, mcp.localhostAllowedHostnames());
    const origin = mcp.originValidationResponse(request, mcp.localhostAllowedOrigins());
    return host ?? origin ?? (await fetch(request, { parsedBody: tryParse(await request.clone().text()) }));
  };
  createServer(toNodeHandler({ ...handler, fetch: guarded }) as RequestListener).listen(port, "127.0.0.1", () => {
    process.stderr.write(`serving ${adapter.catalog.data.adapter.name} on http://127.0.0.1:${port}/mcp\n`);
  });
}

/** The stdio transport of the SDK, with JSON that keeps large integers exact. */
class StdioTransport extends StdioServerTransport {
  override start(): Promise<void> {
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on("line", (line) => {
      if (line.trim() === "") return;
      const message = tryParse(line);
      if (isObject(message) && message["jsonrpc"] === "2.0") this.onmessage?.(message as unknown as mcp.JSONRPCMessage);
      else process.stdout.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n`);
    });
    lines.on("close", () => void this.close());
    return Promise.resolve();
  }

  override async send(message: mcp.JSONRPCMessage): Promise<void> {
    if (!process.stdout.write(`${stringify(message)}\n`)) await once(process.stdout, "drain");
  }
}

// The first generation of the official TypeScript SDK, which most current clients use.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { finish, overHttp, overStdio, stdioServer } from './checks.mjs';

async function connect(transport) {
  const client = new Client({ name: 'peer', version: '0' });
  await client.connect(transport);
  return {
    listTools: () => client.listTools(),
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    close: () => client.close(),
  };
}

await overStdio('TypeScript SDK v1', (data) => connect(new StdioClientTransport(stdioServer(data))));
await overHttp('TypeScript SDK v1', (url) => connect(new StreamableHTTPClientTransport(new URL(url))));
finish();

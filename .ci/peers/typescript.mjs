// The official TypeScript SDK, in both eras of the protocol.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { finish, overHttp, overStdio, stdioServer } from './checks.mjs';

async function connect(transport, mode) {
  const client = new Client({ name: 'peer', version: '0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    listTools: () => client.listTools(),
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    close: () => client.close(),
  };
}

for (const [label, mode] of [['2025-11-25', 'legacy'], ['2026-07-28', { pin: '2026-07-28' }], ['auto', 'auto']]) {
  await overStdio(`TypeScript SDK, ${label}`, (data) => connect(new StdioClientTransport(stdioServer(data)), mode));
  await overHttp(`TypeScript SDK, ${label}`, (url) => connect(new StreamableHTTPClientTransport(new URL(url)), mode));
}
finish();

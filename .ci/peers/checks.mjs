// Checks that all JavaScript clients share.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const binary = process.env.MCPAQL;
const slow = process.env.SLOW_ADAPTER;
let passed = 0;
let failed = 0;

async function check(name, body) {
  try {
    await body();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`  FAILED ${name}: ${error?.stack ?? error}`);
  }
}

export function finish() {
  console.log(`  ${passed} passed, ${failed} failed`);
  process.exit(failed || !passed ? 1 : 0);
}

/** Parameters to start the server over stdio, with its own data folder. */
export function stdioServer(data) {
  return { command: binary, args: ['serve', 'notebook', slow, '--data', data], stderr: 'ignore' };
}

async function httpServer(data) {
  const args = ['serve', 'notebook', slow, '--data', data, '--http', '127.0.0.1:0'];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk;
      const found = said.match(/http:\/\/[^\s]+\/mcp/);
      if (found) resolve(found[0]);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  return { url, stop: () => child.kill() };
}

/** Runs all checks on a client; `connect` gets either a data folder or a URL. */
export async function overStdio(label, connect) {
  const data = mkdtempSync(join(tmpdir(), 'mcpaql-'));
  await everything(`${label} over stdio`, () => connect(data), data);
  rmSync(data, { recursive: true });
}

export async function overHttp(label, connect) {
  const data = mkdtempSync(join(tmpdir(), 'mcpaql-'));
  const server = await httpServer(data);
  await everything(`${label} over HTTP`, () => connect(server.url), data);
  server.stop();
  rmSync(data, { recursive: true });
}

/** `client` is `{ listTools, call(tool, arguments, { onprogress, signal }), close }`. */
async function everything(label, connect, data) {
  console.log(`${label}`);
  const client = await connect();
  const call = async (tool, operation, params, options) => {
    const result = await client.call(tool, { operation, params }, options);
    assert.equal(result.content.length, 1);
    return { envelope: JSON.parse(result.content[0].text), isError: result.isError };
  };

  await check('tools are listed with titles and all hints', async () => {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    const families = ['create', 'read', 'update', 'delete'].map((family) => `notebook_mcpaql_${family}`);
    assert.deepEqual(names, [...families, 'slow_mcpaql_read', 'slow_mcpaql_execute']);
    for (const tool of tools) {
      assert.equal(tool.title, tool.annotations.title);
      for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
        assert.equal(typeof tool.annotations[hint], 'boolean', `${tool.name} ${hint}`);
      }
    }
  });

  await check('what is created can be read', async () => {
    const made = await call('notebook_mcpaql_create', 'create_note', { title: 'Tee ☕' });
    assert.equal(made.isError, false);
    const read = await call('notebook_mcpaql_read', 'get_note', { id: made.envelope.data.id });
    assert.deepEqual(read.envelope, made.envelope);
  });

  await check('an invalid call is explained, and isError is false', async () => {
    const { envelope, isError } = await call('notebook_mcpaql_create', 'create_note', {});
    assert.equal(envelope.error.code, 'VALIDATION_MISSING_PARAM');
    assert.equal(isError, false);
    assert.match(envelope.error.details.signature, /^create_note\(title: string/);
  });

  await check('an unknown tool is an invalid-params error', async () => {
    await assert.rejects(call('notebook_nope', 'x', {}), (error) => error.code === -32602);
  });

  await check('a long call reports progress', async () => {
    const reports = [];
    const options = { onprogress: (progress) => reports.push(progress) };
    const { envelope } = await call('slow_mcpaql_execute', 'wait', { file: join(data, 'a'), seconds: 3 }, options);
    assert.equal(envelope.success, true);
    assert.ok(reports.length >= 2, `${reports.length} notifications`);
    assert.ok(reports.every((each, index) => index === 0 || each.progress > reports[index - 1].progress));
  });

  await check('a cancelled call ends its program', async () => {
    const file = join(data, 'b');
    const abort = new AbortController();
    const running = call('slow_mcpaql_execute', 'wait', { file, seconds: 60 }, { signal: abort.signal });
    const rejected = assert.rejects(running);
    await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
    abort.abort();
    await rejected;
    await until(() => !alive(Number(readFileSync(file, 'utf8'))));
    const { envelope } = await call('notebook_mcpaql_read', 'list_notes', {});
    assert.equal(envelope.data.items.length, 1);
  });

  await client.close();
}

function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(condition) {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('timed out');
}

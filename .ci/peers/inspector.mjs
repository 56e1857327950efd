// The official Inspector's command line, which lints what a server lists.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const data = mkdtempSync(join(tmpdir(), 'mcpaql-'));
const inspector = join(import.meta.dirname, 'node_modules/.bin/mcp-inspector');
let passed = 0;

function inspect(mode, era, ...args) {
  const server = [process.env.MCPAQL, 'serve', 'notebook', process.env.SLOW_ADAPTER, '--data', data, '--mode', mode];
  const argv = [inspector, '--cli', ...server, '--protocol-era', era, ...args];
  const ran = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /serving/, 'another server was started');
  return { result: JSON.parse(ran.stdout), findings: ran.stderr.match(/^\d+ errors?, \d+ warnings?.*$/m)?.[0] };
}

console.log('Inspector');
for (const era of ['legacy', 'modern']) {
  for (const mode of ['semantic', 'single', 'all', 'discrete']) {
    const { result, findings } = inspect(mode, era, '--method', 'tools/list', '--strict');
    assert.ok(result.tools.length > 0 && result.tools.every((tool) => tool.title && tool.annotations), mode);
    if (findings) console.log(`  ${era} ${mode}: ${findings}`);
    assert.match(findings ?? '0 errors', /^0 errors/);
    passed += 1;
  }
  const argument = JSON.stringify({ operation: 'create_note', params: { title: 'Inspected' } });
  const call = ['--method', 'tools/call', '--tool-name', 'notebook_mcpaql_create', '--tool-args-json'];
  const made = inspect('semantic', era, ...call, argument).result;
  assert.equal(JSON.parse(made.content[0].text).data.title, 'Inspected');
  passed += 1;
  const refused = inspect('semantic', era, ...call, JSON.stringify({ operation: 'create_note', params: {} })).result;
  assert.equal(JSON.parse(refused.content[0].text).error.code, 'VALIDATION_MISSING_PARAM');
  passed += 1;
}
rmSync(data, { recursive: true });
console.log(`  ${passed} passed, 0 failed`);

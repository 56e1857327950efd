// Compares the failures of a run of the conformance suite with the expected ones: OUT EXPECTED-FILE [OUT-OF-A-DIRECT-RUN].
import { readdirSync, readFileSync } from 'node:fs';
const [out, expectedFile, direct] = process.argv.slice(2);
const nameOf = (folder) => folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
const checksOf = (out, folder) => JSON.parse(readFileSync(`${out}/${folder}/checks.json`, 'utf8'));

// What fails without the gateway is not the gateway's failure.
const failsDirectly = new Set();
for (const folder of direct ? readdirSync(direct) : []) {
  for (const check of checksOf(direct, folder)) if (check.status === 'FAILURE') failsDirectly.add(`${nameOf(folder)}/${check.id}`);
}

const expected = new Map();
for (const line of readFileSync(expectedFile, 'utf8').split('\n')) {
  const [, name, reason] = line.match(/^([^\s#]\S*)\s+#\s*(\S.*)$/) ?? [];
  if (name) expected.set(name, false);
  else if (line.trim() && !line.startsWith('#')) throw new Error(`${expectedFile}: no reason in '${line}'`);
}
const counts = {};
let unexpected = 0;
for (const folder of readdirSync(out)) {
  const scenario = nameOf(folder);
  for (const check of checksOf(out, folder)) {
    if (failsDirectly.has(`${scenario}/${check.id}`)) continue;
    counts[check.status] = (counts[check.status] ?? 0) + 1;
    if (check.status !== 'FAILURE') continue;
    const name = [`${scenario}/${check.id}`, scenario].find((name) => expected.has(name));
    if (name) expected.set(name, true);
    else {
      unexpected += 1;
      console.log(`  unexpected failure: ${scenario}/${check.id}: ${check.errorMessage ?? ''}`);
    }
  }
}
const stale = [...expected].filter(([, seen]) => !seen).map(([name]) => name);
for (const name of stale) console.log(`  no longer fails; remove it from ${expectedFile}: ${name}`);
const of = (status) => counts[status] ?? 0;
console.log(`  checks: ${of('SUCCESS')} passed, ${of('FAILURE')} failed (${unexpected} unexpected), ${of('WARNING')} warnings`);
process.exit(unexpected || stale.length || !of('SUCCESS') ? 1 : 0);

// From a question to a call: an MCP client searches for ten operations of GitHub's API, reads their signatures and calls them. Prints the tokens
// (o200k) of each step. If the first hit is wrong, the next one is tried, and its tokens count too.
//
//   walk.mjs MCPAQL DOCUMENT

import { readFileSync, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const [binary, description] = process.argv.slice(2);
const repo = { owner: "ada", repo: "engine" };
const walks = [
    ["open a new issue", { ...repo, title: "It is stuck", labels: ["bug"] }, "POST /repos/ada/engine/issues", { title: "It is stuck", labels: ["bug"] }],
    ["list the pull requests of a repository", { ...repo, state: "closed" }, "GET /repos/ada/engine/pulls?state=closed"],
    ["merge a pull request", { ...repo, pull_number: 7, merge_method: "squash" }, "PUT /repos/ada/engine/pulls/7/merge", { merge_method: "squash" }],
    ["star a repository", repo, "PUT /user/starred/ada/engine"],
    ["get the contents of a file", { ...repo, path: "docs/a b.md" }, "GET /repos/ada/engine/contents/docs%2Fa%20b.md"],
    ["put labels on an issue", { ...repo, issue_number: 7, labels: ["bug"] }, "POST /repos/ada/engine/issues/7/labels", { labels: ["bug"] }],
    ["list commits", { ...repo, per_page: 5 }, "GET /repos/ada/engine/commits?per_page=5"],
    ["publish a release", { ...repo, tag_name: "v1" }, "POST /repos/ada/engine/releases", { tag_name: "v1" }],
    ["search for code", { q: "addClass in:file" }, "GET /search/code?q=addClass%20in%3Afile"],
    ["remove a collaborator", { ...repo, username: "eve" }, "DELETE /repos/ada/engine/collaborators/eve"],
];

const arrived = [];
const api = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
        arrived.push({ line: `${request.method} ${request.url}`, body: Buffer.concat(chunks).toString() });
        response.setHeader("content-type", "application/json");
        response.end('{"id":1}');
    });
});
await new Promise((ready) => api.listen(0, "127.0.0.1", ready));

const folder = mkdtempSync(join(tmpdir(), "walk-"));
const document = JSON.parse(readFileSync(description, "utf8"));
document.servers = [{ url: `http://127.0.0.1:${api.address().port}` }];
const file = join(folder, "github.json");
writeFileSync(file, JSON.stringify(document));

const client = new Client({ name: "walk", version: "1" });
const transport = new StdioClientTransport({ command: binary, args: ["serve", "--openapi", file, "--name", "github"], stderr: "ignore" });
await client.connect(transport);
const { tools } = await client.listTools();
const surface = countTokens(JSON.stringify(tools));

async function ask(tool, operation, params) {
    const args = { operation, params };
    const result = await client.callTool({ name: tool, arguments: args });
    const text = result.content[0].text;
    return { answer: JSON.parse(text), tokens: countTokens(JSON.stringify(args)) + countTokens(text) };
}

let failed = 0;
const totals = [0, 0, 0];
console.log(`${tools.length} tools: ${surface} tokens`);
console.log("| question | operation | hit | search | signature | call | tokens |\n|---|---|---:|---:|---:|---:|---:|");
for (const [question, params, line, body] of walks) {
    const spent = [0, 0, 0];
    const search = await ask("github_mcpaql_read", "introspect", { search: question });
    spent[0] = search.tokens;
    const hits = search.answer.data.operations;
    let found = 0;
    for (const [position, hit] of hits.entries()) {
        const read = await ask("github_mcpaql_read", "introspect", { name: hit.name, detail: "signature" });
        arrived.length = 0;
        const tool = `github_mcpaql_${hit.endpoint}`;
        let called = await ask(tool, hit.name, params);
        spent[1] += read.tokens;
        spent[2] += called.tokens;
        const token = called.answer.error?.details?.confirmation_token;
        if (token) {
            called = await ask(tool, hit.name, { ...params, confirmation_token: token });
            spent[2] += called.tokens;
        }
        const [request] = arrived;
        const same = request && request.line === line && (!body || JSON.stringify(body) === request.body);
        if (same && called.answer.success && read.answer.data.operation.signature.startsWith(`${hit.name}(`)) {
            found = position + 1;
            break;
        }
    }
    spent.forEach((tokens, step) => (totals[step] += tokens));
    const name = found ? hits[found - 1].name : "not found";
    failed += found ? 0 : 1;
    console.log(`| ${question} | ${name} | ${found || "–"} | ${spent.join(" | ")} | ${spent.reduce((a, b) => a + b)} |`);
}
console.log(`| all | | | ${totals.join(" | ")} | ${totals.reduce((a, b) => a + b)} |`);

// Limits on tokens, so that the surface and the answers cannot grow unnoticed.
const mean = totals.reduce((a, b) => a + b) / walks.length;
if (surface > 1400 || mean > 1500) {
    console.log(`error: too many tokens: ${surface} for the tools (limit 1400), ${Math.round(mean)} per question (limit 1500)`);
    failed += 1;
}
await client.close();
api.close();
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);

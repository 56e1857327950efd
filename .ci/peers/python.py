"""The official Python SDK, in both eras of the protocol, over stdio and HTTP."""

import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters

BINARY = os.environ["MCPAQL"]
SLOW = os.environ["SLOW_ADAPTER"]
passed = failed = 0


async def check(name, body):
    global passed, failed
    try:
        await body()
        passed += 1
    except Exception:
        failed += 1
        print(f"  FAILED {name}: {traceback.format_exc()}")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(condition):
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.02)


async def everything(client, data):
    async def call(tool, operation, params, **options):
        result = await client.call_tool(tool, {"operation": operation, "params": params}, **options)
        assert len(result.content) == 1, result
        return json.loads(result.content[0].text), result.is_error

    async def listed():
        tools = (await client.list_tools()).tools
        families = [f"notebook_mcpaql_{family}" for family in ("create", "read", "update", "delete")]
        names = [tool.name for tool in tools]
        assert names == [*families, "slow_mcpaql_read", "slow_mcpaql_execute"], names
        for tool in tools:
            hints = tool.annotations
            assert tool.title == hints.title, tool
            flags = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
            assert all(isinstance(flag, bool) for flag in flags), tool

    async def created():
        made, is_error = await call("notebook_mcpaql_create", "create_note", {"title": "Tee ☕"})
        assert made["success"] and is_error is False, made
        read, _ = await call("notebook_mcpaql_read", "get_note", {"id": made["data"]["id"]})
        assert read == made, read

    async def explained():
        failure, is_error = await call("notebook_mcpaql_create", "create_note", {})
        assert failure["error"]["code"] == "VALIDATION_MISSING_PARAM" and is_error is False, failure

    async def unknown():
        try:
            await call("notebook_nope", "x", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool was called")

    async def progress():
        reports = []

        async def hear(progress, total, message):
            reports.append(progress)

        params = {"file": str(data / "a"), "seconds": 3}
        done, _ = await call("slow_mcpaql_execute", "wait", params, progress_callback=hear)
        assert done["success"], done
        assert len(reports) >= 2 and reports == sorted(set(reports)), reports

    async def cancelled():
        file = data / "b"
        async with anyio.create_task_group() as group:
            group.start_soon(call, "slow_mcpaql_execute", "wait", {"file": str(file), "seconds": 60})
            await until(lambda: file.exists() and file.read_text().endswith("\n"))
            group.cancel_scope.cancel()
        await until(lambda: not alive(int(file.read_text())))
        page, _ = await call("notebook_mcpaql_read", "list_notes", {})
        assert len(page["data"]["items"]) == 1, page

    # Call a tool before listing tools, as scripts with known tool names do.
    await check("what is created can be read", created)
    await check("tools are listed with titles and all hints", listed)
    await check("an invalid call is explained, and isError is false", explained)
    await check("an unknown tool is an invalid-params error", unknown)
    await check("a long call reports progress", progress)
    await check("a cancelled call ends its program", cancelled)


async def main():
    for mode in ("legacy", "2026-07-28", "auto"):
        with tempfile.TemporaryDirectory() as folder:
            print(f"Python SDK, {mode} over stdio")
            data = Path(folder)
            args = ["serve", "notebook", SLOW, "--data", folder]
            async with Client(StdioServerParameters(command=BINARY, args=args), mode=mode) as client:
                await everything(client, data)
        with tempfile.TemporaryDirectory() as folder:
            print(f"Python SDK, {mode} over HTTP")
            args = [BINARY, "serve", "notebook", SLOW, "--data", folder, "--http", "127.0.0.1:0"]
            server = subprocess.Popen(args, stderr=subprocess.PIPE, text=True)
            url = None
            while url is None:
                line = server.stderr.readline()
                if not line:
                    raise SystemExit("error: the server did not start")
                url = re.search(r"http://\S+/mcp", line)
            try:
                async with Client(url.group(), mode=mode) as client:
                    await everything(client, Path(folder))
            finally:
                server.terminate()
                server.wait()


anyio.run(main)
print(f"  {passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)

"""One request on the wire, exactly as it was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2 as httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from .address import Network
    from .url import Url


async def send(
    network: Network,
    method: str,
    url: Url,
    headers: Mapping[str, str],
    content: bytes | AsyncIterator[bytes] | None,
) -> httpx.Response:
    """Sends it and waits for the head of the answer, whose body is still to be read; whoever calls closes it.

    The address goes out byte for byte: the library would spell some characters of it otherwise.
    """
    all_headers = {"host": url.authority, "accept-encoding": "gzip", **headers}
    request = httpx.Request(
        method,
        f"{url.scheme}://{url.authority}/",
        # White space around a value means nothing, and the library refuses it.
        headers=[(name.encode(), value.strip(" \t").encode()) for name, value in all_headers.items()],
        content=content,
        extensions={"target": url.target.encode(), "timeout": network.timeout},
    )
    # A body of no length is none: the library would name its length for some methods.
    if request.headers.get("content-length") == "0":
        del request.headers["content-length"]
    return await network.client(url).send(request, stream=True, auth=None, follow_redirects=False)

"""The surface that the environment asks for.

What always holds: another mode or endpoint profile than the project was generated for is its catalog, with what
`surfaces.json` says otherwise laid over it; that file is only read where one is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MODE = "MCP_AQL_ENDPOINT_MODE"
"""The variable that says how operations are spread over tools."""
PROFILE = "MCP_AQL_ENDPOINT_PROFILE"
"""The variable that names the endpoints: `crude`, or those of the document's own profile."""
MODES = ("semantic", "single", "all", "discrete")


class SurfaceProblem(ValueError):
    """Why a mode or a profile cannot be shown; the text says what to do."""


def surface(
    own: Mapping[str, Any], environ: Mapping[str, str], read: Callable[[], Mapping[str, Any]]
) -> Mapping[str, Any]:
    """The data of the catalog as the environment wants it; `read` gives what `surfaces.json` holds.

    Raises `SurfaceProblem` for a mode or a profile that cannot be shown.
    """
    mode = environ.get(MODE) or own["mode"]
    profile = environ.get(PROFILE) or own["profile"]
    if mode not in MODES:
        raise SurfaceProblem(f"{MODE} is '{mode}', but must be one of {', '.join(MODES)}")
    if (mode, profile) == (own["mode"], own["profile"]):
        return own
    surfaces = read()
    if profile not in surfaces:
        name, known = own["adapter"]["name"], ", ".join(surfaces)
        raise SurfaceProblem(f"The adapter '{name}' has no endpoint profile '{profile}' (it has {known})")
    difference = surfaces[profile][mode]
    if isinstance(difference, str):
        raise SurfaceProblem(difference)
    return _overlaid(own, difference)


def _overlaid(own: Mapping[str, Any], difference: Mapping[str, Any]) -> Mapping[str, Any]:
    changed: Mapping[str, Mapping[str, Any]] = difference.get("operations", {})
    operations = [
        # A member that is null there is not there at all.
        {key: value for key, value in {**operation, **changed.get(str(number), {})}.items() if value is not None}
        for number, operation in enumerate(own["operations"])
    ]
    return {**own, **difference, "operations": operations}

"""As much of JSON Schema as this project's own schemas use."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_KNOWN = {
    *("type", "properties", "required", "additionalProperties"),
    *("items", "enum", "const", "anyOf", "minimum"),
}


def faults(value: Any, schema: dict[str, Any], where: str = "$") -> list[str]:
    """Return where ``value`` breaks ``schema``; empty when nowhere."""
    unknown = set(schema) - _KNOWN
    assert not unknown, f"the test's validator does not know {unknown}"
    if "anyOf" in schema:
        tried = [faults(value, option, where) for option in schema["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    found = _kind_faults(value, schema, where)
    if not found and isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, item in value.items():
            if name in properties:
                found += faults(item, properties[name], f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{where}: {name} is not described")
    if not found and isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += faults(item, schema["items"], f"{where}[{index}]")
    return found


def _kind_faults(value: Any, schema: dict[str, Any], where: str) -> list[str]:
    if "const" in schema and value != schema["const"]:
        return [f"{where}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is none of {schema['enum']}"]
    if "type" in schema:
        names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        kinds = tuple(kind for name in names for kind in _TYPES[name])
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            return [f"{where}: {value!r} is no {' or '.join(names)}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{where}: {value!r} is too small"]
    return []

"""The OpenAPI document as people read it: plain values for the docs page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

type Json = dict[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class Line:
    """A parameter or a field of an answer."""

    name: str
    type: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class Described:
    """One operation."""

    anchor: str
    method: str
    path: str
    words: str
    parameters: list[Line]
    fields: list[Line]
    statuses: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    operations: list[Described]


def sections(whole: Json) -> list[Section]:
    """Return the operations by tag, in the document's order."""
    found: dict[str, list[Described]] = {}
    schemas = whole["components"]["schemas"]
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            tag = operation["tags"][0]
            found.setdefault(tag, []).append(
                _described(path, method, operation, schemas)
            )
    return [Section(tag, operations) for tag, operations in found.items()]


def _described(path: str, method: str, operation: Json, schemas: Json) -> Described:
    return Described(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        words=operation.get("description") or operation["summary"] + ".",
        parameters=[
            Line(
                each["name"],
                _type(each["schema"]).removesuffix(" or null"),
                each.get("description", ""),
                each["required"],
            )
            for each in operation["parameters"]
        ],
        fields=_fields(_answer(operation), schemas),
        statuses=[
            (str(status), response["description"])
            for status, response in operation["responses"].items()
        ],
    )


def _answer(operation: Json) -> Json:
    """Return the schema of the first answer that is JSON, or an empty one."""
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json", {})
        if str(status).startswith("2") and "schema" in content:
            schema: Json = content["schema"]
            return schema
    return {}


def _fields(schema: Json, schemas: Json, prefix: str = "") -> list[Line]:
    """Return the fields of a schema, those of nested ones with their path."""
    lines = []
    target = _resolved(schema, schemas)
    required = target.get("required", [])
    for name, detail in target.get("properties", {}).items():
        inner, mark = _inside(detail)
        lines.append(
            Line(
                prefix + name + mark,
                _type(detail),
                detail.get("description", ""),
                name in required,
            )
        )
        if "$ref" in inner:
            lines += _fields(inner, schemas, f"{prefix}{name}{mark}.")
    return lines


def _resolved(schema: Json, schemas: Json) -> Json:
    if "$ref" in schema:
        found: Json = schemas[schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _inside(schema: Json) -> tuple[Json, str]:
    """Return what a field holds: the items of a list, the value that may be null."""
    if schema.get("type") == "array":
        return schema["items"], "[]"
    for each in schema.get("anyOf", []):
        if each.get("type") != "null":
            return each, ""
    return schema, ""


def _type(schema: Json) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "$ref" in schema:
        return "object"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("format") or schema.get("type") or "any")

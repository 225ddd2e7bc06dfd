"""Answers against docs/openapi.yaml: an undocumented status or a wrong shape fails the test."""

import functools
import re
from pathlib import Path
from urllib.parse import urlsplit

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
NATIVE = "/api/v1/"


@functools.lru_cache(maxsize=1)
def document():
    """The parsed document, or None where there is none."""
    if not DOCUMENT.exists():
        return None
    import yaml  # only here: benchmarks run without it

    return yaml.load(DOCUMENT.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


@functools.lru_cache(maxsize=1)
def routes():
    """[(regex, path item)], literal paths before templates."""
    rows = []
    for template, item in (document() or {}).get("paths", {}).items():
        # A parameter may hold slashes: model ids do.
        pattern = re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(template))
        rows.append((template.count("{"), -len(template), re.compile(pattern + "$"), item))
    return [(regex, item) for _, _, regex, item in sorted(rows, key=lambda row: row[:2])]


def find(method, path):
    """The operation of a request, or None."""
    for regex, item in routes():
        if regex.match(path) and method.lower() in item:
            return item[method.lower()]
    return None


def resolve(node):
    """Follows one `$ref` inside the document."""
    if "$ref" not in node:
        return node
    target = document()
    for key in node["$ref"].removeprefix("#/").split("/"):
        target = target[key.replace("~1", "/").replace("~0", "~")]
    return resolve(target)


def validate(schema, value, where):
    import jsonschema

    resolver = jsonschema.RefResolver("", document())
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    faults = sorted(validator.iter_errors(value), key=lambda fault: list(fault.path))
    assert not faults, f"{where}: {faults[0].message} at {list(faults[0].path)}"


def check_answer(method, target, answer):
    """Asserts that docs/openapi.yaml knows this answer. Other families' unknown paths pass."""
    if document() is None or method in ("OPTIONS", "HEAD"):
        return
    path = urlsplit(target).path
    operation = find(method, path)
    where = f"{method} {path} -> {answer.status}"
    if operation is None:
        expected = answer.status in (400, 401, 403, 404, 405) or not path.startswith(NATIVE)
        assert expected, f"{where}: not in docs/openapi.yaml"
        return
    responses = operation["responses"]
    response = responses.get(str(answer.status)) or responses.get("default")
    assert response, f"{where}: docs/openapi.yaml has no such status"
    content = resolve(response).get("content", {})
    kind = (answer.headers.get("Content-Type") or "").split(";")[0].strip()
    if kind == "application/json":
        assert kind in content, f"{where}: docs/openapi.yaml has no JSON answer"
        if "schema" in content[kind]:
            validate(content[kind]["schema"], answer.json(), where)

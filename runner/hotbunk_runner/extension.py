"""Finds an extension's manifest and node, imports its generator and builds the instance."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any, Optional

MAX_MANIFEST_BYTES = 4 * 1024 * 1024
MAX_SCHEMA_CHARS = 512 * 1024
NODE_ATTRIBUTES = ("hf_repo", "hf_skip_prefixes", "hf_include_prefixes", "download_check")
RUNNER_DIR = Path(__file__).resolve().parent.parent


class BadExtension(Exception):
    """The extension cannot be run; the text says which file is at fault."""


class Extension:
    """One node of one extension: paths, manifest values, and the generator once it is built."""

    def __init__(self) -> None:
        """Read the environment and the manifest; raises BadExtension."""
        self.directory = Path(_required_env("EXTENSION_DIR")).absolute()
        self.manifest = read_manifest(self.directory / "manifest.json")
        self.node_id = os.environ.get("MODEL_NODE_ID") or Path(os.environ.get("MODEL_DIR", "")).name
        self.node = find_node(self.manifest, self.node_id)
        self.model_dir = self._model_dir()
        self.outputs_dir = Path(os.environ.get("WORKSPACE_DIR") or os.getcwd()).absolute()
        self.generator: Any = None
        self._class: Any = None
        self._build_error: Optional[BaseException] = None

    @property
    def wants_image(self) -> bool:
        """True if the node's main input is an image, which is also the default."""
        return self.value("input", "image") == "image"

    def value(self, key: str, default: Any = None) -> Any:
        """A manifest value: the node's if it has one, else the top level's."""
        return self.node.get(key, self.manifest.get(key, default))

    def import_generator(self) -> None:
        """Import generator.py and find its class; raises whatever the import raises."""
        class_name = self.manifest.get("generator_class")
        if not isinstance(class_name, str) or not class_name:
            raise BadExtension("manifest.json has no generator_class")
        self._extend_path()
        module = _load_module("generator", self.directory / "generator.py")
        self._class = getattr(module, class_name, None)
        if self._class is None:
            raise BadExtension(f"generator.py has no class {class_name}, which manifest.json names")

    def params_schema(self) -> list[Any]:
        """This node's parameters: the class's answer, else the manifest's, else none."""
        for candidate in (self._schema_of_class(), self.value("params_schema")):
            if isinstance(candidate, list) and candidate and _fits(candidate):
                return candidate
        return []

    def build(self) -> Any:
        """Return the generator, constructing it at the first call; raises what that raised."""
        if self.generator is None:
            if self._build_error is not None:
                error, self._build_error = self._build_error, None
                raise error
            self.generator = self._construct()
        return self.generator

    def _schema_of_class(self) -> Any:
        try:
            attribute = inspect.getattr_static(self._class, "params_schema", None)
            if isinstance(attribute, (classmethod, staticmethod)):
                return self._class.params_schema()
            self._try_build()
            return self.generator.params_schema() if self.generator is not None else None
        except Exception:
            return None

    def _try_build(self) -> None:
        """Construct early; keep a failure for the load that will meet it."""
        try:
            self.build()
        except BaseException as exc:
            self._build_error = exc

    def _construct(self) -> Any:
        instance = self._class(self.model_dir, self.outputs_dir)
        for name in NODE_ATTRIBUTES:
            value = self.value(name)
            if value is not None:
                setattr(instance, name, value)
        schema = self.value("params_schema")
        instance._params_schema = schema if isinstance(schema, list) else []
        instance.MODEL_NODE_ID = self.node_id
        instance.shared_model_dirs = _shared_model_dirs()
        return instance

    def _extend_path(self) -> None:
        """Search the extension first, then its vendor folder, then the runner."""
        vendor = self.directory / "vendor"
        wanted = [self.directory, vendor, RUNNER_DIR] if vendor.is_dir() else [self.directory]
        if RUNNER_DIR not in wanted:
            wanted.append(RUNNER_DIR)
        names = [str(path) for path in wanted]
        sys.path[:] = names + [entry for entry in sys.path if entry not in names]

    def _model_dir(self) -> Path:
        if os.environ.get("MODEL_DIR"):
            return Path(os.environ["MODEL_DIR"]).absolute()
        models = Path(os.environ.get("MODELS_DIR") or os.getcwd()).absolute()
        extension_id = str(self.manifest.get("id") or self.directory.name)
        return models / extension_id / self.node_id if self.node_id else models / extension_id


def read_manifest(path: Path) -> dict[str, Any]:
    """Parse manifest.json; raises BadExtension if it is missing, too large or no JSON object."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
    except OSError as exc:
        raise BadExtension(f"cannot read {path}: {exc.strerror}") from exc
    if len(data) > MAX_MANIFEST_BYTES:
        raise BadExtension(f"{path} is larger than {MAX_MANIFEST_BYTES} bytes")
    try:
        manifest = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as exc:
        raise BadExtension(f"{path} is not JSON: {exc}") from exc
    if not isinstance(manifest, dict):
        raise BadExtension(f"{path} holds no JSON object")
    return manifest


def find_node(manifest: dict[str, Any], node_id: str) -> dict[str, Any]:
    """The node with this id; an empty one for a manifest without nodes or an unknown id."""
    nodes = manifest.get("nodes")
    for node in nodes if isinstance(nodes, list) else []:
        if isinstance(node, dict) and node.get("id") == node_id:
            return node
    return {}


def _load_module(name: str, path: Path) -> Any:
    if not path.is_file():
        raise BadExtension(f"{path} is missing")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadExtension(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _shared_model_dirs() -> dict[str, Path]:
    try:
        found = json.loads(os.environ.get("SHARED_MODEL_DIRS") or "{}")
        return {str(key): Path(value) for key, value in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _fits(schema: list[Any]) -> bool:
    return len(json.dumps(schema, default=str, skipkeys=True)) <= MAX_SCHEMA_CHARS


def _required_env(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise BadExtension(f"the environment lacks {name}")
    return value

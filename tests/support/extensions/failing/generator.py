"""Fails in generate() in the way that params.how names; `in_load` and `in_init` by environment."""

import os
import sys
from pathlib import Path

from services.generators.base import BadInput, BaseGenerator


class OutOfMemoryError(RuntimeError):
    """Called as torch calls its own."""


class FailingGenerator(BaseGenerator):
    def __init__(self, model_dir, outputs_dir):
        super().__init__(model_dir, outputs_dir)
        if os.environ.get("FIXTURE_FAIL") == "in_init":
            raise RuntimeError("construction failed")

    def load(self):
        if os.environ.get("FIXTURE_FAIL") == "in_load":
            raise RuntimeError("load failed")
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        return getattr(self, "_" + params["how"])()

    def _bad_input(self):
        raise BadInput("the picture shows nothing")

    def _memory_error(self):
        raise MemoryError()

    def _oom_class(self):
        raise OutOfMemoryError("Tried to allocate 2.00 GiB")

    def _oom_message(self):
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    def _oom_cause(self):
        try:
            self._oom_message()
        except RuntimeError as exc:
            raise ValueError("stage two failed") from exc

    def _missing_module(self):
        import hotbunk_no_such_module  # noqa: F401

    def _value_error(self):
        raise ValueError("plain failure")

    def _key_error(self):
        return {}["absent"]

    def _exit(self):
        sys.exit(3)

    def _lost_model(self):
        self._model = None
        raise ValueError("failed after dropping the model")

    def _no_path(self):
        return None

    def _no_file(self):
        return Path("nowhere.glb")

    def _relative(self):
        (self.outputs_dir / "relative.glb").write_bytes(b"glTF")
        return "relative.glb"

    def _unprintable(self):
        class Unprintable(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        raise Unprintable()

"""Writes what it was given to its output, as JSON; its schema is an instance method."""

import json

from services.generators.base import BaseGenerator


class EchoGenerator(BaseGenerator):
    def load(self):
        self._model = object()

    def params_schema(self):
        return [{"id": "detail", "type": "int", "default": 3}]

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        self._report(progress_cb, 50, "Echoing")
        path = self.outputs_dir / "echo.glb"
        seen = {
            "bytes": len(image_bytes),
            "params": params,
            "model_dir": str(self.model_dir),
            "device": getattr(self, "execution_device", None),
        }
        path.write_text(json.dumps(seen), encoding="utf-8")
        return path

"""Drops its model inside generate(), as generators do to make room for a texture stage."""

from services.generators.base import BaseGenerator


class ForgetfulGenerator(BaseGenerator):
    loads = 0

    def load(self):
        self.loads += 1
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        assert self._model is not None
        self._model = None
        path = self.outputs_dir / "forgetful.glb"
        path.write_text(str(self.loads))
        return path

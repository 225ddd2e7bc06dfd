"""Takes text."""

from services.generators.base import BaseGenerator


class WordsGenerator(BaseGenerator):
    def load(self):
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        path = self.outputs_dir / "words.txt"
        path.write_bytes(image_bytes + b"|" + params["text"].encode("utf-8"))
        return path

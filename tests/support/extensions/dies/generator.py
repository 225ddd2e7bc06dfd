"""Leaves without a word: os._exit in generate()."""

import os

from services.generators.base import BaseGenerator


class DiesGenerator(BaseGenerator):
    def load(self):
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        os._exit(7)

"""Never comes back from load()."""

import time

from services.generators.base import BaseGenerator


class HangsGenerator(BaseGenerator):
    def load(self):
        time.sleep(3600)

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        raise AssertionError("never loaded")

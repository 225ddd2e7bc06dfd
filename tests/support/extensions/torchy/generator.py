"""Uses torch (the stub, in tests); its model dies only by garbage collection, and says so."""

import torch
from hotbunk_runner import memory
from services.generators.base import BaseGenerator


class Model:
    def __init__(self):
        self.cycle = self

    def __del__(self):
        torch.record("drop")


def _record_trim(original=memory.trim_heap):
    torch.record("trim")
    original()


memory.trim_heap = _record_trim


class TorchyGenerator(BaseGenerator):
    def load(self):
        self._model = Model()

    def unload(self):
        self._model = None

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        torch.record("generate")
        scratch = Model()
        if params.get("fail"):
            raise torch.cuda.OutOfMemoryError(f"no room for {scratch}")
        if params.get("cancel"):
            cancel_event.set()
            self._check_cancelled(cancel_event)
        path = self.outputs_dir / "torchy.glb"
        path.write_bytes(b"glTF")
        return path

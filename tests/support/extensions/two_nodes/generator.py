"""Two nodes; writes the values that the host set for its node."""

import json

from services.generators.base import BaseGenerator


class TwoNodesGenerator(BaseGenerator):
    def load(self):
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        path = self.outputs_dir / "two_nodes.glb"
        names = ("hf_repo", "hf_skip_prefixes", "download_check", "MODEL_NODE_ID")
        path.write_text(json.dumps({name: getattr(self, name) for name in names}))
        return path

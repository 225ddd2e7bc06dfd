"""The runner's own modules. Extensions import `services`, never this package."""

PROTOCOL = 1
FEATURES = ["ids", "image_path", "heartbeat", "cancel"]

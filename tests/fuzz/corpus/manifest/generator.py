class G(BaseGenerator):
    VRAM_GB: float = 6.5  # about

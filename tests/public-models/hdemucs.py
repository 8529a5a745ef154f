"""torchaudio's HDemucs: sources by two U-networks, of a waveform and of its transform, with LSTMs in between."""
import torch
import torchaudio


def get_model():
    return torchaudio.models.HDemucs(sources=["voice", "rest"], channels=4, nfft=256, depth=4, norm_starts=2, dconv_attn=3, dconv_lstm=3)


def get_dummy_input():
    return torch.randn(1, 2, 4096)

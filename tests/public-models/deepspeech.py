"""torchaudio's DeepSpeech: dense layers and one recurrent layer both ways over a spectrogram."""
import torch
import torchaudio


def get_model():
    return torchaudio.models.DeepSpeech(n_feature=8, n_hidden=16, n_class=5)


def get_dummy_input():
    return torch.randn(1, 1, 12, 8)

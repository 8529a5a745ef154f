"""torchaudio's WaveRNN: two GRUs over a waveform with an upsampled spectrogram."""
import torch
import torchaudio


def get_model():
    return torchaudio.models.WaveRNN(upsample_scales=[2, 2, 3], n_classes=8, hop_length=12, n_res_block=1, n_rnn=16, n_fc=16, n_freq=8, n_hidden=8, n_output=8)


def get_dummy_input():
    return torch.randn(1, 1, 12 * 4), torch.randn(1, 1, 8, 8)

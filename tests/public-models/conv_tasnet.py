"""torchaudio's ConvTasNet: sources of a mixed waveform."""
import torch
import torchaudio


def get_model():
    return torchaudio.models.ConvTasNet(enc_kernel_size=8, enc_num_feats=16, msk_num_feats=8, msk_num_hidden_feats=16, msk_num_layers=3, msk_num_stacks=1)


def get_dummy_input():
    return torch.randn(1, 1, 400)

"""torchvision's MViT with two blocks: attention over pooled places of a film."""
import torch
from torchvision.models.video import mvit


def get_model():
    cube = [3, 3, 3]
    blocks = [mvit.MSBlockConfig(1, 16, 16, cube, cube, [1, 1, 1], [1, 4, 4]), mvit.MSBlockConfig(2, 16, 32, cube, cube, [1, 2, 2], [1, 2, 2])]
    return mvit.MViT((32, 32), 4, blocks, residual_pool=True, residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True)


def get_dummy_input():
    return torch.randn(1, 3, 4, 32, 32)

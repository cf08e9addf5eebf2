"""No checkpoint holds numbers that are not finite."""

import math

import pytest
import torch

from regard.errors import TrainingError
from regard.training import checkpoint
from regard.training.step import Stepper
from regard.training.train import train


def test_weights_that_are_not_finite_are_never_saved(recipe, tmp_path, monkeypatch):
    true = Stepper.take

    def take(self, state, step):
        result = true(self, state, step)
        if step == 4:  # an update may overflow although its gradient was finite
            with torch.no_grad():
                next(iter(state.parameters.values())).view(-1)[0] = math.inf
        return result

    monkeypatch.setattr(Stepper, "take", take)
    with pytest.raises(TrainingError, match="holds NaN or infinite"):
        train(recipe(), tmp_path / "run")
    saved = checkpoint.checkpoints(tmp_path / "run" / "checkpoints")
    assert [folder.name for folder in saved] == ["step-00000003"]
    tensors = checkpoint.load(saved[0]).tensors["model"]
    assert all(tensor.isfinite().all() for tensor in tensors.values())

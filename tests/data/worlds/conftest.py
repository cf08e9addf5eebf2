from contextlib import contextmanager

import jaxtyping
import pytest


@contextmanager
def without_checks():
    """Draw whole corpora as users do: checking every call's types takes forty times as long."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def unchecked():
    with without_checks():
        yield


@pytest.fixture(scope="session")
def corpus():
    from regard.data.worlds.scenes import COUNTS, draw_with_combinations

    with without_checks():
        return {split: list(draw_with_combinations(split)) for split in COUNTS}

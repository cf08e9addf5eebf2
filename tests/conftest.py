"""What all tests share: how hypothesis behaves on a machine that others use too."""

import os

# One thread for each worker, set before torch is imported: workers that each start a thread per
# core wait for one another and take twice the processor time. Programs that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

# No deadline: on shared cores a slow moment is no fault of the code.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

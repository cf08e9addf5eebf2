"""What all tests share: how hypothesis behaves on a machine that others use too."""

from hypothesis import HealthCheck, settings

# No deadline: on shared cores a slow moment is no fault of the code.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

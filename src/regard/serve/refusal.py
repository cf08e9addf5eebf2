"""A refusal: why a request is not answered. Each dialect gives it its own shape.

4xx  the same request is refused again      413 too large, 422 what the task cannot answer, ...
429  the queue is full or too slow for the deadline: later it may be answered
503  the server is starting or stopping
"""

from http import HTTPStatus
from typing import Any


class Refusal(Exception):
    """A request is not answered.

    Args:
        status: The HTTP status.
        kind: One word for programs and for the label of a metric: invalid, overloaded, ...
        message: The rule, the values, the remedy. It is sent to the client and never logged.
        param: The field of the request that is refused.
        retry_after: Seconds after which the same request may be answered.

    """

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        param: str | None = None,
        retry_after: int | float | None = None,
    ) -> None:
        super().__init__(kind)
        self.status, self.kind, self.message = HTTPStatus(status), kind, message
        self.param, self.retry_after = param, retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to the answer in every dialect."""
        headers = {}
        if self.retry_after is not None:
            headers["retry-after"] = str(max(1, round(self.retry_after)))
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        return headers


def describe_invalid(errors: Any) -> Refusal:  # noqa: ANN401 - pydantic's list
    """Name the first field that is wrong; what was sent is not repeated."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return Refusal(422, "invalid", f"{place or 'body'}: {first['msg']}.", param=place or None)

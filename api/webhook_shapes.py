"""The answers about webhooks and their deliveries, as the contract promises them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema
from pydantic import ConfigDict

from api.parameters import Instant

DeliveryStateName = Literal["waiting", "delivered", "dead", "folded"]


class WebhookBody(Schema):
    """A new endpoint."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="http(s)://…, or mailto:… for the format email")
    events: list[str] = Field([], description="types; empty: all")
    format: str = Field("json", description="json, slack, teams or email")
    filters: dict[str, Any] = Field(
        {}, description='severity, owner, path: lists; quiet: {"from", "to"}'
    )
    name: str = Field("", max_length=100)
    every: int = Field(0, description="hours between two digests; 0: at once")
    fold: bool = Field(True, description="a storm of one type becomes one digest")
    secret: str = Field("", description="of the receiver; without it one is made")


class WebhookChange(Schema):
    """What is given changes, the rest stays."""

    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    events: list[str] | None = None
    format: str | None = None
    filters: dict[str, Any] | None = None
    name: str | None = Field(None, max_length=100)
    every: int | None = None
    fold: bool | None = None
    enabled: bool | None = None


class WebhookShape(Schema):
    id: int
    name: str
    url: str = Field(description="without its path for a token that only reads")
    events: list[str]
    format: str = Field(description="json, slack, teams or email")
    filters: dict[str, Any]
    every: int
    fold: bool
    enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    failing_since: datetime | None
    created_at: datetime
    created_by: str


class WebhookMade(WebhookShape):
    secret: str | None = Field(description="shown this once; null for mail")


class SecretShape(Schema):
    secret: str = Field(description="shown this once; the last one: 24 hours more")


class RequestShape(Schema):
    url: str
    headers: dict[str, str]
    body: str


class AnswerShape(Schema):
    status: int | None
    headers: dict[str, str]
    body: str
    cut: bool = Field(description="there was more than 64 KiB, or it never ended")


class TryShape(Schema):
    at: datetime
    status: int | None
    error: str | None
    duration_ms: int
    address: str | None


class FullTryShape(TryShape):
    request: RequestShape
    answer: AnswerShape


class DeliveryShape(Schema):
    id: int
    webhook: int
    event: str
    type: str
    state: str = Field(description="waiting, delivered, dead or folded")
    created_at: datetime
    next_attempt_at: datetime | None
    done_at: datetime | None
    status: int | None = Field(description="of the last answer")
    error: str | None
    digest: int | None = Field(description="the delivery that tells of it")
    attempts: list[TryShape]


class FullDeliveryShape(DeliveryShape):
    payload: dict[str, Any]
    attempts: list[FullTryShape]  # type: ignore[assignment] # each holds more


class RedeliverBody(Schema):
    """Everything since a time, of one webhook or of all."""

    model_config = ConfigDict(extra="forbid")

    since: Instant
    webhook: int | None = None
    state: Literal["delivered", "dead"] | None = None


class RedeliveredShape(Schema):
    redelivered: int

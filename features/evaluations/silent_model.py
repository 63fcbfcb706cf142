"""A model that does nothing: what it passes, a case does not prove."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from capability_client.evaluation.model_port import ModelFailed, ModelSettings, VendorModel
from capability_client.session.messages import Message, ModelReply


class SilentModel(VendorModel):
    """Says nothing, calls nothing, and is asked over no network."""

    def __init__(self) -> None:
        super().__init__(ModelSettings("", ""))

    def __call__(self, session: Any, messages: Sequence[Message]) -> ModelReply:  # noqa: ARG002 (as a model has them)
        """An empty reply."""
        return ModelReply("")

    def ask(self, task: str, text: str) -> str:  # noqa: ARG002 (as a model has them)
        """Raises `ModelFailed`: it judges nothing."""
        raise ModelFailed("A model that does nothing judges nothing")

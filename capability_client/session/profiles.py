"""Where users are remembered between conversations: who was introduced, and what is known of them."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from capability_client.session.options import User
from capability_kit.text.files import write_atomically

logger: logging.Logger = logging.getLogger("capability_client.session")


class Profiles(Protocol):
    """A store of users by `user_id`; a host with a database writes its own."""

    def read(self, user_id: str) -> User:
        """The user; a new one where nothing is known."""

    def write(self, user: User) -> None:
        """Store a user in place of what was stored before."""


class FileProfiles:
    """One JSON file a user, below a folder. Not encrypted: keep no secrets in it."""

    def __init__(self, folder: Path | str) -> None:
        self.folder: Path = Path(folder).expanduser()

    def read(self, user_id: str) -> User:
        """The user; a new one where nothing is known.

        So for a file that is damaged, which is kept beside, as `*.damaged`: a user who is introduced twice can go on.
        """
        path = self._path(user_id)
        if not path.exists():
            return User(user_id=user_id)
        try:
            return User(**{**json.loads(path.read_text("utf-8")), "user_id": user_id})
        except (ValueError, TypeError) as error:
            logger.warning("%s is not a profile, and is kept as .damaged: %s", path, error)
            path.replace(path.with_suffix(".damaged"))
            return User(user_id=user_id)

    def write(self, user: User) -> None:
        """Keep a user, in one step. Raises `ValueError` without a `user_id`."""
        path = self._path(user.user_id)
        self.folder.mkdir(parents=True, exist_ok=True)
        values = {"name": user.name, "is_introduced": user.is_introduced, "context": dict(user.context)}
        write_atomically(path, json.dumps(values, ensure_ascii=False, indent=1, default=str) + "\n")

    def _path(self, user_id: str) -> Path:
        """A name that no id can lead out of the folder."""
        if not user_id:
            raise ValueError("A profile needs a user_id")
        return self.folder / f"{hashlib.sha256(user_id.encode()).hexdigest()[:32]}.json"


def remember(profiles: Profiles, user_id: str, facts: Mapping[str, object]) -> User:
    """Add facts to what is known of a user, and return the user. A fact `name`, or `user/name`, is their name."""
    user = profiles.read(user_id)
    name = next((facts[key] for key in ("name", "user/name") if isinstance(facts.get(key), str)), user.name)
    user = replace(user, name=str(name), context={**user.context, **facts})
    profiles.write(user)
    return user

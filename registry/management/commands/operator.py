"""`manage.py operator`: the people who sign in to the Studio (docs/contract.md 5)."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from capability_rules.errors import InvalidRequest
from registry.access import operators, second_factors
from registry.cli.command import SubcommandBase, terminal_actor
from registry.models import Operator


class Command(SubcommandBase):
    help = "Create, list and disable operators, and set their passwords and addresses."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Add an operator.", "name")
        parser.add_argument("--role", choices=operators.ROLES, required=True)
        _password_option(parser)
        self.verb(verbs, "list", self.list, "List all operators.")
        parser = self.verb(verbs, "passwd", self.passwd, "Set an operator's password.", "name")
        _password_option(parser)
        words = "Set where an operator's e-mail goes; without an address: nowhere."
        parser = self.verb(verbs, "email", self.email, words, "name")
        parser.add_argument("address", nargs="?", default="")
        self.verb(verbs, "disable", self.disable, "Shut an operator out.", "name")
        words = "Remove the second factors of an operator who lost a device, and end their sessions."
        self.verb(verbs, "reset-second-factor", self.reset_second_factor, words, "name")

    def create(self, options: dict[str, Any]) -> int:
        password = _read_password(options)
        operator = operators.create_operator(
            username=options["name"], password=password, role=options["role"], by=terminal_actor()
        )
        return self._tell(operator, "created", options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(operator) for operator in Operator.objects.order_by("username")]
        lines = (f"{row['name']}  {row['role']}{'' if row['is_active'] else '  disabled'}" for row in rows)
        return self.tell({"operators": rows}, lines, options)

    def passwd(self, options: dict[str, Any]) -> int:
        operator = operators.set_password(
            username=options["name"], password=_read_password(options), by=terminal_actor()
        )
        return self._tell(operator, "password changed", options)

    def email(self, options: dict[str, Any]) -> int:
        operator = operators.set_email(username=options["name"], email=options["address"], by=terminal_actor())
        return self._tell(operator, "address set" if operator.email else "address removed", options)

    def disable(self, options: dict[str, Any]) -> int:
        operator = operators.disable_operator(username=options["name"], by=terminal_actor())
        return self._tell(operator, "disabled", options)

    def reset_second_factor(self, options: dict[str, Any]) -> int:
        removed = second_factors.reset_second_factors(username=options["name"], by=terminal_actor())
        words = f"{options['name']}: {removed} second factors removed, sessions ended"
        return self.tell({**_row(operators.get_operator(options["name"])), "removed": removed}, words, options)

    def _tell(self, operator: Operator, words: str, options: dict[str, Any]) -> int:
        return self.tell(_row(operator), f"{operator.username}: {words}", options)


def _password_option(parser: Any) -> None:
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _read_password(options: dict[str, Any]) -> str:
    if options["password_stdin"]:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InvalidRequest("There is no terminal to ask for a password: use --password-stdin")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise InvalidRequest("The two passwords differ")
    return password


def _row(operator: Operator) -> dict[str, Any]:
    return {"name": operator.username, "role": operator.role, "is_active": operator.is_active}

"""The tables of options in docs/commands.md, from their records: `python docs/make_commands.py`."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

from attncert.verify import questions
from attncert.verify.questions.question import Option, Question, flag, options

PAGE = Path(__file__).resolve().parent / "commands.md"
_MARKED = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SHARED = "examples"  # described once for all commands


def page(text: str) -> str:
    """The text, with a table of options at each mark, for the command named there."""
    by_command = {question.command: question for question in asked()}
    return _MARKED.sub(lambda m: f"{m[1]}{table(by_command[m[2]])}{m[3]}", text)


def asked() -> list[type[Question]]:
    for module in pkgutil.iter_modules(questions.__path__, f"{questions.__name__}."):
        importlib.import_module(module.name)
    return Question.__subclasses__()


def table(question: type[Question]) -> str:
    rows = ["| option | meaning |", "| --- | --- |"]
    for name, option in options(question).items():
        if name != _SHARED:
            rows.append(f"| `{flag(name)}` | {meaning(option)} |")
    return "\n".join(rows) + "\n"


def meaning(option: Option) -> str:
    words = option.help.replace("|", "·")
    silent = option.default is None or option.default is False
    return words if silent else f"{words}; default: {option.default}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))

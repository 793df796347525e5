"""Questions: frozen records of the options of commands.

The options and the help of a command (attncert/terminal/options.py), the settings in JSON and the
command line that reproduces an answer are derived from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from attncert.constructions.brief import in_brief
from attncert.verify.questions.values import Rule, whole


@dataclass(frozen=True)
class Option:
    """One option of a command.

    help: one line. default: None if the data determine the value. repeats: whether an answer
    depends on the option, so that the command for repeating a run must contain it.
    """

    rule: Rule
    help: str
    default: Any
    repeats: bool

    def read(self, name: str, entry: Any) -> Any:
        """The value of an entry; None if both entry and default are None. Raises InputError."""
        if entry is None and self.default is None:
            return None
        return self.rule.checked(name, entry)


def option(default: Any, rule: Rule, help: str, *, repeats: bool = True, **rest: Any) -> Any:
    meaning = Option(rule, help, default, repeats)
    return field(default=default, metadata={"option": meaning}, **rest)


@dataclass(frozen=True, repr=False)
class Question:
    """A question about data. The first line of the docstring is the help text of its command.

    example: a command line, shown in the help, that works in a checkout of the repository. weights,
    data: descriptions of the arguments; "" if the command does not take the argument. Raises
    InputError with the name of the field if an option does not accept a value.
    """

    command: ClassVar[str]
    example: ClassVar[str]
    weights: ClassVar[str] = ""
    data: ClassVar[str] = "a .json or .npz data set, - (stdin), or: digits"

    examples: int | None = option(
        None, whole(1, 2**63 - 1), "use the first T examples; default: all", kw_only=True
    )

    def __post_init__(self) -> None:
        for name, meaning in options(type(self)).items():
            object.__setattr__(self, name, meaning.read(name, getattr(self, name)))

    def __repr__(self) -> str:
        set_here = {
            name: getattr(self, name)
            for name, meaning in options(type(self)).items()
            if getattr(self, name) != meaning.default
        }
        return in_brief(self, **set_here)

    @property
    def unlabelled(self) -> bool:
        return False

    def settings(self) -> dict[str, Any]:
        """The options on which an answer depends, in JSON form.

        >>> from attncert.verify.questions.prove import Prove
        >>> Prove(heads=3).settings()["heads"]
        3
        """
        return {
            name: _word(name, getattr(self, name), meaning.rule, lambda x: x)
            for name, meaning in options(type(self)).items()
            if meaning.repeats
        }

    def of(self, data: Any) -> Any:
        """The data that the question is about: the first `examples` if this option is set."""
        return data if self.examples is None else data.take(self.examples)

    def line(self) -> str:
        """The command line that reproduces the answer, without paths or default values.

        >>> from attncert.verify.questions.prove import Prove
        >>> Prove("width-one", heads=3, data_file=True, examples=7).line()
        'attncert prove DATA --construction width-one --heads 3 --data-file --examples 7'
        """
        parameters = (name.upper() for name in arguments(type(self)))
        words = [f"attncert {self.command}", *parameters]
        for name, meaning in options(type(self)).items():
            setting = getattr(self, name)
            if meaning.repeats and setting != meaning.default:
                words.append(flag(name))
                words += [] if setting is True else [_word(name, setting, meaning.rule, written)]
        return " ".join(words)


def arguments(record: type[Question]) -> tuple[str, ...]:
    """The names of the command's arguments, in the order of the command line."""
    return tuple(name for name in ("weights", "data") if getattr(record, name))


def options(record: type[Question]) -> Mapping[str, Option]:
    """The options by name. The option that all questions with data share comes last."""
    own = {x.name: x.metadata["option"] for x in fields(record)}
    examples = own.pop("examples", None)
    return own | {"examples": examples} if "data" in arguments(record) else own


def flag(name: str) -> str:
    """The command-line option that sets this field.

    >>> flag("head_width")
    '--head-width'
    """
    return f"--{name.replace('_', '-')}"


def _word(name: str, setting: Any, rule: Rule, word: Callable[[Any], Any]) -> Any:
    """The value as shown in a report: a path is replaced by the name of its option."""
    foreign = rule.file and setting is not None and setting not in rule.choices
    return name.upper() if foreign else word(setting)


def written(setting: Any) -> str:
    """The value as written on a command line, with floats without an exponent.

    >>> written(20.0), written(1e6), written(0.00001), written("1/64")
    ('20', '1000000', '0.00001', '1/64')
    """
    return f"{setting:.9f}".rstrip("0").rstrip(".") if isinstance(setting, float) else str(setting)

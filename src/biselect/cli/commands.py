"""All commands by name: ours, and those of installed packages; each is loaded when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from biselect.cli.from_options import make_command
from biselect.cli.help import Command, Unbroken, described, section, spelled
from biselect.cli.usage import PlainGroup
from biselect.errors import BiselectError, InputError
from biselect.extensions import Registry

HEADINGS = {
    "From a table to an answer": ("demo", "app", "inspect", "select", "review", "report", "monitor", "summarise"),
    "Any selection problem": ("solve", "check", "certify"),
    "Circuits": ("train", "compile", "run", "reproduce"),
    "This installation": ("doctor",),
}
NAMES = ("inspect", "select", "review", "solve", "check", "monitor", "summarise", "demo", "report", "doctor")
COMMANDS: Registry[Callable[..., None]] = Registry(
    "biselect.commands",
    "command",
    {**{name: f"biselect.cli.{name}:{name}" for name in NAMES}, "app": "biselect.cli.workbench:workbench"},
)


class Commands(Mapping[str, Command]):
    """The commands, made of their functions on first use."""

    def __init__(self) -> None:
        self._cache: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._cache:
            if name not in COMMANDS.names():
                try:
                    COMMANDS.refuse(name)
                except InputError:
                    raise KeyError(name) from None
            try:
                function = COMMANDS.load(name)
            except BiselectError:
                raise
            except Exception as error:  # whatever is wrong with one package, the other commands go on
                why = f"{type(error).__name__}: {error}"
                raise BiselectError(f"the command {name!r} cannot be loaded: {why}") from error
            self._cache[name] = make_command(name, function)
        return self._cache[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS.names()

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS.names())

    def __len__(self) -> int:
        return len(COMMANDS.names())


class Group(Unbroken, PlainGroup):
    """All commands, grouped by who needs them."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [*self.commands]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands, then the few options."""
        grouped = {name for names in HEADINGS.values() for name in names}
        more = [name for name in self.commands if name not in grouped]
        for title, names in {**HEADINGS, "More commands": more}.items():
            section(formatter, title, [(name, self._purpose(name)) for name in names], left=10)
        section(formatter, "Options", [(spelled(self, one), described(one, ctx)) for one in self.get_params(ctx)])

    def _purpose(self, name: str) -> str:
        """What a command does; or which package brings it, or why it cannot be loaded."""
        try:
            return str(self.commands[name].help or "").split("\n\n")[0]
        except BiselectError as error:
            return str(error)

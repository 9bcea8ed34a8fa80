"""The directive `command NAME`: usage, arguments and options of a command, as the command line itself declares them."""

import re
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from biselect.cli import app
from biselect.cli._help import grouped, placeholder, usage

COMMANDS: dict[str, Any] = get_command(app).commands


def default(parameter: Any) -> str:
    """The default as one would type it; empty for flags and where there is none."""
    value = parameter.default
    if parameter.is_flag or value is None or not parameter.show_default:
        return ""
    return f"`{' '.join(map(str, value)) if isinstance(value, tuple | list) else value}`"


def marked(text: str) -> str:
    """Options named in a text as code; their dashes would become one otherwise."""
    return re.sub(r"(?<![\w`-])--[a-z][a-z-]*", r"`\g<0>`", text)


def row(*cells: str) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def page(name: str) -> list[str]:
    """The command as Markdown."""
    command = COMMANDS[name]
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    lines = [
        "```text",
        " ".join([f"biselect {name}", *usage(command)]),
        "```",
        "",
        *marked(command.help).splitlines(),
        "",
    ]
    if arguments:
        lines += [row("argument", ""), row("---", "---")]
        lines += [row(f"`{parameter.name.upper()}`", marked(parameter.help)) for parameter in arguments]
        lines += [""]
    for title, group in grouped(options).items():
        lines += [row(title, "", "default"), row("---", "---", "---")]
        for option in group:
            names = [*sorted(option.opts, key=len), *option.secondary_opts]
            value = "" if option.is_flag else f" `{placeholder(command, option)}`"
            lines.append(row(", ".join(f"`{text}`" for text in names) + value, marked(option.help), default(option)))
        lines += [""]
    return lines


class Command(SphinxDirective):
    """`{command} select`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Describe the command."""
        name = self.arguments[0]
        box = nodes.container(classes=["command"])
        self.state.nested_parse(StringList(page(name), source=f"biselect {name}"), self.content_offset, box)
        return [box]


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}

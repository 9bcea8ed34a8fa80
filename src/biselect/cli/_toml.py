"""Defaults from `biselect.toml` in the working directory or the user's own: a section a command, an entry an option."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from biselect.errors import InputError

FILE = Path("biselect.toml")
ADDRESS = re.compile(r"(\w+:)?[/\\]{2}")  # `dask://host`, `//host/share`


def own_file() -> Path:
    """The file of defaults in the user's own configuration folder, which no downloaded folder brings along."""
    return Path(typer.get_app_dir("biselect"), FILE)


def read_defaults(commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the user's own file and that of the working directory say, by command and parameter, as if typed.

    The working directory's file beats the user's own, option by option. A file that is not there says nothing.
    """
    defaults: dict[str, dict[str, Any]] = {}
    for file in (own_file(), FILE):
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: cannot be read: {error}") from error
        for section, entries in content.items():
            if not isinstance(entries, dict):
                raise InputError(f"{file}: {section} stands in no section; write it below one such as [select]")
            if section not in commands:
                raise InputError(f"{file}: [{section}] is no command{_nearest(section, commands)}")
            options = {key_of(one): one for one in commands[section].params if one.param_type_name == "option"}
            values = defaults.setdefault(section, {})
            for key, value in entries.items():
                option = options.get(key.replace("_", "-"))
                if option is None:
                    raise InputError(f"{file}: [{section}] has no option {key!r}{_nearest(key, options)}")
                values[option.name] = _as_typed(option, value, f"{file}: [{section}] {key}")
                if file == FILE:
                    _refuse_reach(key_of(option), values[option.name], f"{file}: [{section}] {key}")
    return defaults


def _refuse_reach(key: str, value: Any, where: str) -> None:
    """The file of a folder, which may come from anybody, must not make a command connect or write elsewhere."""
    connects = key == "on" or any(ADDRESS.match(str(one)) for one in (value if isinstance(value, list) else [value]))
    if connects or (key == "out" and not Path(value).resolve().is_relative_to(Path.cwd())):
        what = "say what to connect to" if connects else "name a place outside of its folder"
        why = f"a file beside tables, which may be anybody's, must not {what}"
        raise InputError(f"{where}: {why}; give it on the command line, or say it in {own_file()}")


def key_of(option: Any) -> str:
    """The option's name in the file: its longest flag without dashes."""
    return str(max(option.opts, key=len)).lstrip("-")


def as_flags(options: Iterable[Any], values: Mapping[str, Any]) -> list[str]:
    """Values of the file as words of a command line."""
    words: list[str] = []
    for option in options:
        if option.name not in values:
            continue
        value, flag = values[option.name], max(option.opts, key=len)
        if option.is_flag:
            words += [flag] if value else list(option.secondary_opts[:1])
        elif option.multiple:
            words += [word for one in value for word in (flag, one)]
        else:
            words += [flag, *([value] if isinstance(value, str) else value)]
    return words


def _as_typed(option: Any, value: Any, where: str) -> Any:
    """A flag as true or false, everything else as text."""
    if option.is_flag != isinstance(value, bool):
        raise InputError(f"{where}: {'is true or false' if option.is_flag else 'takes a value, not true or false'}")
    if option.is_flag:
        return value
    if isinstance(value, dict) and "=" in str(option.metavar):
        value = [f"{name}={one}" for name, one in value.items()]
    several = value if isinstance(value, list) else [value]
    if any(isinstance(one, dict | list | bool) for one in several):
        raise InputError(f"{where}: takes numbers and text, and lists of them where the option takes several")
    if option.multiple:
        return [str(one) for one in several]
    if len(several) != option.nargs:
        raise InputError(f"{where}: takes {'one value' if option.nargs == 1 else f'a list of {option.nargs} values'}")
    return str(several[0]) if option.nargs == 1 else [str(one) for one in several]


def _nearest(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name.replace("_", "-"), list(names), n=1, cutoff=0)
    return f"; did you mean {near[0]!r}?" if near else ""

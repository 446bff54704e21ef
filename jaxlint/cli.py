"""The command line.

Exit status: 0 clean, 1 findings, 2 wrong usage, a file that cannot be read, or an internal
error. What a command needs is imported when it runs: most files do not mention JAX, and a
run over those should cost next to nothing.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jaxlint import __version__
from jaxlint.nearest import unknown

if TYPE_CHECKING:
    from jaxlint.batch import Outcome
    from jaxlint.config import Configuration, Settings
    from jaxlint.rule import Rule
    from jaxlint.runner import FileResult

CLEAN, FOUND, WRONG = 0, 1, 2
FILES_WITH_PROGRESS = 50  # fewer are checked before a bar would be read


class UsageError(Exception):
    """Something on the command line is wrong; the message says what, in one line."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse, and name the nearest option where one is not known."""
        options, rest = self.parse_known_intermixed_args(argv)
        for argument in rest:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            name = argument.partition("=")[0]
            if name.startswith("-"):
                raise UsageError(unknown("option", name, known))
            raise UsageError(f"unexpected `{name}`")
        return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may hold anything
    try:
        return _run(arguments)
    except UsageError as error:
        return _complain(str(error))
    except BrokenPipeError:  # `jaxlint check | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # Python itself would end with 1, which means findings.
        import traceback

        traceback.print_exception(error)
        return WRONG


def _run(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in COMMANDS:
        status = COMMANDS[name](arguments[1:])
        sys.stdout.flush()
        return status
    if name in ("-h", "--help"):
        print(_usage())
        return CLEAN if arguments else WRONG
    if name in ("-V", "--version"):
        print(f"jaxlint {__version__}")
        return CLEAN
    hint = f", did you mean `jaxlint check {name}`?" if Path(name).exists() else None
    raise UsageError(f"unknown command `{name}`{hint}" if hint else unknown("command", name, COMMANDS))


def _usage() -> str:
    listed = "\n".join(f"  {name:8} {(run.__doc__ or '').splitlines()[0]}" for name, run in COMMANDS.items())
    return f"usage: jaxlint COMMAND [--help]\n\nA linter for Python that uses JAX.\n\ncommands:\n{listed}"


def _complain(*lines: str) -> int:
    for line in lines:
        print(f"jaxlint: {line}", file=sys.stderr)
    return WRONG if lines else CLEAN


# --- jaxlint check ---------------------------------------------------------------------

# What is a setting too: its help, and what its value is called, if it has one.
SETTINGS: Mapping[str, tuple[str, str | None]] = {
    "select": ("take only these rules: codes, beginnings of codes, names, groups", "RULES"),
    "ignore": ("leave these rules out", "RULES"),
    "extend-select": ("take these rules as well", "RULES"),
    "preview": ("take the rules in preview as well", None),
    "output-format": ("concise, full (the default), github or json", "FORMAT"),
    "statistics": ("print how many findings each rule has, instead of the findings", None),
    "exit-zero": ("exit with status 0 even if there are findings", None),
    "no-cache": ("neither read nor write the cache", None),
    "jobs": ("number of processes (default: what the machine has and the work is worth)", "N"),
    "quiet": ("print nothing but findings", None),
    "force-exclude": ("leave out what the settings exclude even if it is named", None),
}


def _check_parser() -> Parser:
    parser = Parser(prog="jaxlint check", description="Check files and folders.", allow_abbrev=False)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="`-` is standard input")
    for name, (text, value) in SETTINGS.items():
        if value is None:
            parser.add_argument(f"--{name}", action="store_const", const=True, dest=name, help=text)
        elif value == "RULES":
            parser.add_argument(f"--{name}", action="append", dest=name, metavar=value, help=text)
        else:
            parser.add_argument(f"--{name}", dest=name, metavar=value, help=text)
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called")
    parser.add_argument("--config", metavar="FILE", type=Path, help="read the settings from this file only")
    parser.add_argument("--isolated", action="store_true", help="read no settings from files")
    return parser


def check(argv: Sequence[str]) -> int:
    """Check files and folders; `-` is standard input."""
    from jaxlint.config import ConfigError, Configuration

    end = argv.index("--") if "--" in argv else len(argv)
    options = _check_parser().parse(argv[:end])
    options.paths += argv[end + 1 :]
    try:
        return _check(options, Configuration(_overrides(options), options.config, options.isolated))
    except ConfigError as error:
        raise UsageError(str(error)) from None


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    """The settings among the options, each read and checked."""
    from jaxlint.config import KEYS, check_values

    given = {name: value for name, value in vars(options).items() if name in SETTINGS and value is not None}
    for name, value in given.items():
        try:
            # An option that was given several times is read as one text.
            given[name] = KEYS[name](",".join(value) if isinstance(value, list) else value)
        except ValueError as error:
            raise UsageError(f"--{name}: {error}") from None
        check_values({name: given[name]}, f"--{name}")
    return given


def _check(options: argparse.Namespace, configuration: Configuration) -> int:
    from jaxlint.batch import check_paths, check_text

    settings = configuration.for_folder(Path.cwd())
    paths = options.paths or ["." if options.stdin_filename is None else "-"]
    if paths == ["-"]:
        outcome = check_text(sys.stdin.buffer.read(), options.stdin_filename or "-", configuration)
    elif "-" in paths:
        raise UsageError("`-` cannot be combined with other paths")
    elif options.stdin_filename is not None:
        raise UsageError("--stdin-filename: only for standard input, `-`")
    else:
        progress = _plain if settings.quiet else _with_progress
        outcome = check_paths(map(Path, paths), configuration, settings, progress)
    _report(outcome, settings)
    status = CLEAN if settings.exit_zero or not outcome.findings else FOUND
    return _complain(*outcome.errors) or status


def _report(outcome: Outcome, settings: Settings) -> None:
    from jaxlint import report

    form = report.load(settings.output_format)
    if settings.statistics:
        lines = form.statistics(outcome.findings)
    else:
        lines = form.render(outcome.findings, outcome.lines_of)
    report.write(lines, sys.stdout)
    if form.FOR_PEOPLE and not settings.quiet and not outcome.errors:
        print(report.summary(outcome.findings))


def _plain(results: Iterable[FileResult], _: int) -> Iterable[FileResult]:
    return results


def _with_progress(results: Iterable[FileResult], total: int) -> Iterable[FileResult]:
    """Shows on a terminal how far a long run is."""
    if total < FILES_WITH_PROGRESS or not sys.stderr.isatty():
        return results
    from rich.console import Console
    from rich.progress import track

    return track(results, "Checking", total=total, console=Console(stderr=True), transient=True)


# --- jaxlint rules, rule, values, verify -------------------------------------------------


def rules(argv: Sequence[str]) -> int:
    """List the rules."""
    from jaxlint.registry import all_rules

    parser = Parser(prog="jaxlint rules", description="List the rules.", allow_abbrev=False)
    parser.add_argument(
        "--output-format", default="text", metavar="FORMAT", help="text (the default) or json"
    )
    form = parser.parse(argv).output_format
    if form == "json":
        import json

        print(json.dumps([_described(rule) for rule in all_rules()], indent=2))
    elif form == "text":
        width = max((len(rule.name) for rule in all_rules()), default=0)
        for rule in all_rules():
            print(f"{rule.code}  {rule.name:{width}}  {rule.group:11}  {_summary(rule)}")
    else:
        raise UsageError(unknown("format", form, ("json", "text")))
    return CLEAN


def _described(rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "group": rule.group,
        "family": rule.family,
        "summary": _summary(rule),
        "message": rule.message,
        "help": rule.help,
        "claim": str(rule.claim),
        "explanation": rule.page,
    }


def _summary(rule: Rule) -> str:
    return rule.page.partition("\n")[0]


def rule(argv: Sequence[str]) -> int:
    """Explain a rule, given its code or name."""
    from jaxlint.registry import all_rules

    parser = Parser(prog="jaxlint rule", description="Explain a rule.", allow_abbrev=False)
    parser.add_argument("rule", metavar="CODE", help="code or name of a rule")
    wanted = parser.parse(argv).rule
    by_name = {name: rule for rule in all_rules() for name in (rule.code, rule.name)}
    found = by_name.get(wanted) or by_name.get(wanted.upper())
    if found is None:
        raise UsageError(unknown("rule", wanted, by_name))
    facts = f"**Group**: {found.group}. **Claim**: {found.claim}."
    page = f"# {found.name} ({found.code})\n\n{found.page}\n\n{facts}\n"
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        print(page, end="")
    return CLEAN


def values(argv: Sequence[str]) -> int:
    """Print what is known of each name in a file, line by line."""
    from jaxlint.runner import SourceError, list_values
    from jaxlint.source.decode import DecodeError, decode

    parser = Parser(prog="jaxlint values", description=values.__doc__, allow_abbrev=False)
    parser.add_argument("file", metavar="FILE")
    name = parser.parse(argv).file
    try:
        found = list_values(decode(Path(name).read_bytes()), name)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from None
    except DecodeError as error:
        raise UsageError(f"{name}: cannot be decoded: {error}") from None
    except SourceError as error:
        raise UsageError(str(error)) from None
    rows = [(str(row), bound, value) for row, bound, value in found]
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:2]]
    for row, bound, value in rows:
        print(f"{row:>{widths[0]}}  {bound:{widths[1]}}  {value}")
    return CLEAN


def verify(argv: Sequence[str]) -> int:
    """Run the fixtures of the rules on this machine's JAX."""
    from jaxlint.verify import main

    return main(argv)


COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "check": check,
    "rules": rules,
    "rule": rule,
    "values": values,
    "verify": verify,
}

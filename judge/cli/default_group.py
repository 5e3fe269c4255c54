"""A group of commands of which one is used where none is named."""

from pathlib import Path

import click

from study.errors import nearest


class DefaultCommandGroup(click.Group):
    """A group that runs the command `run` where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *self.get_help_option_names(ctx)}:
            self._check_first(args[0])
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the usual form, and that with a command."""
        del ctx
        return ["STUDY [OPTIONS]", "or COMMAND [ARGS]..."]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options and commands of the group, then the options of `run`."""
        super().format_options(ctx, formatter)
        records = [
            record
            for option in self.commands["run"].get_params(ctx)[:-1]
            if isinstance(option, click.Option)
            and (record := option.get_help_record(ctx)) is not None
        ]
        with formatter.section("Options of run"):
            formatter.write_dl(records)

    def _check_first(self, word: str) -> None:
        """Check that the first word is not a misspelled command."""
        hint = nearest(word, self.commands)
        if hint and not word.startswith("-") and not Path(word).exists():
            raise click.UsageError(f"{word!r} is neither a folder nor a command. {hint}")

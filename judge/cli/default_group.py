"""A group of commands of which one is used where none is named."""

import click


class DefaultCommandGroup(click.Group):
    """A group that runs the command `run` where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_for_help = bool(args) and args[0] in self.get_help_option_names(ctx)
        if args and args[0] not in self.commands and not asks_for_help:
            args = ["run", *args]
        return super().parse_args(ctx, args)

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

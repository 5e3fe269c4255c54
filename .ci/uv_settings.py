"""Print, for the shell, the settings under which uv takes packages from where pip takes them."""

import ast
import shlex
import subprocess
import sys

# Setting of pip, variable of uv, and what separates several values there.
_SAME = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "cert": ("SSL_CERT_FILE", " "),
}


def main() -> None:
    """Translate `pip config list`; settings of the environment come over those of files."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    values = {}
    for line in sorted(listed.stdout.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        section, _, setting = name.rpartition(".")
        if section in {"global", "install", ":env:"} and setting in _SAME:
            variable, separator = _SAME[setting]
            values[variable] = separator.join(ast.literal_eval(value).split())
    # pip takes the best version of all indexes, not that of the first index with the package.
    values["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    for variable, value in values.items():
        sys.stdout.write(f"export {variable}={shlex.quote(value)}\n")


if __name__ == "__main__":
    main()

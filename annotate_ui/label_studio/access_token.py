"""The token that opens Label Studio: from the environment or a file, never from the study."""

import os
from pathlib import Path

from study.errors import StudyError

VARIABLE = "LABEL_STUDIO_API_KEY"


def read_token(study_folder: Path, file: Path | None = None) -> str:
    """Return the token that `file` holds, or else the environment.

    Raises
    ------
    StudyError
        There is none, or the file lies in the study's folder, which may be mailed or deposited.
    """
    if file is None:
        token = os.environ.get(VARIABLE, "").strip()
        if not token:
            raise StudyError(
                f"No token. Set {VARIABLE}, or name a file outside the study with --token-file. "
                "Label Studio shows tokens under Account & Settings."
            )
    else:
        if file.resolve().is_relative_to(study_folder.resolve()):
            raise StudyError(
                f"{file} lies inside the study's folder, which may be mailed or deposited. Keep "
                "the token elsewhere."
            )
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{file} can't be read as a token ({error}).") from None
        if not token:
            raise StudyError(f"{file} is empty; put the token in it.")
    if not token.isascii() or any(c.isspace() for c in token):
        raise StudyError("The token holds white space or letters that no token has; copy it again.")
    return token

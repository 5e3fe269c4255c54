"""The error where Ray is not installed."""

from study.errors import StudyError


def missing_ray(error: ImportError) -> StudyError:
    """Return the error to raise."""
    return StudyError(f"The engine ray needs Ray and vLLM ({error}): pip install 'ccrs-study[ray]'")

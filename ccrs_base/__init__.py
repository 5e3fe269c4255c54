"""What `study` and `analysis`, which import nothing of each other, both declare: scales, settings.

The declarations are dataclasses of the standard library, which pydantic validates in study.toml by
the metadata of their fields, so that the first lines of a report need no pydantic.
"""

from ccrs_base.analysis_settings import AnalysisSettings
from ccrs_base.scales import Scale

__all__ = ["AnalysisSettings", "Scale"]

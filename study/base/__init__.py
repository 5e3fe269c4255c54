"""What `study` and `analysis` both declare: scales, and the settings of an analysis.

It is all that `analysis` imports of `study`.

The declarations are dataclasses of the standard library, which pydantic validates in study.toml by
the metadata of their fields, so that the first lines of a report need no pydantic.
"""

from study.base.analysis_settings import AnalysisSettings
from study.base.scales import Scale

__all__ = ["AnalysisSettings", "Scale"]

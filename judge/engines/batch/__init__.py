"""The engine `batch`: files for a provider's batch service, written and read back."""

from judge.engines.batch.batch_engine import BatchEngine

__all__ = ["BatchEngine"]

"""Quantiles of the t, F and chi-squared distributions.

From `scipy.special`: importing `scipy.stats` would take a report's user a second or more.
"""

from __future__ import annotations

from scipy import special


def t_quantile(probability: float, df: float) -> float:
    """Student's t with df degrees of freedom."""
    return float(special.stdtrit(df, probability))


def f_quantile(probability: float, df_numerator: float, df_denominator: float) -> float:
    """F with the degrees of freedom of numerator and denominator."""
    return float(special.fdtri(df_numerator, df_denominator, probability))


def chi2_quantile(probability: float, df: float) -> float:
    """Chi-squared with df degrees of freedom."""
    return 2 * float(special.gammaincinv(df / 2, probability))

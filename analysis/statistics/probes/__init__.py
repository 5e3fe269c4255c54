"""How far a judge's scores move where they should not: probes, drift, observed biases."""

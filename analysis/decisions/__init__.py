"""Whether, and for what, a judge can be used: four questions, each answered from figures."""

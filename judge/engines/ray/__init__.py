"""The engine `ray`: a model in several replicas, on one machine or on a cluster of Ray."""

"""Tables, scales, estimates, resampling: what every statistic and every table of a report uses."""

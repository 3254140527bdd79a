"""A laboratory for the Linux CPU scheduler.

What changes when this load meets another kernel, machine or setting? Every answer is a simulation of Linux's
real-time and fair classes on a machine of up to 512 CPUs: the same experiment gives the same bytes, on any
computer.

    >>> import schedlab
    >>> lab = schedlab.Experiment(loads=["cyclictest -t2 -p80 -i1000 -n"], cpus=2, duration="50ms")
    >>> result = lab.run()
    >>> result.loads[0].threads[0].max_us
    12

Errors are `schedlab.Error`, with the words of the command line.
"""

from ._experiment import Experiment, Machine
from ._names import explain, names
from ._native import CheckFailed, Error, Table, __version__
from ._results import Comparison, Histogram, Inspection, RunResult, Search, SideBySide, SweepResult, Tuning
from ._sweep import Engine, sweep
from ._trace import Trace, inspect, replay

compare = Experiment.compare
search = Experiment.search
tune = Experiment.tune

__all__ = [
    "CheckFailed",
    "Comparison",
    "Engine",
    "Error",
    "Experiment",
    "Histogram",
    "Inspection",
    "Machine",
    "RunResult",
    "Search",
    "SideBySide",
    "SweepResult",
    "Table",
    "Trace",
    "Tuning",
    "__version__",
    "compare",
    "explain",
    "inspect",
    "names",
    "replay",
    "search",
    "sweep",
    "tune",
]

"""Case generators and oracles, for our tests and for those of anyone who adds a solver or a map."""

from biselect.testing.map_api import assert_map_api
from biselect.testing.oracles import all_selections, brute_force
from biselect.testing.solver_api import assert_solver_api

__all__ = ["all_selections", "assert_map_api", "assert_solver_api", "brute_force"]

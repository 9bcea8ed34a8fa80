"""`biselect solve`: any bipartite selection, from a problem file or a table of weights."""

from biselect.cli import options
from biselect.cli.answer import answer, check_place, this_command
from biselect.cli.console import Steps


def solve(
    problem: options.Problem,
    k: options.KOfTable = None,
    m: options.MOfTable = None,
    id_column: options.RowNames = None,
    exclude: options.Exclude = None,
    solver: options.Solver = "auto",
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    open_page: options.Open = False,
    proof: options.Proof = False,
    neighbours: options.Neighbours = options.NEIGHBOURS,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose k rows and m columns of PROBLEM so that the block between them weighs most.

    A .json problem holds `coupling` (a list of rows), `k`, `m` and, if wanted, `sample_scores`, `feature_scores`,
    `coupling_weight`, `sample_names`, `feature_names`. A table (.csv, .parquet, .arrow, .jsonl) holds weights only;
    then -k and -m are required. Given with a problem file, -k and -m replace its budgets.
    """
    from biselect.reviews import review_problem

    check_place(out, proof=proof, page=open_page)
    if out is None and min(neighbours) >= 0:
        neighbours = (0, 0)  # budgets can be moved only in a page
    steps = Steps(quiet)
    found = review_problem(
        problem,
        k=k,
        m=m,
        id_column=id_column,
        exclude=exclude or (),
        solver=solver,
        time_limit=time_limit,
        seed=seed,
        neighbours=neighbours,
        command=this_command(),
        progress=steps.step,
    )
    answer(found, folder=out, proof=proof, page=open_page, as_json=as_json, steps=steps)

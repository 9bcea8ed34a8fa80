"""Which tables, figures and algorithms the paper has, so that none is passed over in silence."""

from __future__ import annotations

LABELS = (
    "tab:qaoa_parameterizations",
    "alg:joint_qaoa",
    "fig:circuit",
    "tab:formulation_evidence_summary",
    "tab:cgxy_best_known_threshold_summary_p3",
    "fig:cgxy_noiseless_evidence",
    "fig:cross_platform_compilation",
    "fig:submitted_coupling_diagnostic",
    "fig:compiler_path_scaling_baseline",
    "tab:creditcard_bilinear_cg_best_known_replay",
    "tab:hardware_run_summary",
    "fig:synthetic_calibration_robustness",
    "fig:real_creditcard_calibration_data_quality",
    "fig:real_creditcard_calibration_mechanism",
    "tab:solver_matched_compute",
    "tab:penalty_x_vs_strict_feasible_qaoa",
    "alg:swap-sa",
    "tab:joint_vs_sequential_practical",
    "tab:joint_vs_sequential_ci",
    "fig:joint_vs_sequential_param_sweep_heatmaps",
    "tab:synthetic_mechanism_stable",
    "tab:joint_vs_sequential_real_creditcard",
    "tab:joint_vs_sequential_real_ibm_aml_hi_small",
    "tab:joint_vs_sequential_real_creditcard_protocol_stress",
    "tab:joint_vs_sequential_real_ibm_aml_hi_small_trigger_menu_stage1_baseline",
    "tab:qaoa_sparse_exact_14_10_readout",
    "tab:cgxy_grouping_randomization_control",
    "tab:qaoa_calibration_grouped_multiangle",
    "tab:cgxy_fully_grouped_qpu_replay_p3",
    "tab:implementation_path_factorial",
    "alg:layout_aware_decoding",
    "tab:cgxy_fixed_angle_condition_details",
)
"""Every labelled table, figure and algorithm, in the paper's order."""

NO_RESULT = {
    "alg:joint_qaoa": "An algorithm, not a result: it is what biselect.qaoa simulates and every circuit study uses.",
    "alg:swap-sa": "An algorithm, not a result: it is the solver swap-sa, measured in solver-matched-compute.",
    "alg:layout_aware_decoding": "An algorithm, not a result: it is how shots are decoded, measured in routing-check.",
}
"""Labels without a study, and why there is none."""


def study_name(label: str) -> str:
    """The study of a label: the same words in kebab case."""
    return label.partition(":")[2].replace("_", "-")

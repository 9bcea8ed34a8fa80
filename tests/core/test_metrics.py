from biselect.core.metrics import f1_at_k


def test_f1_is_the_hit_share_when_sizes_match():
    assert f1_at_k([0, 1, 2, 3], [2, 3, 4, 5]) == 0.5


def test_f1_counts_both_sizes():
    assert f1_at_k([0, 1], [0, 1, 2, 3, 4, 5]) == 0.5
    assert f1_at_k([0], []) == 0
    assert f1_at_k([], []) == 1

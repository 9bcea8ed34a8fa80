import pytest


@pytest.fixture(scope="session", autouse=True)
def gpu():
    """Everything here runs on a GPU, or not at all."""
    cupy = pytest.importorskip("cupy", reason="needs CuPy")
    if not cupy.cuda.is_available():
        pytest.skip("needs a GPU that CuPy can use")

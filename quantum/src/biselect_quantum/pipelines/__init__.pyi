from ._pipeline import Pipeline as Pipeline
from ._pipeline import pipeline as pipeline
from .candidates import table_problem as table_problem
from .page import render_pipeline as render_pipeline

from .html import render_html as render_html
from .html import render_inspection as render_inspection
from .over_time import render_monitor as render_monitor

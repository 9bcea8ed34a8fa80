from ._monitor_view import render_monitor as render_monitor
from .html import render_html as render_html
from .html import render_inspection as render_inspection

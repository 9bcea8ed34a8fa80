from ._monitor_view import render_monitor as render_monitor
from .html import render_html as render_html

"""gunicorn reads this by itself, in both modes. Threads, because a request waits for
the disk; the body comes as a stream, so that caps hold while it is read.
"""

from __future__ import annotations

worker_class = "gthread"
workers = 1
threads = 24
keepalive = 75  # longer than the pause between two uploads of one client
timeout = 60
graceful_timeout = 8
limit_request_line = 8190  # the most there is: a node id may stand in a path
# Loaded once: files replaced on disk change nothing until a restart.
preload_app = True
control_socket_disable = True
loglevel = "warning"

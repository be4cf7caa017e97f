"""The web app: a typed JSON API on localhost, static pages, and solver work in processes of its own.

The server process only moves bytes: it imports no solver. Everything that computes runs in worker processes
(`aleator.apps.web.worker`), which can be stopped, killed and limited in memory one by one.
"""

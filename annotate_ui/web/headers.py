"""The headers of every answer, set in one place."""

from flask import Response, current_app, request

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


def set_headers(response: Response) -> Response:
    """Say what a browser may do with the answer: little, and keep nothing of a page."""
    headers = response.headers
    headers["Content-Security-Policy"] = _POLICY
    headers["Referrer-Policy"] = "no-referrer"
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
    if current_app.config["SESSION_COOKIE_SECURE"]:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if request.endpoint != "static" or response.status_code >= 400:
        headers["Cache-Control"] = "no-store"
    else:
        response.cache_control.immutable = True
    return response

"""The headers of every answer, set in one place: those of OWASP's Secure Headers Project.

https://owasp.org/www-project-secure-headers/ (November 2026).
"""

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
        # No script turns a text into markup, not even one of ours.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_ALWAYS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-DNS-Prefetch-Control": "off",
    "X-Permitted-Cross-Domain-Policies": "none",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def set_headers(response: Response) -> Response:
    """Say what a browser may do with the answer: little, and keep nothing of a page."""
    headers = response.headers
    headers.update(_ALWAYS)
    if current_app.config["SESSION_COOKIE_SECURE"]:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if request.endpoint == "joining.leave":
        headers["Clear-Site-Data"] = '"cache"'
    if request.endpoint not in {"static", "static_control"} or response.status_code >= 400:
        headers["Cache-Control"] = "no-store"
    else:
        response.cache_control.immutable = True
    return response

"""The Flask application for one study."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, request
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from annotate_ui.participants.consent import texts_of
from annotate_ui.tasks.exit_codes import check_exit_codes
from annotate_ui.web.controls.control import control_scripts, install_controls
from annotate_ui.web.error_pages import explain_problems
from annotate_ui.web.owner import (
    activity_page,
    adjudication_page,
    interim_pages,
    item_page,
    items_page,
    overview_page,
    people_pages,
    raters_page,
)
from annotate_ui.web.owner.blueprint import pages as owner_pages
from annotate_ui.web.rate_limits import limiter
from annotate_ui.web.rater import access_pages, consent_page, enrolment_pages, rating_pages
from annotate_ui.web.rater_session import check_host, load_rater, page_context
from annotate_ui.web.translation import install_words, words_of
from study.study import Study

_HOME = Path(__file__).parent
# Raters return with the same browser during a campaign of a few weeks.
_SESSION = timedelta(days=30)
# A comment of 5,000 characters is 60,000 bytes of JSON if each is escaped.
_LARGEST_REQUEST = 128 * 1024


_RATER_PAGES = (access_pages, enrolment_pages, consent_page, rating_pages)
# Importing them gives the owner's blueprint its routes.
_OWNER_PAGES = (
    activity_page,
    adjudication_page,
    interim_pages,
    item_page,
    items_page,
    people_pages,
    overview_page,
    raters_page,
)

# The headers of OWASP's Secure Headers Project, https://owasp.org/www-project-secure-headers/
# (November 2026).
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
        # No script may turn a text into markup, not even one of ours.
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


def create_app(study: Study, secret_key: bytes, *, proxies: int = 0) -> Flask:
    """Return the application that serves a study's rating pages.

    Parameters
    ----------
    study
        An open study. Its settings are read once; after a change of study.toml, start again.
    secret_key
        32 random bytes that sign sessions; anyone who has them can sign in as any rater.
    proxies
        Number of reverse proxies in front, which are trusted to name the client.
    """
    app = Flask(__name__, static_url_path=f"/static/{_version()}")
    # An address that is typed with a slash at its end is the same page.
    app.url_map.strict_slashes = False
    base = urlsplit(study.config.rating.base_url)
    app.config.update(
        STUDY=study.pinned(),
        SECRET_KEY=secret_key,
        # Browsers share cookies between ports, so each study's has its own name.
        SESSION_COOKIE_NAME=f"ccrs_{sha256(b'cookie' + secret_key).hexdigest()[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=base.scheme == "https",
        PERMANENT_SESSION_LIFETIME=_SESSION,
        # Only what begins or ends a session sets its cookie: another answer that is sent at the
        # same time, if only for an icon, would restore the previous session.
        SESSION_REFRESH_EACH_REQUEST=False,
        SEND_FILE_MAX_AGE_DEFAULT=timedelta(days=365),
        MAX_CONTENT_LENGTH=_LARGEST_REQUEST,
        HOSTS=frozenset({base.hostname or "", "127.0.0.1", "localhost", "::1"}),
        # A token is valid as long as its session.
        WTF_CSRF_TIME_LIMIT=None,
        # Our pages send no referrer; the token proves that a request comes from them.
        WTF_CSRF_SSL_STRICT=False,
        RATELIMIT_HEADERS_ENABLED=True,
    )
    # Texts for raters are read now: a missing file stops the start, not a rater.
    texts_of(app.config["STUDY"])
    check_exit_codes(study.config.rating)
    if proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies)  # type: ignore[method-assign]
    app.before_request(check_host)
    app.before_request(load_rater)
    CSRFProtect(app)
    limiter.init_app(app)
    install_words(app, words_of(study), study.config.rating.interface_language)
    install_controls(app, study)
    app.context_processor(page_context)
    app.after_request(_set_headers)
    explain_problems(app)
    for part in _RATER_PAGES:
        app.register_blueprint(part.pages)
    app.register_blueprint(owner_pages)
    return app


def _version() -> str:
    """Return a name for the present contents of the files, so that browsers may cache them."""
    state = sha256()
    for path in (*sorted((_HOME / "static").glob("*")), *control_scripts()):
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.hexdigest()[:12]


def _set_headers(response: Response) -> Response:
    """Set the security headers of an answer; pages are not cached."""
    headers = response.headers
    headers.update(_ALWAYS)
    if current_app.config["SESSION_COOKIE_SECURE"]:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    if request.endpoint == "access.leave":
        headers["Clear-Site-Data"] = '"cache"'
    if request.endpoint not in {"static", "static_control"} or response.status_code >= 400:
        headers["Cache-Control"] = "no-store"
    else:
        response.cache_control.immutable = True
    return response

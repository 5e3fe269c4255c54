"""The Flask application for one study."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from flask import Flask
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from annotate_ui.participants.consent import texts_of
from annotate_ui.tasks.closing import completion
from annotate_ui.web.controls.control import control_scripts, install_controls
from annotate_ui.web.error_pages import explain_problems
from annotate_ui.web.headers import set_headers
from annotate_ui.web.i18n.catalogues import words_of
from annotate_ui.web.i18n.translation import install_words
from annotate_ui.web.owner import routes as owner
from annotate_ui.web.rate_limits import limiter
from annotate_ui.web.rater import (
    closing_page,
    comparison_page,
    consent_page,
    enrolment_pages,
    history_page,
    link_pages,
    rating_pages,
    withdrawal_page,
)
from annotate_ui.web.rater_session import check_host, load_rater, page_context
from study.study import Study

_HOME = Path(__file__).parent
# A rater comes back with the same browser for as long as a campaign of a few weeks lasts.
_SESSION = timedelta(days=30)
# A comment of 5,000 characters is 60,000 bytes of JSON if each is escaped.
_LARGEST_REQUEST = 128 * 1024


def create_app(study: Study, secret_key: bytes, *, proxies: int = 0) -> Flask:
    """Return the application that serves a study's rating pages.

    Parameters
    ----------
    study
        An open study. Its settings are read once; a changed study.toml asks for a new start.
    secret_key
        32 random bytes that sign sessions; whoever has them can be any rater.
    proxies
        How many reverse proxies stand in front and are trusted to name the client.
    """
    app = Flask(__name__, static_url_path=f"/static/{_version()}")
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
        # Only what begins or ends a session sets its cookie: an answer that was under way then,
        # if only to a request for an icon, would set the session of before once more.
        SESSION_REFRESH_EACH_REQUEST=False,
        SEND_FILE_MAX_AGE_DEFAULT=timedelta(days=365),
        MAX_CONTENT_LENGTH=_LARGEST_REQUEST,
        HOSTS=frozenset({base.hostname or "", "127.0.0.1", "localhost", "::1"}),
        # A token holds as long as its session does.
        WTF_CSRF_TIME_LIMIT=None,
        # Our pages send no referrer; the token is what proves a request ours.
        WTF_CSRF_SSL_STRICT=False,
        RATELIMIT_HEADERS_ENABLED=True,
    )
    # What raters are to read is read now: a file that is missing stops the start, not a rater.
    texts_of(app.config["STUDY"])
    completion(study.config.rating)
    if proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies)  # type: ignore[method-assign]
    app.before_request(check_host)
    app.before_request(load_rater)
    CSRFProtect(app)
    limiter.init_app(app)
    install_words(app, words_of(study), study.config.rating.interface_language)
    install_controls(app, study)
    app.context_processor(page_context)
    app.after_request(set_headers)
    explain_problems(app)
    raters = (
        link_pages,
        enrolment_pages,
        consent_page,
        withdrawal_page,
        rating_pages,
        comparison_page,
        history_page,
        closing_page,
    )
    for part in (*raters, owner):
        app.register_blueprint(part.pages)
    return app


def _version() -> str:
    """Return a name for the files as they are, so that browsers may keep them for good."""
    state = sha256()
    for path in (*sorted((_HOME / "static").glob("*")), *control_scripts()):
        state.update(path.name.encode() + b"\0" + path.read_bytes())
    return state.hexdigest()[:12]

"""The owner signs in and out."""

from flask import abort, redirect, render_template, request
from flask.typing import ResponseReturnValue

from annotate_ui.web.owner import owner_session
from annotate_ui.web.owner.blueprint import SIGN_IN, pages
from annotate_ui.web.owner.password import is_right, newest_password
from annotate_ui.web.rate_limits import FORBIDDEN, all_log_ins, log_ins
from annotate_ui.web.rater_session import study


@pages.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    """Ask for the password."""
    return render_template("owner/sign_in.html", why=request.args.get("why"), failed=False)


@pages.post("/sign-in")
@log_ins
@all_log_ins
def begin() -> ResponseReturnValue:
    """Begin a session if the password is right."""
    with study().read() as connection:
        password = newest_password(connection)
    if password is None:
        abort(404)
    if not is_right(password, request.form.get("password", "")):
        return render_template("owner/sign_in.html", why=None, failed=True), FORBIDDEN
    owner_session.begin(password.id)
    return redirect("/owner", 303)


@pages.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End the session."""
    owner_session.end()
    return redirect(f"{SIGN_IN}?why=left", 303)

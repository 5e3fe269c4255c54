// The link's token is after the #, so it never reaches a server's log; Begin posts it and
// clears the address.

import { _ } from "./words.js";

const form = document.getElementById("join");
const message = document.getElementById("incomplete");
const token = () => location.hash.slice(1);

function check() {
  const words = token() ? "" : _("This link is incomplete: the part after # is missing. Copy the whole link from your invitation, or ask for a new one.");
  message.textContent = words;
  message.hidden = !words;
}

form.addEventListener("submit", (event) => {
  if (!token()) {
    event.preventDefault();
    check();
    return;
  }
  form.elements.token.value = token();
  history.replaceState(null, "", location.pathname);
});
addEventListener("hashchange", check);
check();

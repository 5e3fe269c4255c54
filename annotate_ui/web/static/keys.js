// The list of keys: by its button, or by "?" outside of fields, which can be switched off.

const NAME = "ccrs-keys";
const FIELDS = "input, textarea, select, [contenteditable]";

function isOn() {
  try {
    return localStorage.getItem(NAME) !== "off";
  } catch {
    return true;
  }
}

export function watchKeys() {
  const [dialog, opens, box] = ["keys", "keys-open", "keys-on"].map((id) => document.getElementById(id));
  const open = () => {
    box.checked = isOn();
    dialog.showModal();
  };
  opens.addEventListener("click", open);
  box.addEventListener("change", () => {
    try {
      localStorage.setItem(NAME, box.checked ? "on" : "off");
    } catch {
      // Then the setting applies to this page only.
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (dialog.open || !isOn() || event.target.closest?.(FIELDS)) return;
    event.preventDefault();
    open();
  });
}

// How responses, passages and references are shown: as written, or rendered. The owner chooses, the
// rater may switch, and each value is sent with what the page had shown until then.

import { parts } from "./page_parts.js";

const CHOSEN = "text-format";
const SHOWN = "shown-formats";

// Returns a function that tells what was shown: plain, monospace, rendered, or both of the latter.
parts.watchTextFormat = function watchTextFormat(store) {
  const button = document.getElementById("text-format");
  const rendered = [...document.querySelectorAll("[data-format=rendered]")];
  const texts = [...rendered, ...document.querySelectorAll("[data-format=monospace]")];
  // Without a text that can be rendered there is nothing to choose.
  if (rendered.length === 0) {
    button.hidden = true;
    return () => "monospace";
  }
  let format = store.read(CHOSEN, button.dataset.default) === "rendered" ? "rendered" : "monospace";
  const before = store.read(SHOWN, {});
  const shown = new Set(before.page === location.pathname ? before.formats : []);

  // A text that is wider than the page scrolls, by keyboard as well.
  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  rendered.forEach((text) => widths.observe(text));

  function show() {
    for (const text of texts) text.hidden = text.dataset.format !== format;
    button.textContent = format === "rendered" ? button.dataset.toWritten : button.dataset.toRendered;
    shown.add(format);
    store.write(SHOWN, { page: location.pathname, formats: [...shown] });
    document.dispatchEvent(new Event("textformat"));
  }

  button.addEventListener("click", () => {
    format = format === "rendered" ? "monospace" : "rendered";
    store.write(CHOSEN, format);
    show();
  });
  show();
  return () => (shown.size > 1 ? "both" : format);
};

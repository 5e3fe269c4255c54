// The pages' words: the scripts contain English; another language comes with the page.

const block = document.getElementById("words");
const { language, plural, words } = { language: "en", plural: "", words: {}, ...JSON.parse(block?.textContent || "{}") };

export const locale = language;

const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (whole, name) => (name in values ? values[name] : whole));

export function _(text, values = {}) {
  const translated = words[text];
  return fill(typeof translated === "string" && translated ? translated : text, values);
}

// The text for a count; `%(num)s` in it is the count.
export function ngettext(oneText, manyText, count, values = {}) {
  const forms = words[oneText];
  const form = plural[count < 200 ? count : 100 + (count % 100)];
  const translated = Array.isArray(forms) ? forms[form] : null;
  return fill(translated || (count === 1 ? oneText : manyText), { num: count, ...values });
}

// A time of day as people in this language write it.
export function clockTime(date) {
  const style = { hour: "2-digit", minute: "2-digit" };
  return date.toLocaleTimeString(language === "en" ? "en-GB" : language, style);
}

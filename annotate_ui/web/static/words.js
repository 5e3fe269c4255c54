// The pages' words: English stands in the scripts; another language comes with the page.

const block = document.getElementById("words");
const { language, plural, words } = { language: "en", plural: "", words: {}, ...JSON.parse(block?.textContent || "{}") };

export const locale = language;

const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (whole, name) => (name in values ? values[name] : whole));

export function _(text, values = {}) {
  const found = words[text];
  return fill(typeof found === "string" && found ? found : text, values);
}

// The text for a count; `%(num)s` in it is the count.
export function ngettext(one, many, count, values = {}) {
  const forms = words[one];
  const form = plural[count < 200 ? count : 100 + (count % 100)];
  const found = Array.isArray(forms) ? forms[form] : null;
  return fill(found || (count === 1 ? one : many), { num: count, ...values });
}

// A time of day as people in this language write it.
export function clockTime(date) {
  const style = { hour: "2-digit", minute: "2-digit" };
  return date.toLocaleTimeString(language === "en" ? "en-GB" : language, style);
}

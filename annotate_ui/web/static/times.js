// Times in the reader's own zone and language; without this script they are in UTC.

import { locale } from "./words.js";

const style = { dateStyle: "medium", timeStyle: "short" };
const wanted = locale === "en" ? "en-GB" : locale;
for (const time of document.querySelectorAll("time[datetime]")) {
  const date = new Date(time.dateTime);
  if (!Number.isNaN(date.valueOf())) time.textContent = date.toLocaleString(wanted, style);
}

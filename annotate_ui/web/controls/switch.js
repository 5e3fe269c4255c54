// Named values as large buttons, each with a key.

import { openChoice } from "../choice.js";
import { register } from "../controls.js";

register("switch", (box, options) => {
  const choices = [...box.querySelectorAll("input")];
  return {
    ...openChoice(box, options),
    focus: () => (choices.find((choice) => choice.checked) ?? choices[0]).focus(),
    press: (key) => {
      const pressed = choices.find((choice) => choice.dataset.key === key.toLowerCase());
      pressed?.focus();
      if (pressed) options.commit(Number(pressed.value));
      return Boolean(pressed);
    },
  };
});

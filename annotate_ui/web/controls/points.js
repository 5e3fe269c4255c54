// The points of a scale as radio buttons.

import { openChoice } from "../choice.js";
import { register } from "../controls.js";

register("points", openChoice);

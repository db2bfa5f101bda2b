// The engine as a script of its own, with what makes the data of views of its records: a browser fetches it when
// somebody begins to type, and not before.

import { stepsOf } from "../steps/of_sites.js";
import { saysOf, sceneOf } from "../whole_model/of_sites.js";
import { fetchEngine } from "./fetching.js";

export default { fetchEngine, stepsOf, saysOf, sceneOf };

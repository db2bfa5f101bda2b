// The engine as a script of its own, with what makes the data of views of its records: a browser fetches it when
// somebody begins to type, and not before.

import { saysOf, sceneOf } from "../whole_model/from_record.ts";
import { fetchEngine } from "./fetching.ts";
import { stepsOf } from "./weights.ts";

export default { fetchEngine, stepsOf, saysOf, sceneOf };

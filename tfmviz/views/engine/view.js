// The engine as a script of its own: a browser fetches it when somebody begins to type, and not before.

import { fetchEngine } from "./fetching.js";

export default fetchEngine;

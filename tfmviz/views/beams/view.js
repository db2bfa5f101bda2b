// The tree of a beam search as a Streamlit component.

import { component } from "../shared/meet.js";
import { BeamTree } from "./tree.js";

export default component((parent, page) => new BeamTree(parent, page));

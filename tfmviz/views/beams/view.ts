// The tree of a beam search as a Streamlit component.

import { component } from "../shared/meet.ts";
import { BeamTree } from "./tree.ts";

export default component((parent, page) => new BeamTree(parent, page));

// The logit lens as a Streamlit component.

import { component } from "../shared/meet.js";
import { Lens } from "./lens.js";

export default component((parent, page) => new Lens(parent, page));

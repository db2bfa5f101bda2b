// The whole model as a Streamlit component.

import { component } from "../shared/meet.js";
import { Whole } from "./whole.js";

export default component((parent, page) => new Whole(parent, page));

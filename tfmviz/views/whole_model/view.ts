// The whole model as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Whole } from "./whole.ts";

export default component((parent, page) => new Whole(parent, page));

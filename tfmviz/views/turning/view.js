// The arrows as a Streamlit component.

import { component } from "../shared/meet.js";
import { Turning } from "./turning.js";

export default component((parent, page) => new Turning(parent, page));

// The arrows as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Turning } from "./turning.ts";

export default component((parent, page) => new Turning(parent, page));

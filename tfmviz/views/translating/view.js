// The translation as a Streamlit component.

import { component } from "../shared/meet.js";
import { Translation } from "./translation.js";

export default component((parent, page) => new Translation(parent, page));

// The translation as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Translation } from "./translation.ts";

export default component((parent, page) => new Translation(parent, page));

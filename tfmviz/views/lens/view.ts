// The logit lens as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Lens } from "./lens.tsx";

export default component((parent, page) => new Lens(parent, page));

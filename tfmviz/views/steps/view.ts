// The stages as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Steps } from "./steps.ts";

export default component((parent, page) => new Steps(parent, page));

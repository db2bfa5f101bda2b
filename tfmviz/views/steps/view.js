// The stages as a Streamlit component.

import { component } from "../shared/meet.js";
import { Steps } from "./steps.js";

export default component((parent, page) => new Steps(parent, page));

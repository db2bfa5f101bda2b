// The mask laboratory as a Streamlit component.

import { component } from "../shared/meet.js";
import { Lab } from "./lab.js";

export default component((parent, page) => new Lab(parent, page));

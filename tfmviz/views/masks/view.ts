// The mask laboratory as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Lab } from "./lab.tsx";

export default component((parent, page) => new Lab(parent, page));

// Cells as a Streamlit component.

import { component } from "../shared/meet.js";
import { Cells } from "./cells.js";

export default component((parent, page) => new Cells(parent, page));

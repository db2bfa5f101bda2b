// Cells as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Cells } from "./cells.ts";

export default component((parent, page) => new Cells(parent, page));

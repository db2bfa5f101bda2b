// The explorer as a Streamlit component: its data are a payload's bytes.

import { component } from "../shared/streamlit_bridge.ts";
import { Explorer } from "./explorer.ts";

export default component((parent, page) => new Explorer(parent, page));

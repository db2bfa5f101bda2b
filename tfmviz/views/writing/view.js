// The writing desk as a Streamlit component.

import { component } from "../shared/meet.js";
import { Desk } from "./desk.js";

export default component((parent, page) => new Desk(parent, page));

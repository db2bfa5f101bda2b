// The writing desk as a Streamlit component.

import { component } from "../shared/meet.ts";
import { Desk } from "./desk.tsx";

export default component((parent, page) => new Desk(parent, page));

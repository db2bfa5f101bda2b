// A feed-forward layer as a Streamlit component.

import { component } from "../shared/meet.js";
import { FeedForward } from "./feed_forward.js";

export default component((parent, page) => new FeedForward(parent, page));

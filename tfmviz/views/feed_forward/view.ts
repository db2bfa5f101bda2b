// A feed-forward layer as a Streamlit component.

import { component } from "../shared/meet.ts";
import { FeedForward } from "./feed_forward.ts";

export default component((parent, page) => new FeedForward(parent, page));

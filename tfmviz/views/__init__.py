"""Client-side components: plain JavaScript and CSS, one folder each. `ui/` mounts them."""

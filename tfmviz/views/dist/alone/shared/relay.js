// npm run build
function o(e){return globalThis.tfmvizViews??={},globalThis.tfmvizViews[e]??={},globalThis.tfmvizViews[e]}function r({data:e}){let t=e,i=o(t.view);i.selection=t,i.view?.select(t)}export{r as default};

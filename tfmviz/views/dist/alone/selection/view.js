// npm run build
function i(e){return globalThis.tfmvizViews??={},globalThis.tfmvizViews[e]??={},globalThis.tfmvizViews[e]}var r=e=>t=>{let a=t.parentElement;return a.trigger_=t.setTriggerValue,a.part_??=e(a,t.data,(o,n)=>a.trigger_?.(o,n)),a.part_.take?.(t.data),a.part_.leave};var l=r(()=>({take:e=>{let t=i(e.view);t.selection=e,t.view?.select(e)}}));export{l as default};

// npm run build
function a(e){return globalThis.tfmvizViews??={},globalThis.tfmvizViews[e]??={},globalThis.tfmvizViews[e]}var o=e=>t=>{let i=t.parentElement;return i.trigger_=t.setTriggerValue,i.part_??=e(i,t.data,(n,r)=>i.trigger_?.(n,r)),i.part_.take?.(t.data),i.part_.leave};var l=o(()=>({take:e=>{let t=a(e.view);t.selection=e,t.view?.select(e)}}));export{l as default};

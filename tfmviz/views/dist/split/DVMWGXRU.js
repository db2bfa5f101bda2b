import{part as t,registryEntry as i}from"./F5YTWFZL.js";var w=t(()=>({take:e=>{let r=i(e.view);r.selection=e,r.view?.select(e)}}));export{w as default};

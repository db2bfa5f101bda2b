import{a as t,c as i}from"./JZZQGUDK.js";var w=i(()=>({take:e=>{let r=t(e.view);r.selection=e,r.view?.select(e)}}));export{w as default};

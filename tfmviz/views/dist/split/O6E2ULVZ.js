import{a as t,d as i}from"./JJ4LFG63.js";var w=i(()=>({take:e=>{let r=t(e.view);r.selection=e,r.view?.select(e)}}));export{w as default};

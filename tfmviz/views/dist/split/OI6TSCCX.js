import{a as t,d as i}from"./D6ASKU6A.js";var w=i(()=>({take:e=>{let r=t(e.view);r.selection=e,r.view?.select(e)}}));export{w as default};

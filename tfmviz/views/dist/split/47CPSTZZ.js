import{a as r,c as i}from"./MTTFXOLO.js";var w=i(()=>({take:e=>{let t=r(e.view);t.selection=e,t.view?.select(e)}}));export{w as default};

import{a as r,c as i}from"./4LOMIXD5.js";var s=i(()=>({take:e=>{let t=r(e.view);t.selection=e,t.view?.select(e)}}));export{s as default};

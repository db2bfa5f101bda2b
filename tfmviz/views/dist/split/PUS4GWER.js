import{a as n}from"./4LOMIXD5.js";function s({data:o}){let e=o,t=n(e.view);t.selection=e,t.view?.select(e)}export{s as default};

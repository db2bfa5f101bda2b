var r=({places:n},e,i=-1)=>n[e]?.[i];function u({places:n},e=-1,i=Object.keys(n)){let t=i.find(o=>n[o]?.includes(e));return t===void 0?null:{text:t,position:n[t].indexOf(e)}}export{r as a,u as b};

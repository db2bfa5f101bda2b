function a(t){let[r,n,e]=t.split(".");return n===void 0?t:`${r} layer ${n}${e==="cross_attn"?" cross-attention":""}`}export{a};

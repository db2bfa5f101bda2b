var o=t=>({onPointerEnter:()=>t(!0),onPointerLeave:()=>t(!1),onFocusIn:()=>t(!0),onFocusOut:()=>t(!1)});export{o as a};

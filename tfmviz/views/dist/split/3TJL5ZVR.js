import{a as g}from"./AWQZLBAJ.js";import{a as r,b as h,c as u}from"./THORPJJL.js";import{f as a,g as m}from"./YBPUJS5S.js";import{c as p}from"./4LOMIXD5.js";var S=["TextInput","TextArea","NumberInput"],f=["Selectbox","Slider","ButtonGroup","Radio","Checkbox","MultiSelect",...S],v=[...f.map(o=>`.st${o}`),"[data-veils]",".stVegaLiteChart"],b=`${r} [data-testid=stElementContainer]:not(:has(${v}))`,x=`
    :has(> [class*="st-key-question-"]) {
      display: flex !important; position: relative; z-index: 10;
      height: 0; min-height: 0; margin-bottom: calc(-1 * var(--gap, 0.45rem));
    }
    [class*="st-key-question-"] { position: absolute; right: 0; bottom: 0; left: 0; box-shadow: 0 2px 8px #0006; }`,E={"":"",hidden:`
    ${b} *, ${r} :is(.role-mark, .tfmviz-bar) { visibility: hidden !important; }
    ${b}:has([data-testid^=stBidiComponent], .stTable) { outline: 2px dashed; outline-offset: -2px; }
    ${x}`,shown:x},$=p(o=>{let s=a("style"),e=m("Guess",{title:"Hides the values until the room has guessed (key g)"}),n=t=>{let c=t==="hidden";e.textContent=c?"Show":"Guess",e.ariaPressed=String(c),s.textContent=E[t],u(t)},d=()=>n(h()==="hidden"?"shown":"hidden"),l=()=>n(new URLSearchParams(location.search).get("guess")==="1"?"hidden":""),y=t=>{t.key==="g"&&!t.ctrlKey&&!t.metaKey&&!t.altKey&&!g(t)&&d()};e.onclick=d,document.head.append(s);let i=new AbortController;return document.addEventListener("keydown",y,{capture:!0,signal:i.signal}),window.addEventListener("popstate",l,i),o.append(a("div",{className:"view"},e)),l(),{leave:()=>{n(""),s.remove(),i.abort()}}});export{$ as default};

import{b as g}from"./D62JV6MS.js";import{a as r,b as h,c as u}from"./THORPJJL.js";import{t as a,u as m}from"./QSCDOIVO.js";import{c as p}from"./4LOMIXD5.js";var f=["TextInput","TextArea","NumberInput"],v=["Selectbox","Slider","ButtonGroup","Radio","Checkbox","MultiSelect",...f],E=[...v.map(o=>`.st${o}`),"[data-veils]",".stVegaLiteChart"],y=`${r} [data-testid=stElementContainer]:not(:has(${E}))`,b=`
    :has(> [class*="st-key-question-"]) {
      display: flex !important; position: relative; z-index: 10;
      height: 0; min-height: 0; margin-bottom: calc(-1 * var(--gap, 0.45rem));
    }
    [class*="st-key-question-"] { position: absolute; right: 0; bottom: 0; left: 0; box-shadow: 0 2px 8px #0006; }`,w={"":"",hidden:`
    ${y} *, ${r} :is(.role-mark, .tfmviz-bar) { visibility: hidden !important; }
    ${y}:has([data-testid^=stBidiComponent], .stTable) { outline: 2px dashed; outline-offset: -2px; }
    ${b}`,shown:b},K=p(o=>{let s=a("style"),e=m("Guess",{title:"Hides the values until the room has guessed (key g)"}),n=t=>{let c=t==="hidden";e.textContent=c?"Show":"Guess",e.ariaPressed=String(c),s.textContent=w[t],u(t)},d=()=>n(h()==="hidden"?"shown":"hidden"),l=()=>n(new URLSearchParams(location.search).get("guess")==="1"?"hidden":""),x=t=>{t.key==="g"&&!t.ctrlKey&&!t.metaKey&&!t.altKey&&!g(t)&&d()};e.onclick=d,document.head.append(s);let i=new AbortController,S={capture:!0,signal:i.signal};return document.addEventListener("keydown",x,S),window.addEventListener("popstate",l,i),o.append(a("div",{className:"view"},e)),l(),{leave:()=>{n(""),s.remove(),i.abort()}}});export{K as default};

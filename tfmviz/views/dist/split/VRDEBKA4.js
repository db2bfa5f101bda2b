import{a as m}from"./AWQZLBAJ.js";import{a as d,b as h,c as p}from"./THORPJJL.js";import{f as a,g as u}from"./C675G5UJ.js";var f=["TextInput","TextArea","NumberInput"],v=["Selectbox","Slider","ButtonGroup","Radio","Checkbox","MultiSelect",...f],x=[...v.map(e=>`.st${e}`),"[data-veils]",".stVegaLiteChart"],g=`${d} [data-testid=stElementContainer]:not(:has(${x}))`,S=`
    :has(> [class*="st-key-question-"]) {
      display: flex !important; position: relative; z-index: 10;
      height: 0; min-height: 0; margin-bottom: calc(-1 * var(--gap, 0.45rem));
    }
    [class*="st-key-question-"] { position: absolute; right: 0; bottom: 0; left: 0; box-shadow: 0 2px 8px #0006; }`,y={"":"",hidden:`
    ${g} *, ${d} :is(.role-mark, .tfmviz-bar) { visibility: hidden !important; }
    ${g}:has([data-testid^=stBidiComponent], .stTable) { outline: 2px dashed; outline-offset: -2px; }
    ${S}`,shown:S};function T({parentElement:e}){return e.leave_??=w(e),e.leave_}function w(e){let s=a("style"),o=u("Guess",{title:"Hides the values until the room has guessed (key g)"}),n=t=>{let c=t==="hidden";o.textContent=c?"Show":"Guess",o.ariaPressed=String(c),s.textContent=y[t],p(t)},r=()=>n(h()==="hidden"?"shown":"hidden"),l=()=>n(new URLSearchParams(location.search).get("guess")==="1"?"hidden":""),b=t=>{t.key==="g"&&!t.ctrlKey&&!t.metaKey&&!t.altKey&&!m(t)&&r()};o.onclick=r,document.head.append(s);let i=new AbortController;return document.addEventListener("keydown",b,{capture:!0,signal:i.signal}),window.addEventListener("popstate",l,i),e.append(a("div",{className:"view"},o)),l(),()=>{n(""),s.remove(),i.abort()}}export{T as default};

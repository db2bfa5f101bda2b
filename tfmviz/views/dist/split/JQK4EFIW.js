import{b as p}from"./D62JV6MS.js";import{a as d,b as h,c as m}from"./THORPJJL.js";import{t as a,u}from"./E6GQCQ4E.js";var S=["TextInput","TextArea","NumberInput"],y=["Selectbox","Slider","ButtonGroup","Radio","Checkbox","MultiSelect",...S],f=[...y.map(t=>`.st${t}`),"[data-veils]",".stVegaLiteChart"],g=`${d} [data-testid=stElementContainer]:not(:has(${f}))`,v=`
    :has(> [class*="st-key-question-"]) {
      display: flex !important; position: relative; z-index: 10;
      height: 0; min-height: 0; margin-bottom: calc(-1 * var(--gap, 0.45rem));
    }
    [class*="st-key-question-"] { position: absolute; right: 0; bottom: 0; left: 0; box-shadow: 0 2px 8px #0006; }`,w={"":"",hidden:`
    ${g} *, ${d} :is(.role-mark, .tfmviz-bar) { visibility: hidden !important; }
    ${g}:has([data-testid^=stBidiComponent], .stTable) { outline: 2px dashed; outline-offset: -2px; }
    ${v}`,shown:v};function L({parentElement:t}){return t.leave_??=x(t),t.leave_}function x(t){let s=a("style"),o=u("Guess",{title:"Hides the values until the room has guessed (key g)"}),n=e=>{let c=e==="hidden";o.textContent=c?"Show":"Guess",o.ariaPressed=String(c),s.textContent=w[e],m(e)},r=()=>n(h()==="hidden"?"shown":"hidden"),i=()=>n(new URLSearchParams(location.search).get("guess")==="1"?"hidden":""),l=e=>{e.key==="g"&&!e.ctrlKey&&!e.metaKey&&!e.altKey&&!p(e)&&r()};return o.onclick=r,document.head.append(s),document.addEventListener("keydown",l,!0),window.addEventListener("popstate",i),t.append(a("div",{className:"view"},o)),i(),()=>{n(""),s.remove(),document.removeEventListener("keydown",l,!0),window.removeEventListener("popstate",i)}}export{L as default};

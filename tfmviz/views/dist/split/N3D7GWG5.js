var r=["multipli­cations","tempera­ture"],a=t=>r.reduce((c,e)=>c.replace(e.replace("­",""),e),t);export{a};

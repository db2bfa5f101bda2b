var d=(n,o)=>`“${n[o]}”${n.indexOf(n[o])===n.lastIndexOf(n[o])?"":` (token ${o})`}`;export{d as a};

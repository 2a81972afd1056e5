//! The style sheet: one column, system fonts, contrast of at least 7:1 for
//! text, and a page that prints without its decoration.

pub(super) const STYLE: &str = "
:root{--ink:#1b2430;--soft:#48525f;--line:#d5dbe3;--tint:#f4f6f9;--blue:#1f4e8c;--good:#17603a;--goodbg:#e5f4ea;--warn:#6b4300;--warnbg:#fff3d6;--bad:#8f1d1d;--badbg:#fbe9e7}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:54rem;padding:1.5rem 1.25rem 3rem;color:var(--ink);background:#fff;font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:#fff;padding:.5rem}
header{border-bottom:3px solid var(--blue);padding-bottom:.75rem;margin-bottom:1rem}
.brand{margin:0;color:var(--blue);font-weight:700;letter-spacing:.08em;text-transform:uppercase;font-size:.8rem}
h1{font-size:1.75rem;line-height:1.2;margin:.15rem 0 0}
h2{font-size:1.3rem;line-height:1.25;margin:2.4rem 0 .6rem;padding-top:.4rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.5rem 0 .4rem}
p{margin:.5rem 0;max-width:44rem}
a{color:var(--blue)}
nav ol{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:0;padding:0;list-style:none;font-size:.9rem}
.about{display:flex;flex-wrap:wrap;gap:.2rem 2rem;margin:.6rem 0 0}
.about div{display:flex;gap:.4rem}.about dt{color:var(--soft)}.about dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.verdict{border-left:.45rem solid;padding:.7rem 1rem;margin:1rem 0}
.verdict strong{display:block;font-size:1.15rem}
.verdict p{margin:.3rem 0}.verdict ul{margin:.4rem 0}
.green{background:var(--goodbg);border-color:var(--good);color:var(--good)}
.amber{background:var(--warnbg);border-color:#b87a00;color:var(--warn)}
.red{background:var(--badbg);border-color:var(--bad);color:var(--bad)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin:1rem 0;padding:0}
.facts div{background:var(--tint);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .8rem}
.facts dt{font-size:.82rem;color:var(--soft)}
.facts dd{margin:0;font-size:1.35rem;font-weight:650;font-variant-numeric:tabular-nums}
ul{max-width:44rem;padding-left:1.2rem}
li{margin:.25rem 0}
.yes li::marker{content:'\\2713  ';color:var(--good)}
.no li::marker{content:'\\2717  ';color:var(--bad)}
.table{margin:1rem 0}
table{border-collapse:collapse;font-size:.93rem;min-width:min(100%,24rem);max-width:100%}
caption{text-align:left;font-weight:600;padding:.2rem 0 .4rem}
th,td{text-align:left;padding:.35rem 1.1rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
thead th{border-bottom:2px solid var(--soft);color:var(--soft);font-size:.85rem}
tbody th{font-weight:600}
.n,thead .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
figure{margin:1.2rem 0;max-width:36rem}
figcaption{font-weight:600;margin-bottom:.3rem}
svg{width:100%;height:auto;display:block}
svg text{font-family:inherit;fill:var(--ink)}
.words{margin:.6rem 0;max-width:44rem}.words div{margin:.25rem 0}.words dt{display:inline;font-weight:600}.words dt::after{content:': '}.words dd{display:inline;margin:0}
code,.long{overflow-wrap:anywhere}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.88rem}
pre{background:var(--tint);border:1px solid var(--line);border-radius:.4rem;padding:.7rem .9rem;white-space:pre-wrap;overflow-wrap:anywhere}
.cluster{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;padding:.6rem .9rem .8rem;break-inside:avoid}
.cluster .cluster{background:#fff}
.cluster h4{margin:0 0 .5rem;font-size:.95rem}
.chunks{display:flex;flex-wrap:wrap;gap:.75rem;align-items:flex-start}
.chunk{border:1px solid var(--line);border-radius:.35rem;background:var(--tint);min-width:8rem;max-width:100%;flex:0 1 auto}
.chunk h5{margin:0;padding:.3rem .6rem;font-size:.8rem;color:var(--soft);border-bottom:1px solid var(--line);font-weight:600}
.chunk ul{list-style:none;margin:0;padding:.35rem .6rem;font-size:.88rem;overflow-wrap:anywhere}
.chunk li{margin:.1rem 0}
.shared{background:#eef3fb}.terms{background:#fbf6e9}
.times{color:var(--soft);font-variant-numeric:tabular-nums}
.note{color:var(--soft);font-size:.92rem}
footer{margin-top:3rem;border-top:1px solid var(--line);color:var(--soft);font-size:.85rem}
@media screen and (max-width:48rem){.table table,.table tbody,.table tr,.table th,.table td,.table caption{display:block}.table thead{display:none}.table tr{border-bottom:2px solid var(--line);padding:.3rem 0}.table th,.table td,.table .n{display:flex;justify-content:space-between;gap:1rem;border:0;padding:.1rem 0;text-align:right;white-space:normal;overflow-wrap:anywhere}.table th::before,.table td::before{content:attr(data-h);color:var(--soft);font-weight:400;text-align:left;flex:0 0 auto;max-width:45%}}
@media(max-width:30rem){body{padding:1rem .9rem 2rem}h1{font-size:1.4rem}h2{font-size:1.15rem}.facts{grid-template-columns:1fr 1fr}.facts dd{font-size:1.15rem}}
@media print{html{font-size:10pt}body{max-width:none;padding:0}nav,.skip{display:none}h2,h3,h4,caption,figcaption{break-after:avoid}table{font-size:.85rem;width:100%}thead th{font-size:.8rem}th,td{padding-right:.6rem;overflow-wrap:break-word}tr,figure,.verdict,.facts{break-inside:avoid}p,ul,.words{max-width:none}a{color:inherit;text-decoration:none}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}@page{size:A4;margin:18mm}}
";

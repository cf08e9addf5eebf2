"""Style sheet of the report page: light and dark, for desktop, phone and print."""

_LIGHT = (
    "--paper:#fbfaf7;--card:#fff;--ink:#26221c;--soft:#6b6357;--line:#e4dfd5;--accent:#c2410c;"
    "--accent-ink:#9a3412;--wash:#fdf1e8;--second:#0f766e"
)
_DARK = (
    "--paper:#171512;--card:#201d19;--ink:#ece6dc;--soft:#a49a8b;--line:#37322b;--accent:#ff8a4c;"
    "--accent-ink:#ffb086;--wash:#2d211a;--second:#5ecdc2"
)
_FONTS = (
    '--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;'
    '--mono:ui-monospace,"SF Mono","Cascadia Code","DejaVu Sans Mono",Menlo,Consolas,monospace'
)
PALETTE = f"""
:root{{color-scheme:light;{_LIGHT};{_FONTS}}}
@media screen and (prefers-color-scheme:dark){{
:root:not([data-theme=light]){{color-scheme:dark;{_DARK}}}}}
:root[data-theme=dark]{{color-scheme:dark;{_DARK}}}
"""
"""Colours and fonts of a page whose reader may choose light or dark."""

PAGE_STYLE = (
    f"""
:root{{color-scheme:light dark;{_LIGHT};{_FONTS}}}
@media screen and (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
"""
    + """*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 var(--sans)}
main{max-width:62rem;margin:0 auto;padding:3rem 1.5rem 4rem}
header{margin-bottom:2.5rem}
.made{color:var(--accent-ink);font-size:.8rem;font-weight:600;letter-spacing:.08em;
text-transform:uppercase;margin:0 0 .6rem}
h1{font-size:clamp(1.7rem,4vw,2.5rem);line-height:1.15;letter-spacing:-.022em;margin:0 0 .7rem;
overflow-wrap:anywhere}
.summary{font-size:1.1rem;color:var(--soft);max-width:46rem;margin:0}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;margin-top:1.3rem;font-size:.9rem}
nav a{color:var(--ink);text-decoration:none;border-bottom:1px solid var(--line)}
nav a:hover{border-color:var(--accent);color:var(--accent-ink)}
section{margin-top:3rem;scroll-margin-top:1rem}
h2{font-size:1.25rem;letter-spacing:-.01em;margin:0 0 1rem;padding-bottom:.4rem;
border-bottom:1px solid var(--line)}
p{margin:0 0 .8rem}
.hint{color:var(--soft);font-size:.9rem;max-width:46rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr));gap:1rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;
padding:1.1rem 1.2rem}
.card .name{font-size:.85rem;font-weight:600;color:var(--soft)}
.card .value{font-size:2.3rem;font-weight:650;letter-spacing:-.03em;line-height:1.2;
font-variant-numeric:tabular-nums}
.card .baseline,.card .note{font-size:.85rem;color:var(--soft)}
.card .baseline b{color:var(--ink);font-weight:600;font-variant-numeric:tabular-nums}
.bar{display:block;width:100%;height:8px;margin:.55rem 0 .6rem;border-radius:4px}
.bar .whole{fill:var(--line)}.bar .part{fill:var(--accent)}.bar .mark{fill:var(--ink)}
.signature{margin:.5rem 0 0;font:.72rem/1.45 var(--mono);color:var(--soft);overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1rem}
.charts .card{padding:.9rem .9rem .5rem}
.tabs{display:flex;flex-wrap:wrap;gap:.4rem;margin:0 0 1rem}
.choice{position:absolute;opacity:0;width:1px;height:1px;pointer-events:none}
.tabs label{cursor:pointer;padding:.28rem .75rem;border:1px solid var(--line);border-radius:99px;
font-size:.85rem;background:var(--card);color:var(--soft);user-select:none}
.tabs label:hover{color:var(--ink);border-color:var(--soft)}
.shown{display:none}
.head{display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 2rem}
.head .tabs{flex:0 0 100%}.head .shown{max-width:100%}.head .words{flex:1 1 19rem}
.scroll{overflow-x:auto;padding-bottom:.3rem}
.scroll svg{display:block;max-width:none}
table{border-collapse:collapse;width:100%;font-size:.95rem}
th,td{text-align:left;vertical-align:top;padding:.6rem .8rem .6rem 0;
border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-size:.8rem;font-weight:600;color:var(--soft)}
.samples{table-layout:fixed}
.samples.brief th:first-child{width:70%}
.samples td{white-space:pre-line}
.samples .answer{font-weight:500}
.short{white-space:nowrap;font-variant-numeric:tabular-nums}
.figures th,.figures td:not(:first-child){white-space:nowrap;font-variant-numeric:tabular-nums}
.confusion{width:auto}
.confusion td{text-align:right;padding:.5rem .9rem;font-variant-numeric:tabular-nums;
border:1px solid var(--line)}
.confusion th{padding:.5rem .9rem .5rem 0}
.confusion thead th{padding:.5rem .9rem;text-align:right}
.confusion .right{background:color-mix(in srgb,var(--second) calc(var(--share)*.45),var(--card))}
.confusion .wrong{background:color-mix(in srgb,var(--accent) calc(var(--share)*.6),var(--card))}
mark{background:var(--wash);color:var(--accent-ink);border-radius:4px;padding:0 .18em;
box-decoration-break:clone;-webkit-box-decoration-break:clone}
.same{color:var(--second);font-size:.8rem;font-weight:600;display:block}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(25rem,100%),1fr));
gap:0 2.5rem;margin:0}
.facts div{display:flex;justify-content:space-between;gap:1.5rem;padding:.42rem 0;
border-bottom:1px solid var(--line)}
.facts dt{color:var(--soft);flex:none;max-width:50%}
.facts dd{margin:0;text-align:right;overflow-wrap:anywhere;min-width:0;
font-variant-numeric:tabular-nums}
.facts dd.code{font:.8rem/1.9 var(--mono)}
.commands dt{color:var(--soft);font-size:.9rem}.commands dd{margin:.2rem 0 1rem}
.commands{margin:0}
code{display:block;font:.85rem/1.5 var(--mono);background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:.55rem .8rem;overflow-wrap:anywhere}
.words{background:var(--wash);border-radius:12px;padding:1rem 1.2rem;margin-top:1.2rem;
font-size:.95rem;max-width:46rem}
.words p:last-child{margin:0}
footer{margin-top:4rem;color:var(--soft);font-size:.85rem}
@media (max-width:40rem){main{padding:1.8rem 1.1rem 3rem}section{margin-top:2.3rem}
.samples,.samples tbody,.samples tr,.samples td{display:block;width:100%}
.samples thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.samples tr{border-bottom:1px solid var(--line);padding:.7rem 0}
.samples td{border:0;padding:.15rem 0}
.samples td::before{content:attr(data-name);display:block;font-size:.75rem;font-weight:600;
color:var(--soft)}}
@media print{:root{--paper:#fff}body{font-size:11pt}main{max-width:none;padding:0}
nav,.tabs{display:none}section{margin-top:1.4rem}.charts{grid-template-columns:1fr 1fr}
.head{display:block}.scroll svg{max-width:100%;height:auto}
.card,tr,svg{break-inside:avoid}h2,.hint{break-after:avoid}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""
)


def write_tab_rules(choice: str, thing: str, tab: str) -> str:
    """Write the rules by which a chosen radio button shows its thing and lights its tab.

    All three names are ours, never a reader's: they go into the sheet as they are.
    """
    return (
        f"#{choice}:checked~.{thing}{{display:block}}"
        f"#{choice}:checked~.tabs .{tab}{{background:var(--ink);color:var(--paper);"
        f"border-color:var(--ink)}}"
        f"#{choice}:focus-visible~.tabs .{tab}{{outline:2px solid var(--accent);"
        f"outline-offset:2px}}"
    )

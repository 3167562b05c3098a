import UncurlLoad

/// The style of the page, in light and in dark.
enum HTMLStyle {
    static let text = """
        :root {
          --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5b6776; --line: #dfe4ea; --grid: #e9edf1;
          --s0: #2563eb; --s1: #0d9488; --s2: #d97706; --s3: #dc2626; --good: #15803d; --warn: #b45309; --bad: #b91c1c;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #10151c; --card: #18202a; --ink: #e8edf3; --soft: #98a5b5; --line: #2a3542; --grid: #232d39;
            --s0: #60a5fa; --s1: #2dd4bf; --s2: #fbbf24; --s3: #f87171; --good: #4ade80; --warn: #fbbf24; --bad: #f87171;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif;
          font-variant-numeric: tabular-nums; }
        header, main, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 32px; }
        .kind { margin: 0; color: var(--soft); font-size: 13px; letter-spacing: .02em; }
        h1 { margin: 4px 0; font-size: 26px; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere; }
        h1 span { font-weight: 450; }
        h2 { margin: 0 0 10px; font-size: 16px; font-weight: 650; }
        .meta { margin: 0 0 12px; color: var(--soft); }
        .verdict { display: inline-block; margin: 0 0 20px; padding: 3px 12px; border-radius: 14px; font-weight: 600;
          font-size: 14px; border: 1px solid currentColor; }
        .verdict.good { color: var(--good); } .verdict.warn { color: var(--warn); } .verdict.bad { color: var(--bad); }
        section { margin: 0 0 20px; }
        main > section:not(.tiles):not(.plots):not(.columns), .columns > div, .plot {
          background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 14px; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px 18px; }
        .tile b { display: block; font-size: 25px; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; }
        .tile span { color: var(--soft); font-size: 13px; }
        .tile.bad b { color: var(--bad); }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 14px; }
        .plot { min-width: 0; position: relative; }
        .plot h2 { margin-bottom: 2px; }
        .plot svg { display: block; width: 100%; height: auto; overflow: visible; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 6px; color: var(--soft); font-size: 13px; min-height: 20px; }
        .legend i { display: inline-block; width: 14px; height: 3px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
        .tip { position: absolute; pointer-events: none; background: var(--ink); color: var(--page); border-radius: 8px;
          padding: 6px 10px; font-size: 12.5px; line-height: 1.45; white-space: nowrap; opacity: 0; transition: opacity .1s; z-index: 1; }
        svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
        svg .grid { stroke: var(--grid); stroke-width: 1; }
        svg .axis { stroke: var(--line); stroke-width: 1; }
        svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
        svg .cursor { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 14px; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: 14px; }
        th, td { padding: 6px 14px 6px 0; border-top: 1px solid var(--grid); text-align: left; vertical-align: top;
          overflow-wrap: anywhere; }
        tr:first-child > * { border-top: 0; }
        th { color: var(--soft); font-weight: 500; white-space: nowrap; }
        .numbers td, .numbers th:not(:first-child) { text-align: right; white-space: nowrap; }
        .numbers td:last-child, .numbers th:last-child { padding-right: 0; }
        .example { color: var(--soft); }
        .note { color: var(--soft); margin: 0; }
        ul { margin: 0; padding-left: 20px; }
        footer { padding-top: 4px; padding-bottom: 32px; color: var(--soft); font-size: 13px; }
        @media print { body { background: #fff; } }
        """
}

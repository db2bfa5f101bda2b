// Keeps the browser's own record of what moves, from before the page's own scripts run. A busy machine may take longer
// than a page waits until it is seen, so here it waits.

{
  const shifts = [];
  const element = ({ node }) => (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node);
  const note = (entries) =>
    shifts.push(
      ...entries.map(({ value, sources }) => ({
        value,
        moved: sources.map((source) => element(source)?.outerHTML.slice(0, 140)),
      })),
    );
  const watch = new PerformanceObserver((list) => note(list.getEntries()));
  watch.observe({ type: "layout-shift", buffered: true });

  /** What has moved until a page at rest is painted. */
  globalThis.allShifts = () =>
    new Promise((resolve) =>
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          note(watch.takeRecords());
          resolve(shifts);
        }),
      ),
    );
  const patient = new CSSStyleSheet();
  patient.replaceSync(".stMainBlockContainer { animation-delay: 3600s !important }");
  document.adoptedStyleSheets.push(patient);
}
